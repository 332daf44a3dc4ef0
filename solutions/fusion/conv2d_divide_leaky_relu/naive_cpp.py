"""The tail as one plain loop on one thread, in place: what the threads of epilogue_cpp add can be seen beside it."""

from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
void divide_leaky_relu_(torch::Tensor x, double divisor) {
    float* data = x.data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); ++i) {
        const float v = data[i] / float(divisor);
        data[i] = v > 0.0f ? v : 0.01f * v;
    }
}
"""

extension = load_inline(
    name="divide_leaky_relu_naive",
    cpp_sources=CPP,
    functions=["divide_leaky_relu_"],
    extra_cflags=["-O2"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divisor):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.divisor = divisor

    def forward(self, x):
        x = self.conv(x).contiguous()
        extension.divide_leaky_relu_(x, self.divisor)
        return x
