"""Lerp, addcmul and addcdiv: few passes, most of them in place."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, rate, decay, first, second, epsilon, step):
        super().__init__()
        self.rate, self.decay, self.epsilon = rate, decay, epsilon
        self.first, self.second, self.step = first, second, step

    def forward(self, weight, gradient, mean, root):
        mean = torch.lerp(gradient, mean, self.first)
        square = (root * root).mul_(self.second).addcmul_(gradient, gradient, value=1 - self.second)
        scale = (square / (1 - self.second**self.step)).sqrt_().add_(self.epsilon)
        weight = weight * (1 - self.rate * self.decay)
        return weight.addcdiv_(mean, scale, value=-self.rate / (1 - self.first**self.step)), mean, square
