import torch
import torch.nn as nn

BATCH = 8
IN_FEATURES = 4096
OUT_FEATURES = 8192


class Model(nn.Module):
    """Weight-only int8 linear layer: symmetric quantisation with one float scale per output row."""

    def __init__(self, in_features, out_features):
        super().__init__()
        weight = torch.randn(out_features, in_features) * in_features**-0.5
        scales = weight.abs().amax(dim=1) / 127.0
        qweight = torch.round(weight / scales.unsqueeze(1)).clamp(-127, 127).to(torch.int8)
        self.register_buffer("qweight", qweight)
        self.register_buffer("scales", scales)

    def forward(self, x):
        weight = self.qweight.to(torch.float32) * self.scales.unsqueeze(1)
        return torch.matmul(x, weight.t())


def get_inputs():
    return [torch.randn(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES]
