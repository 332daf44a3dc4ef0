import functools

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SRC = r"""
std::vector<at::Tensor> append_and_decode(
    at::Tensor q, at::Tensor k_new, at::Tensor v_new,
    at::Tensor k_cache, at::Tensor v_cache,
    int num_heads, int head_dim, double scale);
"""

CUDA_SRC = r"""
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/util/Half.h>
#include <cfloat>
#include <vector>

#define DECODE_THREADS 256
#define WARP_SIZE 32

#define CHECK_HALF_INPUT(x)                                             \
  TORCH_CHECK((x).is_cuda(), #x " must be on the GPU");                 \
  TORCH_CHECK((x).is_contiguous(), #x " must be contiguous")

namespace {

struct MaxOp {
  __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct SumOp {
  __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
};

template <typename Op>
__device__ float block_reduce(float value, float identity, float* scratch, Op op) {
  const int lane = threadIdx.x % WARP_SIZE;
  const int warp = threadIdx.x / WARP_SIZE;
  for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
    value = op(value, __shfl_xor_sync(0xffffffff, value, offset));
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  value = lane < DECODE_THREADS / WARP_SIZE ? scratch[lane] : identity;
  for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
    value = op(value, __shfl_xor_sync(0xffffffff, value, offset));
  __syncthreads();  // scratch may be used again by the caller
  return value;
}

// grid: batch * heads. The probabilities of the whole context stay in shared memory.
template <typename scalar_t>
__global__ void decode_attention_kernel(
    const scalar_t* __restrict__ q, const scalar_t* __restrict__ k,
    const scalar_t* __restrict__ v, scalar_t* __restrict__ out,
    int length, int head_dim, float scale) {
  extern __shared__ float probs[];
  __shared__ float scratch[WARP_SIZE];
  __shared__ float partial[DECODE_THREADS];

  const int64_t bh = blockIdx.x;
  const scalar_t* q_row = q + bh * head_dim;
  const scalar_t* k_head = k + bh * length * head_dim;
  const scalar_t* v_head = v + bh * length * head_dim;

  const int lane = threadIdx.x % WARP_SIZE;
  const int warp = threadIdx.x / WARP_SIZE;

  // scores: one warp per cached key
  for (int j = warp; j < length; j += DECODE_THREADS / WARP_SIZE) {
    const scalar_t* k_row = k_head + static_cast<int64_t>(j) * head_dim;
    float dot = 0.f;
    for (int d = lane; d < head_dim; d += WARP_SIZE)
      dot += static_cast<float>(q_row[d]) * static_cast<float>(k_row[d]);
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
      dot += __shfl_xor_sync(0xffffffff, dot, offset);
    if (lane == 0) probs[j] = dot * scale;
  }
  __syncthreads();

  // softmax over the context
  float local_max = -FLT_MAX;
  for (int j = threadIdx.x; j < length; j += DECODE_THREADS) local_max = fmaxf(local_max, probs[j]);
  const float row_max = block_reduce(local_max, -FLT_MAX, scratch, MaxOp());

  float local_sum = 0.f;
  for (int j = threadIdx.x; j < length; j += DECODE_THREADS) {
    const float e = expf(probs[j] - row_max);
    probs[j] = e;
    local_sum += e;
  }
  const float inv_sum = 1.f / block_reduce(local_sum, 0.f, scratch, SumOp());

  // weighted sum of the values: DECODE_THREADS / head_dim groups share the context
  const int groups = DECODE_THREADS / head_dim;
  const int d = threadIdx.x % head_dim;
  const int group = threadIdx.x / head_dim;
  float acc = 0.f;
  for (int j = group; j < length; j += groups)
    acc += probs[j] * static_cast<float>(v_head[static_cast<int64_t>(j) * head_dim + d]);
  partial[threadIdx.x] = acc;
  __syncthreads();

  if (group == 0) {
    for (int g = 1; g < groups; ++g) acc += partial[g * head_dim + d];
    out[bh * head_dim + d] = static_cast<scalar_t>(acc * inv_sum);
  }
}

}  // namespace

std::vector<at::Tensor> append_and_decode(
    at::Tensor q, at::Tensor k_new, at::Tensor v_new,
    at::Tensor k_cache, at::Tensor v_cache,
    int num_heads, int head_dim, double scale) {
  CHECK_HALF_INPUT(q);
  CHECK_HALF_INPUT(k_new);
  CHECK_HALF_INPUT(v_new);
  TORCH_CHECK(k_cache.scalar_type() == q.scalar_type(), "cache and query differ in dtype");
  TORCH_CHECK(DECODE_THREADS % head_dim == 0, "head_dim must divide ", DECODE_THREADS);
  c10::cuda::CUDAGuard guard(q.device());

  const auto batch = q.size(0);
  at::Tensor k = at::cat({k_cache, k_new.view({batch, num_heads, 1, head_dim})}, /*dim=*/2);
  at::Tensor v = at::cat({v_cache, v_new.view({batch, num_heads, 1, head_dim})}, /*dim=*/2);
  k = k.contiguous();
  v = v.contiguous();
  at::Tensor out = at::empty_like(q);

  const int length = static_cast<int>(k.size(2));
  const int blocks = static_cast<int>(batch) * num_heads;
  const size_t smem = length * sizeof(float);
  TORCH_CHECK(smem <= 40 * 1024, "context of ", length, " tokens is too long for shared memory");
  cudaStream_t stream = at::cuda::getCurrentCUDAStream().stream();

  AT_DISPATCH_REDUCED_FLOATING_TYPES(q.scalar_type(), "append_and_decode", [&] {
    decode_attention_kernel<scalar_t><<<blocks, DECODE_THREADS, smem, stream>>>(
        q.data_ptr<scalar_t>(),
        k.data_ptr<scalar_t>(),
        v.data_ptr<scalar_t>(),
        out.data_ptr<scalar_t>(),
        length, head_dim, static_cast<float>(scale));
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {out, k, v};
}
"""


@functools.lru_cache(maxsize=None)
def get_extension():
    return load_inline(
        name="kv_cache_append_decode",
        cpp_sources=[CPP_SRC],
        cuda_sources=[CUDA_SRC],
        functions=["append_and_decode"],
        verbose=False,
    )


class ModelNew(nn.Module):
    def __init__(self, num_heads, head_dim):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.scale = head_dim ** -0.5
        self.ext = get_extension()

    def forward(self, q, k_new, v_new, k_cache, v_cache):
        out, k, v = self.ext.append_and_decode(
            q, k_new, v_new, k_cache, v_cache, self.num_heads, self.head_dim, self.scale
        )
        return out, k, v
