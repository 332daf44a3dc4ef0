"""Inclusive prefix sums with CUB.

Many rows: one thread block walks each row tile by tile (cub::BlockScan with a running prefix).
Few rows:  cub::DeviceScan per row, its scratch space borrowed from PyTorch's caching allocator.
"""
import hashlib
import os
import tempfile

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load

SOURCE = r'''
#include <torch/extension.h>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <cub/cub.cuh>

namespace {

constexpr int kThreads = 256;
constexpr int kItems = 8;
constexpr int64_t kRowsForBlockScan = 64;

// Carries the sum of all previous tiles into the next one.
struct RunningPrefix {
  float total;

  __device__ explicit RunningPrefix(float start) : total(start) {}

  __device__ float operator()(float tile_sum) {
    const float before = total;
    total += tile_sum;
    return before;
  }
};

template <int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS)
row_scan_kernel(const float* __restrict__ in, float* __restrict__ out, int64_t cols) {
  using BlockLoad = cub::BlockLoad<float, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using BlockStore = cub::BlockStore<float, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using BlockScan = cub::BlockScan<float, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

  __shared__ union {
    typename BlockLoad::TempStorage load;
    typename BlockStore::TempStorage store;
    typename BlockScan::TempStorage scan;
  } smem;

  const float* row_in = in + static_cast<int64_t>(blockIdx.x) * cols;
  float* row_out = out + static_cast<int64_t>(blockIdx.x) * cols;

  RunningPrefix prefix(0.0f);
  constexpr int kTile = THREADS * ITEMS;
  for (int64_t base = 0; base < cols; base += kTile) {
    const int valid = static_cast<int>(cols - base < kTile ? cols - base : kTile);
    float items[ITEMS];

    BlockLoad(smem.load).Load(row_in + base, items, valid, 0.0f);
    __syncthreads();
    BlockScan(smem.scan).InclusiveSum(items, items, prefix);
    __syncthreads();
    BlockStore(smem.store).Store(row_out + base, items, valid);
    __syncthreads();
  }
}

void device_scan_rows(const float* in, float* out, int64_t rows, int64_t cols,
                      const torch::Device& device, cudaStream_t stream) {
  size_t bytes = 0;
  C10_CUDA_CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, cols, stream));

  torch::Tensor scratch = torch::empty(
      {static_cast<int64_t>(bytes)}, torch::TensorOptions().dtype(torch::kUInt8).device(device));
  TORCH_CHECK(scratch.scalar_type() == torch::kByte);

  for (int64_t r = 0; r < rows; ++r) {
    C10_CUDA_CHECK(cub::DeviceScan::InclusiveSum(
        scratch.data_ptr<uint8_t>(), bytes, in + r * cols, out + r * cols, cols, stream));
  }
}

}  // namespace

torch::Tensor prefix_sum(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "prefix_sum: x must live on the GPU");
  TORCH_CHECK(x.scalar_type() == torch::kFloat, "prefix_sum: only float32 is supported");
  TORCH_CHECK(x.dim() >= 1, "prefix_sum: x must have at least one dimension");

  c10::cuda::CUDAGuard device_guard(x.device());
  cudaStream_t stream = c10::cuda::getCurrentCUDAStream();

  x = x.contiguous();
  torch::Tensor out = torch::empty_like(x);
  if (x.numel() == 0) {
    return out;
  }

  const int64_t cols = x.size(-1);
  const int64_t rows = x.numel() / cols;
  if (rows >= kRowsForBlockScan) {
    row_scan_kernel<kThreads, kItems><<<static_cast<unsigned int>(rows), kThreads, 0, stream>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  } else {
    device_scan_rows(x.data_ptr<float>(), out.data_ptr<float>(), rows, cols, x.device(), stream);
  }
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("prefix_sum", &prefix_sum, "Inclusive prefix sum along the last dimension (CUB)");
}
'''


def _write_source() -> str:
    digest = hashlib.sha256(SOURCE.encode()).hexdigest()[:16]
    folder = os.path.join(tempfile.gettempdir(), f"prefix_sum_cub_{digest}")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "prefix_sum.cu")
    if not os.path.exists(path):
        partial = f"{path}.{os.getpid()}"
        with open(partial, "w") as f:
            f.write(SOURCE)
        os.replace(partial, path)
    return path


_ext = load(
    name="prefix_sum_cub",
    sources=[_write_source()],
    extra_cflags=["-O2"],
    extra_cuda_cflags=["-O3", "-lineinfo"],
)


class ModelNew(nn.Module):
    def __init__(self, timesteps: int):
        super().__init__()
        self.baseline = nn.Parameter(torch.rand(timesteps))

    def forward(self, hazard: torch.Tensor) -> torch.Tensor:
        return _ext.prefix_sum(hazard) + _ext.prefix_sum(self.baseline)
