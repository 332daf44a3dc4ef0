"""An extension whose body calls the library.

Row 74. Problem: own_kernel. Because: policy.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    return at::relu(at::addmm(bias, x, weight));
}
"""

extension = load_inline(
    name="product_in_an_extension",
    cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return extension.forward(x, self.weight, self.bias)
