import torch
import torch.nn as nn
import torch.nn.functional as F

NUM_TOKENS = 8192
D_MODEL = 512
NUM_EXPERTS = 64
TOP_K = 2


class Model(nn.Module):
    """Router of a mixture of experts: top-2 of the softmax, weights renormalised."""

    def __init__(self, d_model: int, num_experts: int):
        super().__init__()
        self.gate = nn.Linear(d_model, num_experts, bias=False)

    def forward(self, x: torch.Tensor):
        logits = self.gate(x)
        _, expert_ids = torch.topk(logits, TOP_K, dim=-1, largest=True, sorted=True)
        probs = F.softmax(logits, dim=-1)
        weights = probs.gather(-1, expert_ids)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights, expert_ids.to(torch.int32)


def get_inputs():
    return [torch.randn(NUM_TOKENS, D_MODEL)]


def get_init_inputs():
    return [D_MODEL, NUM_EXPERTS]
