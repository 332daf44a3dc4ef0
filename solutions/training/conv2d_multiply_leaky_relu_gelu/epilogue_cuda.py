"""Scale, LeakyReLU and GELU as one autograd function: the backward pass recomputes from the convolution's output."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr float SLOPE = 0.01f;

__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }

__device__ __forceinline__ float gelu_slope(float x) {
    return 0.5f * (1.0f + erff(x * 0.70710678118654752f)) + x * 0.3989422804f * expf(-0.5f * x * x);
}

__global__ void forward_kernel(const float* __restrict__ z, const float* __restrict__ scale, float* __restrict__ y,
                               int channels, int plane) {
    const float m = scale[blockIdx.y % channels];
    const int64_t base = int64_t(blockIdx.y) * plane;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < plane; i += gridDim.x * blockDim.x) {
        const float u = z[base + i] * m;
        y[base + i] = gelu(u > 0.0f ? u : SLOPE * u);
    }
}

__global__ void backward_kernel(const float* __restrict__ z, const float* __restrict__ scale,
                                const float* __restrict__ dy, float* __restrict__ dz, float* __restrict__ dm,
                                int channels, int plane) {
    const int channel = blockIdx.y % channels;
    const float m = scale[channel];
    const int64_t base = int64_t(blockIdx.y) * plane;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < plane; i += gridDim.x * blockDim.x) {
        const float value = z[base + i];
        const float u = value * m;
        const float leak = u > 0.0f ? 1.0f : SLOPE;
        const float du = dy[base + i] * gelu_slope(leak * u) * leak;
        dz[base + i] = du * m;
        sum += du * value;
    }
    __shared__ float partial[32];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
        for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (threadIdx.x == 0) atomicAdd(dm + channel, sum);
    }
}

static dim3 grid_for(const torch::Tensor& z, int plane) {
    return dim3(std::min((plane + 1023) / 1024, 16), unsigned(z.size(0) * z.size(1)));
}

torch::Tensor tail_forward(torch::Tensor z, torch::Tensor scale) {
    auto y = torch::empty_like(z);
    const int plane = int(z.size(2) * z.size(3));
    forward_kernel<<<grid_for(z, plane), 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
        z.data_ptr<float>(), scale.data_ptr<float>(), y.data_ptr<float>(), int(z.size(1)), plane);
    return y;
}

std::vector<torch::Tensor> tail_backward(torch::Tensor z, torch::Tensor scale, torch::Tensor dy) {
    auto dz = torch::empty_like(z);
    auto dm = torch::zeros_like(scale);
    const int plane = int(z.size(2) * z.size(3));
    backward_kernel<<<grid_for(z, plane), 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
        z.data_ptr<float>(), scale.data_ptr<float>(), dy.data_ptr<float>(), dz.data_ptr<float>(),
        dm.data_ptr<float>(), int(z.size(1)), plane);
    return {dz, dm};
}
"""

DECLARATIONS = """
torch::Tensor tail_forward(torch::Tensor z, torch::Tensor scale);
std::vector<torch::Tensor> tail_backward(torch::Tensor z, torch::Tensor scale, torch::Tensor dy);
"""

extension = load_inline(
    name="scale_leaky_gelu_training_cuda",
    cpp_sources=DECLARATIONS,
    cuda_sources=CUDA,
    functions=["tail_forward", "tail_backward"],
)


class Tail(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, scale):
        ctx.save_for_backward(z, scale)
        return extension.tail_forward(z, scale)

    @staticmethod
    def backward(ctx, dy):
        z, scale = ctx.saved_tensors
        return tuple(extension.tail_backward(z, scale, dy.contiguous()))


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))

    def forward(self, x):
        return Tail.apply(self.conv(x).contiguous(), self.multiplier)
