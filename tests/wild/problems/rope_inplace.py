import torch
import torch.nn as nn

BATCH_SIZE = 8
SEQ_LEN = 1024
NUM_HEADS = 16
HEAD_DIM = 64
MAX_POSITION = 4096
ROPE_BASE = 10000.0


class Model(nn.Module):
    """
    Rotary position embedding (GPT-NeoX convention: the head is split into two
    halves) applied to queries and keys at explicit positions.
    """

    def __init__(self, head_dim, base):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim))
        self.register_buffer("inv_freq", inv_freq)

    @staticmethod
    def rotate_half(x):
        x1, x2 = x.chunk(2, dim=-1)
        return torch.cat((-x2, x1), dim=-1)

    def forward(self, q, k, positions):
        # q, k: (B, T, H, D); positions: (B, T) int64
        angles = positions.unsqueeze(-1).to(torch.float32) * self.inv_freq
        angles = torch.cat((angles, angles), dim=-1).unsqueeze(2)
        cos, sin = angles.cos(), angles.sin()
        q_rot = q * cos + self.rotate_half(q) * sin
        k_rot = k * cos + self.rotate_half(k) * sin
        return q_rot, k_rot


def get_inputs():
    q = torch.randn(BATCH_SIZE, SEQ_LEN, NUM_HEADS, HEAD_DIM)
    k = torch.randn(BATCH_SIZE, SEQ_LEN, NUM_HEADS, HEAD_DIM)
    # every sequence of the batch starts at an offset of its own
    offsets = torch.randint(0, MAX_POSITION - SEQ_LEN, (BATCH_SIZE, 1), dtype=torch.int64)
    positions = offsets + torch.arange(SEQ_LEN, dtype=torch.int64).unsqueeze(0)
    return [q, k, positions]


def get_init_inputs():
    return [HEAD_DIM, ROPE_BASE]
