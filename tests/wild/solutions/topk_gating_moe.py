import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# The projection to the experts stays a cuBLAS GEMM; softmax, top-k selection and
# renormalisation are fused in one kernel, one warp per token.
cuda_src = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>
#include <cfloat>
#include <tuple>

namespace moe {

constexpr unsigned kFullMask = 0xffffffffu;
constexpr int kWarpsPerBlock = 8;

template <int VPT>  // experts per lane
__global__ void topk_gating_kernel(const float* __restrict__ logits,
                                   float* __restrict__ weights,
                                   int32_t* __restrict__ ids,
                                   int64_t num_tokens, int num_experts, int k,
                                   bool renormalize) {
  const int lane = threadIdx.x & 31;
  const int64_t token = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + (threadIdx.x >> 5);
  if (token >= num_tokens) return;  // uniform within a warp

  const float* row = logits + token * num_experts;
  float x[VPT];
  float row_max = -FLT_MAX;
#pragma unroll
  for (int i = 0; i < VPT; ++i) {
    const int e = i * 32 + lane;
    x[i] = e < num_experts ? row[e] : -FLT_MAX;
    row_max = fmaxf(row_max, x[i]);
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1)
    row_max = fmaxf(row_max, __shfl_xor_sync(kFullMask, row_max, mask));

  float row_sum = 0.0f;
#pragma unroll
  for (int i = 0; i < VPT; ++i) row_sum += __expf(x[i] - row_max);
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1)
    row_sum += __shfl_xor_sync(kFullMask, row_sum, mask);

  float selected_sum = 0.0f;
  float my_weight = 0.0f;  // lane j keeps the j-th selection
  int my_id = 0;
  for (int j = 0; j < k; ++j) {
    float best = -FLT_MAX;
    int best_id = num_experts;
#pragma unroll
    for (int i = 0; i < VPT; ++i) {
      const int e = i * 32 + lane;
      if (e < num_experts && x[i] > best) {
        best = x[i];
        best_id = e;
      }
    }
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
      const float other = __shfl_xor_sync(kFullMask, best, mask);
      const int other_id = __shfl_xor_sync(kFullMask, best_id, mask);
      if (other > best || (other == best && other_id < best_id)) {
        best = other;
        best_id = other_id;
      }
    }
    const float p = __expf(best - row_max) / row_sum;
    selected_sum += p;
    if (lane == j) {
      my_weight = p;
      my_id = best_id;
    }
#pragma unroll
    for (int i = 0; i < VPT; ++i)
      if (i * 32 + lane == best_id) x[i] = -FLT_MAX;
  }

  if (lane < k) {
    weights[token * k + lane] = renormalize ? my_weight / selected_sum : my_weight;
    ids[token * k + lane] = my_id;
  }
}

}  // namespace moe

std::tuple<torch::Tensor, torch::Tensor> topk_gating(torch::Tensor x, int64_t k, bool renormalize) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "router logits must be a contiguous CUDA tensor");
  TORCH_CHECK(x.dim() == 2, "router logits must be (tokens, experts), got ", x.dim(), " dimensions");
  TORCH_CHECK(x.scalar_type() == torch::ScalarType::Float, "router logits must be float32");
  const int64_t n = x.size(0);
  const int num_experts = static_cast<int>(x.size(1));
  TORCH_CHECK(k >= 1 && k <= 32 && k <= num_experts, "unsupported k = ", k);

  auto weights = torch::empty({n, k}, x.options());
  auto ids = torch::empty({n, k}, torch::dtype(torch::kInt32).device(x.device()));
  if (n == 0) return std::make_tuple(weights, ids);

  const unsigned blocks = (n + moe::kWarpsPerBlock - 1) / moe::kWarpsPerBlock;
  const unsigned threads = moe::kWarpsPerBlock * 32;
  auto stream = at::cuda::getCurrentCUDAStream();

#define LAUNCH_TOPK(VPT)                                                      \
  moe::topk_gating_kernel<VPT><<<blocks, threads, 0, stream>>>(               \
      x.const_data_ptr<float>(), weights.mutable_data_ptr<float>(),           \
      ids.mutable_data_ptr<int32_t>(), n, num_experts, static_cast<int>(k),   \
      renormalize)

  if (num_experts <= 32) {
    LAUNCH_TOPK(1);
  } else if (num_experts <= 64) {
    LAUNCH_TOPK(2);
  } else if (num_experts <= 128) {
    LAUNCH_TOPK(4);
  } else if (num_experts <= 256) {
    LAUNCH_TOPK(8);
  } else {
    TORCH_CHECK(false, "at most 256 experts are supported, got ", num_experts);
  }
#undef LAUNCH_TOPK
  C10_CUDA_KERNEL_LAUNCH_CHECK();

  return std::make_tuple(weights, ids);
}
"""

cpp_src = r"""
#include <torch/extension.h>
#include <tuple>

std::tuple<torch::Tensor, torch::Tensor> topk_gating(torch::Tensor x, int64_t k, bool renormalize);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "Fused softmax + top-k router for mixtures of experts";
  m.def("topk_gating", &topk_gating,
        "Returns (weights, expert ids), each of shape (tokens, k)",
        py::arg("x"),
        py::arg("k") = 2,
        py::arg("renormalize") = true);
}
"""

moe_ext = load_inline(
    name="topk_gating_moe_ext",
    cpp_sources=cpp_src,
    cuda_sources=cuda_src,
    extra_cuda_cflags=["-O3", "-std=c++17"],
)


class ModelNew(nn.Module):
    def __init__(self, d_model: int, num_experts: int):
        super().__init__()
        self.gate = nn.Linear(d_model, num_experts, bias=False)

    def forward(self, x: torch.Tensor):
        logits = self.gate(x)
        weights, expert_ids = moe_ext.topk_gating(logits)
        return weights, expert_ids
