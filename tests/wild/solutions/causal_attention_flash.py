import math

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# Flash-attention forward: one block owns a 64-row tile of Q, streams K/V tiles
# through shared memory and keeps the running max / running sum (m, l) in
# registers. 256 threads form a 16x16 grid, each computing a 4x4 patch.
cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cmath>

using torch::Tensor;

constexpr int kHeadDim = 64;
constexpr int kTileQ = 64;
constexpr int kTileK = 64;
constexpr int kThreads = 256;

template <int D, int BR, int BC>
__global__ void __launch_bounds__(kThreads)
flash_fwd_kernel(const float* __restrict__ q,
                 const float* __restrict__ k,
                 const float* __restrict__ v,
                 float* __restrict__ out,
                 float* __restrict__ l_out,
                 float* __restrict__ m_out,
                 int seq_len,
                 float scale) {
    constexpr int RI = BR / 16;   // rows per thread
    constexpr int CJ = BC / 16;   // score columns per thread
    constexpr int DJ = D / 16;    // output columns per thread

    extern __shared__ float smem[];
    float* q_s = smem;                    // [BR][D]
    float* k_s = q_s + BR * D;            // [BC][D + 1]
    float* v_s = k_s + BC * (D + 1);      // [BC][D]
    float* p_s = v_s + BC * D;            // [BR][BC + 1]

    const int tid = threadIdx.x;
    const int tx = tid % 16;
    const int ty = tid / 16;
    const int q0 = blockIdx.x * BR;
    const size_t base = static_cast<size_t>(blockIdx.y) * seq_len * D;

    for (int i = tid; i < BR * D; i += kThreads) {
        const int row = q0 + i / D;
        q_s[i] = row < seq_len ? q[base + static_cast<size_t>(row) * D + i % D] * scale : 0.0f;
    }

    float m_i[RI], l_i[RI], acc[RI][DJ];
#pragma unroll
    for (int i = 0; i < RI; ++i) {
        m_i[i] = -INFINITY;
        l_i[i] = 0.0f;
#pragma unroll
        for (int j = 0; j < DJ; ++j) acc[i][j] = 0.0f;
    }

    // Causal: nothing beyond the last query row of this tile is needed.
    const int k_end = min(seq_len, q0 + BR);
    for (int k0 = 0; k0 < k_end; k0 += BC) {
        __syncthreads();
        for (int i = tid; i < BC * D; i += kThreads) {
            const int r = i / D, c = i % D;
            const bool valid = k0 + r < seq_len;
            const size_t offset = base + static_cast<size_t>(k0 + r) * D + c;
            k_s[r * (D + 1) + c] = valid ? k[offset] : 0.0f;
            v_s[r * D + c] = valid ? v[offset] : 0.0f;
        }
        __syncthreads();

        float s[RI][CJ] = {};
#pragma unroll 8
        for (int d = 0; d < D; ++d) {
            float kv[CJ];
#pragma unroll
            for (int j = 0; j < CJ; ++j) kv[j] = k_s[(tx + 16 * j) * (D + 1) + d];
#pragma unroll
            for (int i = 0; i < RI; ++i) {
                const float qv = q_s[(ty * RI + i) * D + d];
#pragma unroll
                for (int j = 0; j < CJ; ++j) s[i][j] = fmaf(qv, kv[j], s[i][j]);
            }
        }

#pragma unroll
        for (int i = 0; i < RI; ++i) {
            const int row = q0 + ty * RI + i;
            float mx = -INFINITY;
#pragma unroll
            for (int j = 0; j < CJ; ++j) {
                const int col = k0 + tx + 16 * j;
                if (col > row || col >= seq_len) s[i][j] = -INFINITY;
                mx = fmaxf(mx, s[i][j]);
            }
            // The 16 threads that share this row are one half of a warp.
#pragma unroll
            for (int off = 8; off > 0; off >>= 1)
                mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, off));

            const float m_new = fmaxf(m_i[i], mx);
            const float alpha = expf(m_i[i] - m_new);
            float sum = 0.0f;
#pragma unroll
            for (int j = 0; j < CJ; ++j) {
                const float p = expf(s[i][j] - m_new);
                p_s[(ty * RI + i) * (BC + 1) + tx + 16 * j] = p;
                sum += p;
            }
#pragma unroll
            for (int off = 8; off > 0; off >>= 1)
                sum += __shfl_xor_sync(0xffffffffu, sum, off);

            l_i[i] = l_i[i] * alpha + sum;
            m_i[i] = m_new;
#pragma unroll
            for (int j = 0; j < DJ; ++j) acc[i][j] *= alpha;
        }
        __syncthreads();

