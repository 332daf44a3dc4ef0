"""An extension of its own whose body calls the library.

Row 74. Because: policy.

Problem: own_kernel.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline


CPP = r"""
torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    return at::relu(at::addmm(bias, x, weight));
}
"""

extension = load_inline(
    name="library_in_an_extension",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return extension.forward(x, self.weight, self.bias)
