"""CUDA, on a machine whose device is the CPU."""

from torch import nn
from torch.utils.cpp_extension import load_inline

extension = load_inline(
    name="cuda_only",
    cpp_sources="void f();",
    cuda_sources="__global__ void k() {} void f() { k<<<1, 1>>>(); }",
    functions=["f"],
)


class ModelNew(nn.Module):
    pass
