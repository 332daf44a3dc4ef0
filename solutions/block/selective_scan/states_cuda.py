"""One thread a channel, its states in registers, the whole sequence in one kernel."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int MOST = 16;

__global__ void scan(const float* x, const float* steps, const float* into, const float* out_of, const float* rates,
                     const float* skip, float* to, int length, int channels, int states) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x, sequence = blockIdx.y;
    if (channel >= channels) return;
    float state[MOST], rate[MOST];
#pragma unroll
    for (int s = 0; s < MOST; ++s) {
        state[s] = 0.0f;
        rate[s] = s < states ? rates[channel * states + s] : 0.0f;
    }
    for (int t = 0; t < length; ++t) {
        const int64_t row = sequence * int64_t(length) + t, place = row * channels + channel;
        const float raw = steps[place], size = raw > 20.0f ? raw : log1pf(expf(raw)), given = x[place];
        float sum = 0.0f;
#pragma unroll
        for (int s = 0; s < MOST; ++s)
            if (s < states) {
                state[s] = expf(-size * rate[s]) * state[s] + size * given * into[row * states + s];
                sum += state[s] * out_of[row * states + s];
            }
        to[place] = sum + given * skip[channel];
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor steps, torch::Tensor into, torch::Tensor out_of,
                      torch::Tensor rates, torch::Tensor skip) {
    TORCH_CHECK(into.size(2) <= MOST, "at most 16 states");
    torch::Tensor out = torch::empty_like(x);
    const int batch = x.size(0), length = x.size(1), channels = x.size(2);
    const dim3 blocks((channels + 63) / 64, batch);
    scan<<<blocks, 64, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), steps.data_ptr<float>(), into.data_ptr<float>(), out_of.data_ptr<float>(),
        rates.data_ptr<float>(), skip.data_ptr<float>(), out.data_ptr<float>(), length, channels, int(into.size(2)));
    return out;
}
"""

extension = load_inline(
    name="selective_scan_states_cuda",
    cpp_sources=(
        "torch::Tensor forward(torch::Tensor x, torch::Tensor steps, torch::Tensor into, "
        "torch::Tensor out_of, torch::Tensor rates, torch::Tensor skip);"
    ),
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, channels, states):
        super().__init__()
        self.rates = nn.Parameter(torch.rand(channels, states) + 0.5)
        self.skip = nn.Parameter(torch.randn(channels))

    def forward(self, x, steps, into, out_of):
        return extension.forward(x, steps, into, out_of, self.rates, self.skip)
