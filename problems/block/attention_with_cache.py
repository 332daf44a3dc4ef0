"""One step of decoding: a query for each sequence against a cache of keys and values, of which each sequence has
filled its own length.

The cache is read once and dwarfs everything else, so bandwidth decides; but there are few queries, and a good
solution splits the keys among blocks and joins what they find.
"""

import torch
from torch import nn

batch, heads, capacity, width = 32, 16, 4096, 128

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(batch=2, heads=4, capacity=256, width=64),
        "odd": dict(batch=5, heads=3, capacity=333, width=72),
    },
    bytes=2 * batch * heads * capacity * width,
    tags=["attention", "float16", "memory"],
)


class Model(nn.Module):
    def forward(self, query, keys, values, lengths):
        places = torch.arange(keys.shape[2], device=keys.device)
        mask = (places < lengths[:, None])[:, None, None]
        return nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask)


def get_inputs():
    return [
        torch.randn(batch, heads, 1, width).half(),
        torch.randn(batch, heads, capacity, width).half(),
        torch.randn(batch, heads, capacity, width).half(),
        torch.randint(capacity // 2, capacity + 1, (batch,)),
    ]


def get_init_inputs():
    return []
