import math

import torch
import torch.nn as nn

BATCH = 4
NUM_HEADS = 8
SEQ_LEN = 512
HEAD_DIM = 64


class Model(nn.Module):
    """Causal scaled-dot-product attention, written out in full fp32."""

    def __init__(self, head_dim: int):
        super().__init__()
        self.scale = 1.0 / math.sqrt(head_dim)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """
        Args:
            q, k, v: (batch, heads, seq_len, head_dim), float32
        Returns:
            (batch, heads, seq_len, head_dim), float32
        """
        seq_len = q.size(-2)
        scores = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        future = torch.ones(seq_len, seq_len, dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
        return torch.matmul(torch.softmax(scores, dim=-1), v)


def get_inputs():
    shape = (BATCH, NUM_HEADS, SEQ_LEN, HEAD_DIM)
    return [torch.randn(shape), torch.randn(shape), torch.randn(shape)]


def get_init_inputs():
    return [HEAD_DIM]
