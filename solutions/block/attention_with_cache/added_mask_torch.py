"""The mask as something to add to scores, in the type of the query."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, query, keys, values, lengths):
        places = torch.arange(keys.shape[2], device=keys.device)
        hidden = torch.zeros(len(lengths), len(places), dtype=query.dtype, device=query.device)
        hidden.masked_fill_(places >= lengths[:, None], float("-inf"))
        return nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=hidden[:, None, None])
