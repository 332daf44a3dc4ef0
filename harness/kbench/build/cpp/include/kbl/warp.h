// The warp shuffles of ATen/cuda/DeviceUtils.cuh.
#pragma once
#ifdef __CUDACC__
__device__ __forceinline__ unsigned int ACTIVE_MASK() { return __activemask(); }
__device__ __forceinline__ void WARP_SYNC(unsigned mask = 0xffffffff) { __syncwarp(mask); }
__device__ __forceinline__ unsigned int WARP_BALLOT(int predicate, unsigned int mask = 0xffffffff) {
  return __ballot_sync(mask, predicate);
}
#define KBL_SHUFFLE(NAME, intrinsic, how)                                                               \
  template <typename T>                                                                                 \
  __device__ __forceinline__ T NAME(T value, how, int width = warpSize, unsigned int mask = 0xffffffff) { \
    return intrinsic(mask, value, lane, width);                                                         \
  }
KBL_SHUFFLE(WARP_SHFL, __shfl_sync, int lane)
KBL_SHUFFLE(WARP_SHFL_XOR, __shfl_xor_sync, int lane)
KBL_SHUFFLE(WARP_SHFL_UP, __shfl_up_sync, unsigned int lane)
KBL_SHUFFLE(WARP_SHFL_DOWN, __shfl_down_sync, unsigned int lane)
#undef KBL_SHUFFLE
#endif
