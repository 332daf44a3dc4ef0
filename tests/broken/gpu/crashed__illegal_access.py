"""A kernel that writes where it may not."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

extension = load_inline(
    name="illegal_access",
    cpp_sources="void scribble(torch::Tensor x);",
    cuda_sources="""
    __global__ void k(float* p) { p[(1ll << 40) + threadIdx.x] = 1.0f; }
    void scribble(torch::Tensor x) { k<<<1, 32>>>(x.data_ptr<float>()); }
    """,
    functions=["scribble"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        extension.scribble(x)
        return x @ x
