"""The library's own way for groups: keys and values are never repeated in memory."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, query, key, value):
        return nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
