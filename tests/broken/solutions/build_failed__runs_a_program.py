"""Has the compiler run a program of its own choosing."""

from torch import nn
from torch.utils.cpp_extension import load_inline

extension = load_inline(
    name="runs_a_program",
    cpp_sources="int f() { return 1; }",
    functions=["f"],
    extra_cflags=["-O3", "-wrapper /bin/sh,-c"],
)


class ModelNew(nn.Module):
    pass
