import os

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load

here = os.path.dirname(os.path.abspath(__file__))

batched_mlp = load(
    name="batched_mlp_ext",
    sources=[
        os.path.join(here, "binding.cpp"),
        os.path.join(here, "kernels.cu"),
    ],
    extra_include_paths=[here],
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3", "-lineinfo"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, groups, d_in, d_hidden, d_out):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(groups, d_in, d_hidden) * d_in**-0.5)
        self.b1 = nn.Parameter(torch.randn(groups, d_hidden) * 0.1)
        self.w2 = nn.Parameter(torch.randn(groups, d_hidden, d_out) * d_hidden**-0.5)
        self.b2 = nn.Parameter(torch.randn(groups, d_out) * 0.1)
        self.proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        return batched_mlp.forward(
            x,
            w1=self.w1,
            b1=self.b1,
            w2=self.w2,
            b2=self.b2,
            proj_weight=self.proj.weight,
            proj_bias=self.proj.bias,
        )
