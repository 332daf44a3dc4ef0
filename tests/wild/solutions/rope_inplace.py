import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

rope_cpp = """
#include <vector>

std::vector<torch::Tensor> rope_inplace(const torch::Tensor& q_in, const torch::Tensor& k_in,
                                        const torch::Tensor& pos, const torch::Tensor& inv_freq);
"""

rope_cuda = """
#include <ATen/ATen.h>
#include <ATen/DeviceGuard.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <algorithm>
#include <vector>

// One block per token. The first D/2 threads put the sines and cosines of that
// position in shared memory, then all threads rotate the (head, pair) items of
// q and of k in place.
__global__ void rope_inplace_kernel(
    float* __restrict__ q,
    float* __restrict__ k,
    const int64_t* __restrict__ positions,
    const float* __restrict__ inv_freq,
    const int seq_len,
    const int num_heads,
    const int half_dim,
    const int64_t stride_b,
    const int64_t stride_t,
    const int64_t stride_h)
{
    extern __shared__ float trig[];
    float* cos_s = trig;
    float* sin_s = trig + half_dim;

    const int token = blockIdx.x;
    const int b = token / seq_len;
    const int t = token - b * seq_len;

    const float position = static_cast<float>(positions[token]);
    for (int i = threadIdx.x; i < half_dim; i += blockDim.x) {
        sincosf(position * inv_freq[i], &sin_s[i], &cos_s[i]);
    }
    __syncthreads();

    const int64_t token_offset = b * stride_b + t * stride_t;
    for (int i = threadIdx.x; i < num_heads * half_dim; i += blockDim.x) {
        const int head = i / half_dim;
        const int pair = i - head * half_dim;
        const int64_t lo = token_offset + head * stride_h + pair;
        const int64_t hi = lo + half_dim;
        const float c = cos_s[pair];
        const float s = sin_s[pair];

        const float q_lo = q[lo], q_hi = q[hi];
        q[lo] = q_lo * c - q_hi * s;
        q[hi] = q_hi * c + q_lo * s;

        const float k_lo = k[lo], k_hi = k[hi];
        k[lo] = k_lo * c - k_hi * s;
        k[hi] = k_hi * c + k_lo * s;
    }
}

std::vector<torch::Tensor> rope_inplace(const torch::Tensor& q_in, const torch::Tensor& k_in,
                                        const torch::Tensor& pos, const torch::Tensor& inv_freq)
{
    TORCH_CHECK(q_in.is_cuda(), "q must be a CUDA tensor");
    TORCH_CHECK(q_in.dtype() == torch::kFloat, "q must be float32, got ", q_in.dtype());
    TORCH_CHECK(pos.scalar_type() == at::kLong, "positions must be int64");
    TORCH_CHECK(pos.is_contiguous() && inv_freq.is_contiguous(), "positions and inv_freq must be contiguous");

    const at::cuda::OptionalCUDAGuard device_guard(device_of(q_in));

    // The caller keeps its tensors; the rotation happens in place on the copies.
    torch::Tensor q = q_in.clone();
    torch::Tensor k = k_in.clone();
    TORCH_CHECK(q.sizes() == k.sizes(), "q and k must have the same shape, got ", q.sizes(), " and ", k.sizes());
    TORCH_CHECK(q.strides() == k.strides(), "q and k must have the same layout");
    TORCH_CHECK(q.dim() == 4 && q.stride(3) == 1, "expected (B, T, H, D) with a dense last dimension");

    const int batch = static_cast<int>(q.size(0));
    const int seq_len = static_cast<int>(q.size(1));
    const int num_heads = static_cast<int>(q.size(2));
    const int half_dim = static_cast<int>(q.size(3) / 2);
    TORCH_CHECK(pos.numel() == q.size(0) * q.size(1), "one position per token expected");
    TORCH_CHECK(inv_freq.numel() == half_dim, "inv_freq must hold D / 2 values");

    const int64_t* positions = pos.data_ptr<int64_t>();
    const int threads = std::min(512, std::max(32, num_heads * half_dim / 2));
    const size_t shared_bytes = 2 * half_dim * sizeof(float);
    const at::cuda::CUDAStream stream = at::cuda::getCurrentCUDAStream();

    rope_inplace_kernel<<<batch * seq_len, threads, shared_bytes, stream>>>(
        q.data_ptr<float>(), k.data_ptr<float>(), positions, inv_freq.data_ptr<float>(),
        seq_len, num_heads, half_dim,
        q.stride(0), q.stride(1), q.stride(2));
    AT_CUDA_CHECK(cudaGetLastError());

    return std::vector<torch::Tensor>{q, k};
}
"""

rope_ext = load_inline(
    name="rope_inplace_ext",
    cpp_sources=[rope_cpp],
    cuda_sources=[rope_cuda],
    functions={"rope_inplace": "Rotary embedding of q and k (NeoX convention)"},
    with_cuda=True,
    extra_cflags=["-O2"],
    extra_cuda_cflags=["-O3", "-lineinfo"],
)


class ModelNew(nn.Module):
    def __init__(self, head_dim, base):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim))
        self.register_buffer("inv_freq", inv_freq)

    def forward(self, q, k, positions):
        q_rot, k_rot = rope_ext.rope_inplace(q, k, positions, self.inv_freq)
        return q_rot, k_rot
