"""Honest, with its work done by a C++ extension that is given a parameter."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

extension = load_inline(
    name="honest_affine",
    cpp_sources="""
torch::Tensor affine(torch::Tensor x, torch::Tensor weight) {
    auto in = x.contiguous();
    auto out = torch::empty_like(in);
    const float* data = in.data_ptr<float>();
    const float* scale = weight.data_ptr<float>();
    float* result = out.data_ptr<float>();
    const int64_t width = in.size(-1);
    for (int64_t i = 0; i < in.numel(); ++i) {
        result[i] = data[i] * scale[i % width] + 1.0f;
    }
    return out;
}
""",
    functions=["affine"],
)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return extension.affine(x, self.weight)
