"""The same loop of small kernels, captured once as a CUDA graph: the work itself is left, without its launches."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels, states):
        super().__init__()
        self.rates = nn.Parameter(torch.rand(channels, states) + 0.5)
        self.skip = nn.Parameter(torch.randn(channels))
        self.graph = None

    def scan(self, x, steps, into, out_of):
        steps = nn.functional.softplus(steps)
        decay = torch.exp(-steps[..., None] * self.rates)
        taken = (steps * x)[..., None] * into[:, :, None]
        states, state = [], torch.zeros_like(taken[:, 0])
        for step in range(x.shape[1]):
            state = torch.addcmul(taken[:, step], decay[:, step], state)
            states.append(state)
        return torch.einsum("blcs,bls->blc", torch.stack(states, dim=1), out_of) + x * self.skip

    def capture(self, given):
        self.given = [one.clone() for one in given]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.scan(*self.given)  # what is set up on first use cannot be captured
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.answer = self.scan(*self.given)

    def forward(self, *given):
        with torch.no_grad():
            if self.graph is None or [one.shape for one in self.given] != [one.shape for one in given]:
                self.capture(given)
            for kept, one in zip(self.given, given, strict=True):
                kept.copy_(one)
            self.graph.replay()
            return self.answer.clone()
