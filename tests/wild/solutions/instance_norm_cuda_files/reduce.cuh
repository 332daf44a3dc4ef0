#pragma once

// Warp and block sums. Every thread of the block gets the result.

constexpr int WARP_SIZE = 32;
constexpr unsigned FULL_MASK = 0xffffffffu;

template <typename T>
__device__ __forceinline__ T warp_reduce_sum(T val) {
#pragma unroll
  for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
    val += __shfl_xor_sync(FULL_MASK, val, offset);
  }
  return val;
}

// blockDim.x has to be a multiple of the warp size; all threads have to call it.
template <typename T>
__device__ __forceinline__ T block_reduce_sum(T val) {
  __shared__ T partial[WARP_SIZE];
  const int lane = threadIdx.x % WARP_SIZE;
  const int warp = threadIdx.x / WARP_SIZE;
  const int num_warps = blockDim.x / WARP_SIZE;

  val = warp_reduce_sum(val);
  __syncthreads();  // `partial` may still be in use by an earlier call
  if (lane == 0) {
    partial[warp] = val;
  }
  __syncthreads();
  return warp_reduce_sum(lane < num_warps ? partial[lane] : T(0));
}
