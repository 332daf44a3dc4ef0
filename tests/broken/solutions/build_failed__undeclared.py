"""C++ with a name that nobody declares, on a line of its own."""

from torch import nn
from torch.utils.cpp_extension import load_inline

SOURCE = """
torch::Tensor affine(torch::Tensor x) {
    auto out = torch::empty_like(x);
    for (int64_t i = 0; i < x.numel(); ++i) {
        out.data_ptr<float>()[i] = scaled(x.data_ptr<float>()[i]);
    }
    return out;
}
"""
extension = load_inline(name="undeclared", cpp_sources=SOURCE, functions=["affine"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.affine(x)
