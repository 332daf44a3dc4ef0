#include "kernels.h"

namespace batched_mlp {
namespace {

constexpr int kThreads = 256;

inline unsigned int ceil_div(int64_t a, int64_t b) {
    return static_cast<unsigned int>((a + b - 1) / b);
}

inline bool aligned16(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

__device__ __forceinline__ float silu(float x) {
    return x / (1.0f + __expf(-x));
}

// gridDim.y is the group; the x dimension covers one group's [rows, cols] matrix.
__global__ void bias_silu_vec4(float4* __restrict__ data,
                               const float4* __restrict__ bias,
                               int64_t per_group,
                               int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= per_group) return;
    const int64_t group = blockIdx.y;

    float4* p = data + group * per_group + i;
    const float4 b = bias[group * cols + i % cols];
    float4 v = *p;
    v.x = silu(v.x + b.x);
    v.y = silu(v.y + b.y);
    v.z = silu(v.z + b.z);
    v.w = silu(v.w + b.w);
    *p = v;
}

__global__ void bias_silu_scalar(float* __restrict__ data,
                                 const float* __restrict__ bias,
                                 int64_t per_group,
                                 int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= per_group) return;
    const int64_t group = blockIdx.y;
    float* p = data + group * per_group + i;
    *p = silu(*p + bias[group * cols + i % cols]);
}

__global__ void silu_inplace(float* __restrict__ data, int64_t numel) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < numel) data[i] = silu(data[i]);
}

}  // namespace

void launch_bias_silu(float* data,
                      const float* bias,
                      int64_t groups,
                      int64_t rows,
                      int64_t cols,
                      cudaStream_t stream) {
    const int64_t per_group = rows * cols;
    if (groups == 0 || per_group == 0) return;

    if (cols % 4 == 0 && aligned16(data) && aligned16(bias)) {
        const dim3 grid(ceil_div(per_group / 4, kThreads), static_cast<unsigned int>(groups));
        bias_silu_vec4<<<grid, kThreads, 0, stream>>>(
            reinterpret_cast<float4*>(data), reinterpret_cast<const float4*>(bias), per_group / 4, cols / 4);
    } else {
        const dim3 grid(ceil_div(per_group, kThreads), static_cast<unsigned int>(groups));
        bias_silu_scalar<<<grid, kThreads, 0, stream>>>(data, bias, per_group, cols);
    }
}

void launch_silu(float* data, int64_t numel, cudaStream_t stream) {
    if (numel == 0) return;
    silu_inplace<<<ceil_div(numel, kThreads), kThreads, 0, stream>>>(data, numel);
}

}  // namespace batched_mlp
