import os

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load

_here = os.path.dirname(os.path.abspath(__file__))

_instance_norm = load(
    name="instance_norm_cuda_files",
    sources=[os.path.join(_here, "instance_norm.cu")],
    extra_cuda_cflags=["-O3"],
    verbose=True,
)


class ModelNew(nn.Module):
    """Instance normalisation backed by instance_norm.cu (one block per plane)."""

    def __init__(self, num_features: int, eps: float):
        super(ModelNew, self).__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, num_features))
        self.bias = nn.Parameter(torch.linspace(-0.5, 0.5, num_features))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _instance_norm.forward(x, self.weight, self.bias, eps=self.eps)
