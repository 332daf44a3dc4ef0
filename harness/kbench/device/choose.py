"""Turns `auto`, `cpu`, `cuda` or `cuda:1` into a device, or says why this machine has none such."""

from __future__ import annotations

import os
import warnings

from kbench.device.cpu import Cpu
from kbench.device.interface import Device
from kbench.device.names import PATTERN
from kbench.errors import MachineFault


def choose(name: str) -> Device:
    """The device. Restricts this process to one GPU, so it must run before CUDA starts."""
    match = PATTERN.fullmatch(name)
    assert match
    if name == "cpu":
        return Cpu()
    index = int(match[1] or 0)
    _show_only(index)
    count = _visible()
    if count:
        from kbench.device.cuda import Cuda

        return Cuda(index)
    if name == "auto":
        return Cpu()
    raise MachineFault(
        f"no such device here: {name}",
        "see kbench doctor; --device cpu runs on the host, or name another GPU",
    )


def worker_device(kind: str) -> Device:
    """In a worker, whose environment shows it one device or none."""
    if kind == "cpu":
        return Cpu()
    from kbench.device.cuda import Cuda

    return Cuda(0)


def _show_only(index: int) -> None:
    visible = [part for part in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if part]
    if not visible:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(index)
    else:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible[index] if index < len(visible) else "-1"


def _visible() -> int:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.cuda.device_count() if torch.cuda.is_available() else 0
