"""Messages in the order of their nodes, so that additions to one node follow each other."""

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, nodes):
        super().__init__()
        self.nodes = nodes

    def forward(self, messages, index):
        order = index.argsort()
        out = messages.new_zeros(self.nodes, messages.shape[1])
        return out.index_add_(0, index[order], messages[order])
