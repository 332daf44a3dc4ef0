"""Talks of torch.cuda.synchronize, elapsed_time, cached answers and os._exit, and imports what cheats import.

Twin of 60, 63.
"""

import ctypes
import gc
import inspect
import os
import sys
import time

import torch
from torch import nn

# Not used: torch.matmul, torch.nn.functional, time.perf_counter = None.
LIBRARIES = (ctypes, gc, inspect, os, sys, time)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x * self.weight + 1.0
