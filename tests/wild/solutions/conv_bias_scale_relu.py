import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

# The convolution itself is left to cuDNN. Everything after it (conv bias, extra bias,
# scale, ReLU) is memory bound, so it is done in one in-place pass over the conv output.

epilogue_cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>
#include <algorithm>

__global__ void bias_scale_relu_vec4_kernel(
    float4* __restrict__ y,
    const float* __restrict__ conv_bias,
    const float* __restrict__ bias,
    const float* __restrict__ scale,
    int channels,
    int hw4,
    int n4) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        const int c = (i / hw4) % channels;
        const float b = conv_bias[c] + bias[c];
        const float s = scale[c];
        float4 v = y[i];
        v.x = fmaxf((v.x + b) * s, 0.0f);
        v.y = fmaxf((v.y + b) * s, 0.0f);
        v.z = fmaxf((v.z + b) * s, 0.0f);
        v.w = fmaxf((v.w + b) * s, 0.0f);
        y[i] = v;
    }
}

// Used when H * W is not a multiple of four.
__global__ void bias_scale_relu_kernel(
    float* __restrict__ y,
    const float* __restrict__ conv_bias,
    const float* __restrict__ bias,
    const float* __restrict__ scale,
    int channels,
    int hw,
    int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int c = (i / hw) % channels;
        y[i] = fmaxf((y[i] + conv_bias[c] + bias[c]) * scale[c], 0.0f);
    }
}

void bias_scale_relu_(torch::Tensor x, torch::Tensor conv_bias, torch::Tensor bias, torch::Tensor scale) {
    AT_ASSERTM(x.is_cuda(), "x must be a CUDA tensor");
    AT_ASSERTM(x.is_contiguous(), "x must be contiguous");
    TORCH_CHECK(x.scalar_type() == at::kFloat, "x must be float32");
    TORCH_CHECK(bias.scalar_type() == at::kFloat && scale.scalar_type() == at::kFloat,
                "bias and scale must be float32");

    const int channels = x.size(1);
    const int hw = x.size(2) * x.size(3);
    TORCH_CHECK(conv_bias.numel() == channels, "conv_bias must have one value per channel");
    TORCH_CHECK(bias.numel() == channels, "bias must have one value per channel");
    TORCH_CHECK(scale.numel() == channels, "scale must have one value per channel");

    const int n = x.numel();
    if (n == 0) return;

    const int threads = 256;
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();

    if (hw % 4 == 0) {
        const int n4 = n / 4;
        const int blocks = std::min((n4 + threads - 1) / threads, 132 * 32);
        bias_scale_relu_vec4_kernel<<<blocks, threads, 0, stream>>>(
            reinterpret_cast<float4*>(x.data_ptr<float>()),
            conv_bias.data_ptr<float>(),
            bias.data_ptr<float>(),
            scale.data_ptr<float>(),
            channels, hw / 4, n4);
    } else {
        const int blocks = std::min((n + threads - 1) / threads, 132 * 32);
        bias_scale_relu_kernel<<<blocks, threads, 0, stream>>>(
            x.data_ptr<float>(),
            conv_bias.data_ptr<float>(),
            bias.data_ptr<float>(),
            scale.data_ptr<float>(),
            channels, hw, n);
    }
    AT_CUDA_CHECK(cudaGetLastError());
}
"""

epilogue_cpp_source = (
    "void bias_scale_relu_(torch::Tensor x, torch::Tensor conv_bias, torch::Tensor bias, torch::Tensor scale);"
)

epilogue = load_inline(
    name="conv_bias_scale_relu_epilogue",
    cpp_sources=epilogue_cpp_source,
    cuda_sources=epilogue_cuda_source,
    functions=["bias_scale_relu_"],
    verbose=False,
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super(ModelNew, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, padding=kernel_size // 2)
        self.bias = nn.Parameter(torch.randn(bias_shape) * 0.1)
        self.scale = nn.Parameter(torch.rand(bias_shape) + 0.5)
        self.epilogue = epilogue

    def forward(self, x):
        # bias-free convolution; the conv bias is folded into the fused epilogue
        y = F.conv2d(x, self.conv.weight, None, self.conv.stride, self.conv.padding).contiguous()
        self.epilogue.bias_scale_relu_(y, self.conv.bias, self.bias, self.scale)
        return y
