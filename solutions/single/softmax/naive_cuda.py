"""One thread a row: neighbours read far apart, and most of the GPU stands idle."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void softmax(const float* from, float* to, int64_t rows, int64_t columns) {
    const int64_t row = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    from += row * columns;
    to += row * columns;
    float highest = from[0];
    double sum = 0.0;  // so many small terms are too much for float
    for (int64_t i = 1; i < columns; ++i) highest = fmaxf(highest, from[i]);
    for (int64_t i = 0; i < columns; ++i) sum += to[i] = expf(from[i] - highest);
    const float factor = float(1.0 / sum);
    for (int64_t i = 0; i < columns; ++i) to[i] *= factor;
}

torch::Tensor forward(torch::Tensor x) {
    torch::Tensor out = torch::empty_like(x);
    const int64_t columns = x.size(-1), rows = x.numel() / columns;
    softmax<<<(rows + 127) / 128, 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), rows, columns);
    return out;
}
"""

extension = load_inline(
    name="softmax_naive_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.forward(x)
