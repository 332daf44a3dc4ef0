"""Asks for a C++ standard that torch no longer takes."""

from torch import nn
from torch.utils.cpp_extension import load_inline

extension = load_inline(
    name="old_standard",
    cpp_sources="int f() { return 1; }",
    functions=["f"],
    extra_cflags=["-std=c++14"],
)


class ModelNew(nn.Module):
    pass
