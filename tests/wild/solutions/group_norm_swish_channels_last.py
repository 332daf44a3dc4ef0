"""GroupNorm + swish that stays in NHWC.

Two kernels: one block per (sample, group) computes mean and 1/std, then an elementwise
pass normalises, applies the affine parameters and the swish with float4 accesses.
"""
import functools

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
at::Tensor group_norm_swish(at::Tensor x, const at::Tensor& weight, const at::Tensor& bias,
                            int64_t num_groups, double eps);
"""

CUDA = r"""
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/core/MemoryFormat.h>
#include <c10/cuda/CUDAGuard.h>

#include <limits>

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ __forceinline__ float2 warp_sum(float2 v) {
  for (int offset = 16; offset > 0; offset >>= 1) {
    v.x += __shfl_down_sync(0xffffffffu, v.x, offset);
    v.y += __shfl_down_sync(0xffffffffu, v.y, offset);
  }
  return v;
}

__global__ void __launch_bounds__(kThreads)
group_stats_nhwc(const float* __restrict__ x, float2* __restrict__ stats,
                 int hw, int channels, int groups, float eps) {
  const int n = blockIdx.x / groups;
  const int g = blockIdx.x % groups;
  const int per_group = channels / groups;
  const float* base = x + static_cast<size_t>(n) * hw * channels + g * per_group;
  const int count = hw * per_group;

  float2 acc = make_float2(0.f, 0.f);
  for (int i = threadIdx.x; i < count; i += kThreads) {
    const int p = i / per_group;
    const int c = i - p * per_group;
    const float v = base[static_cast<size_t>(p) * channels + c];
    acc.x += v;
    acc.y += v * v;
  }

  __shared__ float2 partial[kWarps];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  acc = warp_sum(acc);
  if (lane == 0) partial[warp] = acc;
  __syncthreads();
  if (warp == 0) {
    acc = lane < kWarps ? partial[lane] : make_float2(0.f, 0.f);
    acc = warp_sum(acc);
    if (lane == 0) {
      const float mean = acc.x / count;
      const float var = fmaxf(acc.y / count - mean * mean, 0.f);
      stats[blockIdx.x] = make_float2(mean, rsqrtf(var + eps));
    }
  }
}

__device__ __forceinline__ float norm_swish(float v, float2 st, float w, float b) {
  const float y = (v - st.x) * st.y * w + b;
  return y / (1.f + __expf(-y));
}

__global__ void __launch_bounds__(kThreads)
apply_nhwc(const float4* __restrict__ x, float4* __restrict__ out, const float2* __restrict__ stats,
           const float4* __restrict__ weight, const float4* __restrict__ bias,
           int64_t n4, int hw, int channels, int groups) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n4) return;
  const int c4_count = channels / 4;
  const int c4 = static_cast<int>(i % c4_count);
  const int n = static_cast<int>(i / c4_count / hw);
  const int per_group = channels / groups;
  const float2* st = stats + n * groups;

  const float4 v = x[i];
  const float4 w = weight[c4];
  const float4 b = bias[c4];
  const int c = c4 * 4;
  float4 r;
  r.x = norm_swish(v.x, st[(c + 0) / per_group], w.x, b.x);
  r.y = norm_swish(v.y, st[(c + 1) / per_group], w.y, b.y);
  r.z = norm_swish(v.z, st[(c + 2) / per_group], w.z, b.z);
  r.w = norm_swish(v.w, st[(c + 3) / per_group], w.w, b.w);
  out[i] = r;
}

}  // namespace

at::Tensor group_norm_swish(at::Tensor x, const at::Tensor& weight, const at::Tensor& bias,
                            int64_t num_groups, double eps) {
  TORCH_CHECK(x.is_cuda() && x.scalar_type() == at::ScalarType::Float, "x must be a float32 CUDA tensor");
  TORCH_CHECK(x.ndimension() == 4, "x must be (N, C, H, W), got sizes ", x.sizes());
  const at::cuda::OptionalCUDAGuard device_guard(at::device_of(x));

  if (x.suggest_memory_format() != at::MemoryFormat::ChannelsLast ||
      !x.is_contiguous(at::MemoryFormat::ChannelsLast)) {
    x = x.contiguous(at::MemoryFormat::ChannelsLast);
  }

  auto sizes = x.sizes();
  const int64_t N = sizes[0], C = sizes[1], HW = sizes[2] * sizes[3];
  TORCH_CHECK(x.stride(1) == 1, "channels must be innermost, strides are ", x.strides());
  TORCH_CHECK(C % num_groups == 0 && C % 4 == 0, "unsupported number of channels: ", C);
  TORCH_CHECK(HW * (C / num_groups) <= std::numeric_limits<int>::max(), "group too large");
  TORCH_CHECK(weight.numel() == C && bias.numel() == C, "affine parameters must have ", C, " values");

  at::Tensor out = torch::empty_like(x, x.options(), at::MemoryFormat::ChannelsLast);
  at::Tensor stats = torch::empty({N, num_groups, 2}, x.options());
  float2* stats_ptr = reinterpret_cast<float2*>(stats.mutable_data_ptr<float>());

  auto stream = at::cuda::getCurrentCUDAStream(x.get_device());
  group_stats_nhwc<<<N * num_groups, kThreads, 0, stream>>>(
      x.const_data_ptr<float>(), stats_ptr, HW, C, num_groups, static_cast<float>(eps));
  C10_CUDA_KERNEL_LAUNCH_CHECK();

  const int64_t n4 = x.numel() / 4;
  apply_nhwc<<<(n4 + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
      reinterpret_cast<const float4*>(x.const_data_ptr<float>()),
      reinterpret_cast<float4*>(out.mutable_data_ptr<float>()),
      stats_ptr,
      reinterpret_cast<const float4*>(weight.const_data_ptr<float>()),
      reinterpret_cast<const float4*>(bias.const_data_ptr<float>()),
      n4, HW, C, num_groups);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""


@functools.lru_cache(maxsize=None)
def _ext():
    return load_inline(
        name="group_norm_swish_nhwc",
        cpp_sources=CPP,
        cuda_sources=CUDA,
        functions="group_norm_swish",
        extra_cuda_cflags=["-O3", "-lineinfo"],
    )


class ModelNew(nn.Module):
    def __init__(self, num_groups: int, num_channels: int, eps: float):
        super().__init__()
        self.norm = nn.GroupNorm(num_groups, num_channels, eps=eps)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.uniform_(self.norm.bias, -0.5, 0.5)
        self._op = _ext().group_norm_swish

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._op(x, self.norm.weight, self.norm.bias, self.norm.num_groups, self.norm.eps)
