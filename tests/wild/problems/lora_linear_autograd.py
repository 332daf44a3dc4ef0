import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 4
seq_len = 512
in_features = 1024
out_features = 2048
rank = 16
lora_alpha = 32.0


class Model(nn.Module):
    """Linear layer with a low-rank (LoRA) update: x W^T + b + (alpha / r) * x A^T B^T."""

    def __init__(self, in_features, out_features, rank, lora_alpha):
        super().__init__()
        self.scaling = lora_alpha / rank
        self.weight = nn.Parameter(torch.randn(out_features, in_features) * in_features**-0.5)
        self.bias = nn.Parameter(torch.randn(out_features) * 0.1)
        self.lora_A = nn.Parameter(torch.randn(rank, in_features) * in_features**-0.5)
        # An untrained B would be zero, which would make the update vanish.
        self.lora_B = nn.Parameter(torch.randn(out_features, rank) * 0.1)

    def forward(self, x):
        update = F.linear(F.linear(x, self.lora_A), self.lora_B)
        return F.linear(x, self.weight, self.bias) + self.scaling * update


def get_inputs():
    return [torch.randn(batch_size, seq_len, in_features)]


def get_init_inputs():
    return [in_features, out_features, rank, lora_alpha]
