"""Atomic additions of four neighbours at once, which this architecture has; single ones where rows are not aligned."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void wide(const float4* messages, const int64_t* index, float4* to, int64_t count, int width) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= count) return;
#if __CUDA_ARCH__ >= 900
    atomicAdd(to + index[i / width] * width + i % width, messages[i]);
#else
    float* place = reinterpret_cast<float*>(to + index[i / width] * width + i % width);
    const float4 v = messages[i];
    atomicAdd(place, v.x);
    atomicAdd(place + 1, v.y);
    atomicAdd(place + 2, v.z);
    atomicAdd(place + 3, v.w);
#endif
}

__global__ void narrow(const float* messages, const int64_t* index, float* to, int64_t count, int width) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) atomicAdd(to + index[i / width] * width + i % width, messages[i]);
}

torch::Tensor forward(torch::Tensor messages, torch::Tensor index, int64_t nodes) {
    const int width = messages.size(1);
    torch::Tensor out = torch::zeros({nodes, width}, messages.options());
    const auto stream = c10::cuda::getCurrentCUDAStream();
    const int64_t count = messages.numel(), groups = count / 4;
    const float* from = messages.data_ptr<float>();
    float* to = out.data_ptr<float>();
    if (width % 4 == 0)
        wide<<<(groups + 255) / 256, 256, 0, stream>>>(
            reinterpret_cast<const float4*>(from), index.data_ptr<int64_t>(), reinterpret_cast<float4*>(to), groups,
            width / 4);
    else
        narrow<<<(count + 255) / 256, 256, 0, stream>>>(from, index.data_ptr<int64_t>(), to, count, width);
    return out;
}
"""

extension = load_inline(
    name="scatter_add_wide_atomics_cuda",
    cpp_sources="torch::Tensor forward(torch::Tensor messages, torch::Tensor index, int64_t nodes);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, nodes):
        super().__init__()
        self.nodes = nodes

    def forward(self, messages, index):
        return extension.forward(messages, index, self.nodes)
