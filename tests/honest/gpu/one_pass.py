"""Both steps in one pass over memory.

Twin of 10, 92. Problem: elementwise. Workload: 64MB.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
__global__ void gelu(const float* from, float* to, long long count) {
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    if (i >= count) return;
    const float v = from[i] * 1.5f;
    to[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

torch::Tensor forward(torch::Tensor x) {
    torch::Tensor out = torch::empty_like(x);
    gelu<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
    return out;
}
"""

extension = load_inline(
    name="one_pass",
    cpp_sources="torch::Tensor forward(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
