"""The library's convolution, then division and LeakyReLU in one pass, in place, four values at a time."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__device__ __forceinline__ float tail(float x, float factor) {
    x *= factor;
    return x > 0.0f ? x : 0.01f * x;
}

__global__ void divide_leaky_relu(float* __restrict__ x, int64_t count, float factor) {
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    float4* wide = reinterpret_cast<float4*>(x);
    for (int64_t i = first; i < count / 4; i += step) {
        float4 v = wide[i];
        v.x = tail(v.x, factor);
        v.y = tail(v.y, factor);
        v.z = tail(v.z, factor);
        v.w = tail(v.w, factor);
        wide[i] = v;
    }
    const int64_t rest = count / 4 * 4 + first;
    if (rest < count) x[rest] = tail(x[rest], factor);
}

void divide_leaky_relu_(torch::Tensor x, double divisor) {
    TORCH_CHECK(x.is_contiguous() && x.scalar_type() == torch::kFloat32, "expected contiguous float32");
    const int64_t count = x.numel();
    if (count == 0) return;
    const int threads = 256;
    const int blocks = int(std::min<int64_t>((count / 4 + threads) / threads, 132 * 16));
    divide_leaky_relu<<<blocks, threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), count, float(1.0 / divisor));
}
"""

extension = load_inline(
    name="divide_leaky_relu_cuda",
    cpp_sources="void divide_leaky_relu_(torch::Tensor x, double divisor);",
    cuda_sources=CUDA,
    functions=["divide_leaky_relu_"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divisor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.divisor = divisor

    def forward(self, x):
        x = self.conv(x).contiguous()
        extension.divide_leaky_relu_(x, self.divisor)
        return x
