import torch
import torch.nn as nn
import torch.nn.functional as F

num_tokens = 8192
vocab_size = 8192


class Model(nn.Module):
    """Mean cross entropy of a batch of token predictions."""

    def __init__(self):
        super().__init__()

    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits, targets)


def get_inputs():
    logits = torch.randn(num_tokens, vocab_size)
    targets = torch.randint(0, vocab_size, (num_tokens,))
    return [logits, targets]


def get_init_inputs():
    return []
