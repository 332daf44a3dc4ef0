import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# plain x2 bilinear up-sampling
kernel_src_1 = """
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <algorithm>
#include <cstdint>

// Value at (oy, ox) of the plane up-sampled by two, half-pixel centres.
__device__ __forceinline__ float bilinear_up2(const float* __restrict__ plane,
                                              int64_t h, int64_t w,
                                              int64_t oy, int64_t ox) {
    const float sy = fmaxf(0.5f * (static_cast<float>(oy) + 0.5f) - 0.5f, 0.0f);
    const float sx = fmaxf(0.5f * (static_cast<float>(ox) + 0.5f) - 0.5f, 0.0f);
    const int64_t y0 = static_cast<int64_t>(sy);
    const int64_t x0 = static_cast<int64_t>(sx);
    const int64_t y1 = y0 < h - 1 ? y0 + 1 : y0;
    const int64_t x1 = x0 < w - 1 ? x0 + 1 : x0;
    const float fy = sy - static_cast<float>(y0);
    const float fx = sx - static_cast<float>(x0);

    const float v00 = __ldg(plane + y0 * w + x0);
    const float v01 = __ldg(plane + y0 * w + x1);
    const float v10 = __ldg(plane + y1 * w + x0);
    const float v11 = __ldg(plane + y1 * w + x1);
    const float top = (1.0f - fx) * v00 + fx * v01;
    const float bottom = (1.0f - fx) * v10 + fx * v11;
    return (1.0f - fy) * top + fy * bottom;
}

__global__ void up_kernel(const float* __restrict__ x, float* __restrict__ out,
                          int64_t h, int64_t w, int64_t total) {
    const int64_t oh = 2 * h;
    const int64_t ow = 2 * w;
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
        const int64_t ox = i % ow;
        const int64_t oy = (i / ow) % oh;
        const int64_t plane = i / (ow * oh);
        out[i] = bilinear_up2(x + plane * h * w, h, w, oy, ox);
    }
}

static inline int64_t num_blocks(int64_t total, int64_t threads) {
    return std::min<int64_t>((total + threads - 1) / threads, 65535);
}

torch::Tensor up_forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.dtype() == at::kFloat, "x: float32 CUDA tensor expected");
    auto input = x.contiguous();
    const int64_t n = input.size(0);
    const int64_t c = input.size(1);
    const int64_t h = input.size(2);
    const int64_t w = input.size(3);
    torch::Tensor out = at::empty({n, c, 2 * h, 2 * w}, x.options().dtype(at::kFloat));

    const int64_t total = out.numel();
    const int64_t threads = 256;
    up_kernel<<<num_blocks(total, threads), threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        input.data_ptr<float>(), out.data_ptr<float>(), h, w, total);
    return out;
}
"""

# up-sampling with the per-channel gain fused into the store
kernel_src_2 = """
__global__ void up_scale_kernel(const float* __restrict__ x, const float* __restrict__ gain,
                                float* __restrict__ out,
                                int64_t c, int64_t h, int64_t w, int64_t total) {
    const int64_t oh = 2 * h;
    const int64_t ow = 2 * w;
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
        const int64_t ox = i % ow;
        const int64_t oy = (i / ow) % oh;
        const int64_t plane = i / (ow * oh);
        out[i] = bilinear_up2(x + plane * h * w, h, w, oy, ox) * __ldg(gain + plane % c);
    }
}

torch::Tensor up_scale_forward(torch::Tensor x, torch::Tensor gain) {
    TORCH_CHECK(x.is_cuda() && x.dtype() == at::kFloat, "x: float32 CUDA tensor expected");
    TORCH_CHECK(gain.numel() == x.size(1), "gain: one value per channel expected");
    auto input = x.contiguous();
    auto g = gain.contiguous();
    const int64_t n = input.size(0);
    const int64_t c = input.size(1);
    const int64_t h = input.size(2);
    const int64_t w = input.size(3);
    torch::Tensor out = at::empty({n, c, 2 * h, 2 * w}, x.options().dtype(at::kFloat));

    const int64_t total = out.numel();
    const int64_t threads = 256;
    up_scale_kernel<<<num_blocks(total, threads), threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        input.data_ptr<float>(), g.data_ptr<float>(), out.data_ptr<float>(), c, h, w, total);
    return out;
}
"""

decl1 = "torch::Tensor up_forward(torch::Tensor x);"
decl2 = "torch::Tensor up_scale_forward(torch::Tensor x, torch::Tensor gain);"

resize = load_inline(
    name="bilinear_resize_up2",
    cpp_sources=[decl1, decl2],
    cuda_sources=[kernel_src_1, kernel_src_2],
    functions=["up_forward", "up_scale_forward"],
    extra_cuda_cflags=["-O3", "--use_fast_math"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(channels, 1, 1) + 0.5)

    def forward(self, x):
        x = resize.up_forward(x)
        return resize.up_scale_forward(x, self.gain)
