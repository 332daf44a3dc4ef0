"""One step of AdamW on a flat tensor of weights: new weights and both moments.

Optimisers are passes over memory: four reads and three writes for each weight, and eager execution needs a dozen. A
good solution makes one kernel of it.
"""

import torch
from torch import nn

count = 1 << 25
rate, decay, first, second, epsilon, step = 1e-3, 1e-2, 0.9, 0.99, 1e-8, 100

KBENCH = dict(
    workloads={
        "default": {},
        "cpu": dict(count=1 << 16),
        "odd": dict(count=10007),
    },
    bytes=7 * 4 * count,
    tags=["training", "optimiser", "memory"],
)


class Model(nn.Module):
    def __init__(self, rate, decay, first, second, epsilon, step):
        super().__init__()
        self.rate, self.decay, self.epsilon = rate, decay, epsilon
        self.first, self.second, self.step = first, second, step

    def forward(self, weight, gradient, mean, root):
        mean = self.first * mean + (1 - self.first) * gradient
        square = self.second * root * root + (1 - self.second) * gradient * gradient
        scale = (square / (1 - self.second**self.step)).sqrt() + self.epsilon
        weight = weight * (1 - self.rate * self.decay) - self.rate / (1 - self.first**self.step) * mean / scale
        return weight, mean, square


def get_inputs():
    return [
        torch.randn(count) * 0.02,
        torch.randn(count),
        torch.randn(count),
        torch.randn(count),
    ]


def get_init_inputs():
    return [rate, decay, first, second, epsilon, step]
