"""Groups as a dimension of their own: keys and values are not repeated in memory."""

from torch import nn


class ModelNew(nn.Module):
    def forward(self, query, key, value):
        batch, heads, length, width = query.shape
        groups = key.shape[1]
        shape = (batch, groups, heads // groups, length, width)
        key, value = (part[:, :, None].expand(shape) for part in (key, value))
        out = nn.functional.scaled_dot_product_attention(query.view(shape), key, value, is_causal=True)
        return out.reshape(query.shape)
