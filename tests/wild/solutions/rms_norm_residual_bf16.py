import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

# Host-side wrapper: argument checks live in the C++ file, the kernel in the CUDA file.
cpp_source = r"""
#include <tuple>

std::tuple<torch::Tensor, torch::Tensor> rms_norm_residual_cuda(
    const torch::Tensor& x,
    const torch::Tensor& residual,
    const torch::Tensor& weight,
    double eps);

std::tuple<torch::Tensor, torch::Tensor> rms_norm_residual(
    const torch::Tensor& x,
    const torch::Tensor& residual,
    const torch::Tensor& weight,
    double eps) {
  TORCH_CHECK(x.is_cuda() && residual.is_cuda() && weight.is_cuda(),
              "rms_norm_residual: all tensors must be on the GPU");
  TORCH_CHECK(x.sizes() == residual.sizes(),
              "rms_norm_residual: x is ", x.sizes(), " but residual is ", residual.sizes());
  TORCH_CHECK(weight.dim() == 1 && weight.size(0) == x.size(-1),
              "rms_norm_residual: weight must match the last dimension of x");
  TORCH_CHECK(x.scalar_type() == residual.scalar_type() && x.scalar_type() == weight.scalar_type(),
              "rms_norm_residual: all tensors must share one dtype");
  return rms_norm_residual_cuda(x.contiguous(), residual.contiguous(), weight.contiguous(), eps);
}
"""

cuda_source = r"""
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/DeviceUtils.cuh>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/BFloat16.h>

#include <tuple>

template <typename opmath_t>
__device__ __forceinline__ opmath_t warp_reduce_sum(opmath_t v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) {
    v += WARP_SHFL_XOR(v, mask);
  }
  return v;
}

template <typename scalar_t, int kThreads>
__global__ void rms_norm_residual_kernel(
    const scalar_t* __restrict__ x,
    const scalar_t* __restrict__ residual,
    const scalar_t* __restrict__ weight,
    scalar_t* __restrict__ out,
    scalar_t* __restrict__ new_residual,
    const int hidden,
    const float eps) {
  using opmath_t = at::opmath_type<scalar_t>;
  constexpr int kWarps = kThreads / 32;
  __shared__ opmath_t warp_sums[kWarps];
  __shared__ opmath_t inv_rms;

  const int64_t base = static_cast<int64_t>(blockIdx.x) * hidden;

  opmath_t sum_sq = 0;
  for (int i = threadIdx.x; i < hidden; i += kThreads) {
    // Round to the storage type first: that is the value the next layer sees.
    const scalar_t s = static_cast<scalar_t>(
        static_cast<opmath_t>(x[base + i]) + static_cast<opmath_t>(residual[base + i]));
    new_residual[base + i] = s;
    const opmath_t v = static_cast<opmath_t>(s);
    sum_sq += v * v;
  }

  sum_sq = warp_reduce_sum(sum_sq);
  if (threadIdx.x % 32 == 0) {
    warp_sums[threadIdx.x / 32] = sum_sq;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    opmath_t v = threadIdx.x < kWarps ? warp_sums[threadIdx.x] : opmath_t(0);
    v = warp_reduce_sum(v);
    if (threadIdx.x == 0) {
      inv_rms = rsqrt(v / static_cast<opmath_t>(hidden) + static_cast<opmath_t>(eps));
    }
  }
  __syncthreads();

  const opmath_t scale = inv_rms;
  for (int i = threadIdx.x; i < hidden; i += kThreads) {
    // Each thread reads back only what it wrote itself.
    const opmath_t v = static_cast<opmath_t>(new_residual[base + i]);
    const scalar_t normed = static_cast<scalar_t>(v * scale);
    out[base + i] = normed * weight[i];
  }
}

std::tuple<at::Tensor, at::Tensor> rms_norm_residual_cuda(
    const at::Tensor& x,
    const at::Tensor& residual,
    const at::Tensor& weight,
    double eps) {
  const c10::cuda::CUDAGuard guard(x.device());

  at::Tensor out = at::empty_like(x);
  at::Tensor new_residual = at::empty_like(residual);

  const int hidden = static_cast<int>(x.size(-1));
  const unsigned int rows = static_cast<unsigned int>(x.numel() / hidden);
  constexpr int threads = 512;
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "rms_norm_residual_cuda", [&] {
        rms_norm_residual_kernel<scalar_t, threads><<<rows, threads, 0, stream>>>(
            x.const_data_ptr<scalar_t>(),
            residual.const_data_ptr<scalar_t>(),
            weight.const_data_ptr<scalar_t>(),
            out.mutable_data_ptr<scalar_t>(),
            new_residual.mutable_data_ptr<scalar_t>(),
            hidden,
            static_cast<float>(eps));
        C10_CUDA_KERNEL_LAUNCH_CHECK();
      });

  return std::make_tuple(out, new_residual);
}
"""

rms_ext = load_inline(
    name="rms_norm_residual_bf16_ext",
    cpp_sources=[cpp_source],
    cuda_sources=[cuda_source],
    functions=["rms_norm_residual"],
    extra_cflags=["-O2"],
    extra_cuda_cflags=["-O3", "-lineinfo"],
    verbose=True,
)


class ModelNew(nn.Module):
    def __init__(self, hidden_size: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.input_weight = nn.Parameter(
            torch.linspace(0.5, 1.5, hidden_size).to(torch.bfloat16)
        )
        self.post_weight = nn.Parameter(
            torch.linspace(1.25, 0.75, hidden_size).to(torch.bfloat16)
        )

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        h, residual = rms_ext.rms_norm_residual(x, residual, self.input_weight, self.eps)
        h = F.silu(h)
        h, _ = rms_ext.rms_norm_residual(h, residual, self.post_weight, self.eps)
        return h
