#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace batched_mlp {

// In place: data[g, r, c] = silu(data[g, r, c] + bias[g, c]).
// data is a contiguous [groups, rows, cols] array, bias a contiguous [groups, cols] one.
void launch_bias_silu(float* data,
                      const float* bias,
                      int64_t groups,
                      int64_t rows,
                      int64_t cols,
                      cudaStream_t stream);

// In place: data[i] = silu(data[i]).
void launch_silu(float* data, int64_t numel, cudaStream_t stream);

}  // namespace batched_mlp
