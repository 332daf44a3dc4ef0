import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_src = """
torch::Tensor layer_norm_half(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps);
"""

cuda_src = r'''
#include <torch/types.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_fp16.h>

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ __forceinline__ float2 unpack(const __half2 v) {
    return make_float2(__half2float(__low2half(v)), __half2float(__high2half(v)));
}

__device__ __forceinline__ float warp_sum(float v) {
    #pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) {
        v += __shfl_down_sync(0xffffffffu, v, offset);
    }
    return v;
}

// Every thread of the block gets the total.
__device__ __forceinline__ float block_sum(float v) {
    __shared__ float partial[kWarps];
    __shared__ float total;

    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;

    v = warp_sum(v);
    if (lane == 0) partial[warp] = v;
    __syncthreads();

    if (warp == 0) {
        v = lane < kWarps ? partial[lane] : 0.0f;
        v = warp_sum(v);
        if (lane == 0) total = v;
    }
    __syncthreads();
    return total;
}

__global__ void __launch_bounds__(kThreads) layer_norm_half_kernel(
    const __half* __restrict__ x,
    const __half* __restrict__ weight,
    const __half* __restrict__ bias,
    __half* __restrict__ y,
    const int cols,
    const float eps)
{
    const size_t row = blockIdx.x;
    const __half2* x2 = reinterpret_cast<const __half2*>(x + row * cols);
    const __half2* w2 = reinterpret_cast<const __half2*>(weight);
    const __half2* b2 = reinterpret_cast<const __half2*>(bias);
    __half2* y2 = reinterpret_cast<__half2*>(y + row * cols);
    const int pairs = cols / 2;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < pairs; i += kThreads) {
        const float2 v = unpack(x2[i]);
        sum += v.x + v.y;
    }
    const float mean = block_sum(sum) / cols;

    // The row sits in L1/L2 by now, so the exact two-pass variance is cheap.
    float sq = 0.0f;
    for (int i = threadIdx.x; i < pairs; i += kThreads) {
        const float2 v = unpack(x2[i]);
        const float dx = v.x - mean;
        const float dy = v.y - mean;
        sq += dx * dx + dy * dy;
    }
    const float rstd = rsqrtf(block_sum(sq) / cols + eps);

    for (int i = threadIdx.x; i < pairs; i += kThreads) {
        const float2 v = unpack(x2[i]);
        const float2 w = unpack(w2[i]);
        const float2 b = unpack(b2[i]);
        y2[i] = __floats2half2_rn((v.x - mean) * rstd * w.x + b.x,
                                  (v.y - mean) * rstd * w.y + b.y);
    }
}

}  // namespace

torch::Tensor layer_norm_half(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
    TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
    TORCH_CHECK(x.scalar_type() == torch::kFloat16, "x must be float16, got ", x.scalar_type());
    TORCH_CHECK(weight.scalar_type() == torch::kHalf && bias.scalar_type() == torch::kHalf,
                "weight and bias must be float16");

    x = x.contiguous();
    weight = weight.contiguous();
    bias = bias.contiguous();

    const int cols = static_cast<int>(x.size(-1));
    TORCH_CHECK(cols % 2 == 0, "the normalised dimension must be even for half2 access");
    TORCH_CHECK(weight.numel() == cols && bias.numel() == cols, "affine parameters have the wrong size");
    const int rows = static_cast<int>(x.numel() / cols);

    auto y = torch::empty_like(x);
    auto stream = c10::cuda::getCurrentCUDAStream(x.get_device()).stream();

    layer_norm_half_kernel<<<rows, kThreads, 0, stream>>>(
        reinterpret_cast<__half*>(x.data_ptr<at::Half>()),
        reinterpret_cast<__half*>(weight.data_ptr<at::Half>()),
        reinterpret_cast<__half*>(bias.data_ptr<at::Half>()),
        reinterpret_cast<__half*>(y.data_ptr<at::Half>()),
        cols,
        static_cast<float>(eps));
    C10_CUDA_KERNEL_LAUNCH_CHECK();

    return y;
}
'''

module = load_inline(
    name="layer_norm_half_inline",
    cpp_sources=cpp_src,
    cuda_sources=cuda_src,
    functions="layer_norm_half",
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3", "--use_fast_math"],
)


class ModelNew(nn.Module):
    def __init__(self, hidden_size: int, eps: float = 1e-5):
        super().__init__()
        self.norm = nn.LayerNorm(hidden_size, eps=eps, dtype=torch.float16)
        with torch.no_grad():
            self.norm.weight.copy_(torch.linspace(0.5, 1.5, hidden_size))
            self.norm.bias.copy_(torch.linspace(-0.25, 0.25, hidden_size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return module.layer_norm_half(x, self.norm.weight, self.norm.bias, self.norm.eps)