#pragma unroll 8
        for (int c = 0; c < BC; ++c) {
            float vv[DJ];
#pragma unroll
            for (int j = 0; j < DJ; ++j) vv[j] = v_s[c * D + tx + 16 * j];
#pragma unroll
            for (int i = 0; i < RI; ++i) {
                const float p = p_s[(ty * RI + i) * (BC + 1) + c];
#pragma unroll
                for (int j = 0; j < DJ; ++j) acc[i][j] = fmaf(p, vv[j], acc[i][j]);
            }
        }
    }

#pragma unroll
    for (int i = 0; i < RI; ++i) {
        const int row = q0 + ty * RI + i;
        if (row >= seq_len) continue;
        const float inv_l = 1.0f / l_i[i];
#pragma unroll
        for (int j = 0; j < DJ; ++j)
            out[base + static_cast<size_t>(row) * D + tx + 16 * j] = acc[i][j] * inv_l;
        if (tx == 0) {
            l_out[static_cast<size_t>(blockIdx.y) * seq_len + row] = l_i[i];
            m_out[static_cast<size_t>(blockIdx.y) * seq_len + row] = m_i[i];
        }
    }
}

Tensor flash_attention_forward(Tensor q, Tensor k, Tensor v, float scale) {
    TORCH_CHECK(q.is_cuda() && k.is_cuda() && v.is_cuda(), "q, k and v must be CUDA tensors");
    TORCH_CHECK(q.scalar_type() == torch::kFloat32, "only float32 is supported");
    TORCH_CHECK(q.dim() == 4 && q.size(3) == kHeadDim, "expected (B, H, T, ", kHeadDim, ")");
    q = q.contiguous(), k = k.contiguous(), v = v.contiguous();

    const int64_t B = q.size(0), H = q.size(1), T = q.size(2);
    Tensor out = torch::empty_like(q);
    // Softmax statistics, kept per query row as a backward pass would need them.
    Tensor l = torch::zeros({B, H, T}, q.options());
    Tensor m = torch::full({B, H, T}, -INFINITY, q.options());

    auto kernel = flash_fwd_kernel<kHeadDim, kTileQ, kTileK>;
    const int smem_bytes = sizeof(float) *
        (kTileQ * kHeadDim + kTileK * (kHeadDim + 1) + kTileK * kHeadDim + kTileQ * (kTileK + 1));
    C10_CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, smem_bytes));

    const dim3 grid((T + kTileQ - 1) / kTileQ, B * H);
    kernel<<<grid, kThreads, smem_bytes, at::cuda::getCurrentCUDAStream()>>>(
        q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(),
        out.data_ptr<float>(), l.data_ptr<float>(), m.data_ptr<float>(),
        static_cast<int>(T), scale);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

cpp_source = "torch::Tensor flash_attention_forward(torch::Tensor q, torch::Tensor k, torch::Tensor v, float scale);"

flash_attention = load_inline(
    name="causal_attention_flash",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["flash_attention_forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, head_dim: int):
        super().__init__()
        self.scale = 1.0 / math.sqrt(head_dim)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return flash_attention.flash_attention_forward(q, k, v, self.scale)
