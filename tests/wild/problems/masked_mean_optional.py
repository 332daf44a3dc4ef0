import torch
import torch.nn as nn

batch_size = 32
seq_len = 512
hidden_size = 1024


class Model(nn.Module):
    """Pools a padded batch of sequences twice, over all positions and over the
    valid ones only, and concatenates the two poolings."""

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        mean_all = x.mean(dim=1)
        weights = mask.unsqueeze(-1).to(x.dtype)
        mean_valid = (x * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)
        return torch.cat([mean_all, mean_valid], dim=-1)


def get_inputs():
    x = torch.rand(batch_size, seq_len, hidden_size)
    lengths = torch.randint(seq_len // 4, seq_len + 1, (batch_size, 1))
    mask = torch.arange(seq_len).unsqueeze(0) < lengths
    return [x, mask]


def get_init_inputs():
    return []
