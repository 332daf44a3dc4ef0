"""Each channel's state stays in a small array while the sequence goes by; channels over all threads."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <ATen/Parallel.h>
#include <cmath>
#include <vector>

torch::Tensor forward(torch::Tensor x, torch::Tensor steps, torch::Tensor into, torch::Tensor out_of,
                      torch::Tensor rates, torch::Tensor skip) {
    const int64_t batch = x.size(0), length = x.size(1), channels = x.size(2), states = into.size(2);
    torch::Tensor out = torch::empty_like(x);
    const float *given = x.data_ptr<float>(), *step = steps.data_ptr<float>(), *b = into.data_ptr<float>();
    const float *c = out_of.data_ptr<float>(), *rate = rates.data_ptr<float>(), *past = skip.data_ptr<float>();
    float* to = out.data_ptr<float>();
    at::parallel_for(0, batch * channels, 4, [&](int64_t begin, int64_t end) {
        std::vector<float> state(states);
        for (int64_t each = begin; each < end; ++each) {
            const int64_t sequence = each / channels, channel = each % channels;
            std::fill(state.begin(), state.end(), 0.0f);
            for (int64_t t = 0; t < length; ++t) {
                const int64_t row = sequence * length + t, place = row * channels + channel;
                const float raw = step[place], size = raw > 20.0f ? raw : std::log1p(std::exp(raw));
                const float taken = size * given[place];
                float sum = 0.0f;
                for (int64_t s = 0; s < states; ++s) {
                    state[s] = std::exp(-size * rate[channel * states + s]) * state[s] + taken * b[row * states + s];
                    sum += state[s] * c[row * states + s];
                }
                to[place] = sum + given[place] * past[channel];
            }
        }
    });
    return out;
}
"""

extension = load_inline(
    name="selective_scan_states_cpp",
    cpp_sources=CPP,
    functions=["forward"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def __init__(self, channels, states):
        super().__init__()
        self.rates = nn.Parameter(torch.rand(channels, states) + 0.5)
        self.skip = nn.Parameter(torch.randn(channels))

    def forward(self, x, steps, into, out_of):
        return extension.forward(x, steps, into, out_of, self.rates, self.skip)
