"""A worker's life: take messages, do what they say, report faults of the solution as values."""

from __future__ import annotations

import gc
import os
import warnings
from typing import Any, NoReturn

import torch

from kbench import module
from kbench.device import heap
from kbench.device.choose import worker_device
from kbench.device.interface import Device
from kbench.protocol import (
    MAX_TEXT,
    Call,
    Construct,
    Done,
    Fault,
    Forget,
    Forgotten,
    FromWorker,
    Load,
    OpenArena,
    Round,
    TakeWeights,
    ToWorker,
    Trace,
)
from kbench.wire import Channel, Closed
from kbench.worker import intercept
from kbench.worker.intercept import Intercept
from kbench.worker.runner import Runner
from kbench.worker.subject import Subject, Unfit

OUT_OF_MEMORY = (
    "can't allocate memory",
    "CUDA out of memory",
    "CUDA error: out of memory",
    "Cannot allocate memory",
    "nvmlInit_v2_",  # torch asks NVML who took the memory, and the jail has no NVML
)


def run(channel: Channel) -> NoReturn:
    scratch = os.environ["KBENCH_SCRATCH"]
    warnings.filterwarnings("ignore", message="Can't initialize NVML")  # the jail has none, and needs none
    heap.settle()
    device = worker_device("cuda" if os.environ.get("CUDA_VISIBLE_DEVICES") else "cpu")
    device.warm_up()
    extensions = intercept.install(channel, scratch)
    began_with = device.held_bytes()
    channel.send(Done())
    while True:
        changed = _serve(channel, scratch, device, extensions)
        gc.collect()
        channel.send(Forgotten(left_bytes=device.held_bytes() - began_with, changed=changed))


def _serve(channel: Channel, scratch: str, device: Device, extensions: Intercept) -> tuple[str, ...]:
    """One solution, or one problem as a baseline, until the referee says that it is over: the settings it changed."""
    subject = Subject(scratch)
    runner = Runner(subject, channel, device, extensions)
    while True:
        try:
            message = channel.receive(ToWorker)
        except Closed:
            os._exit(0)
        if isinstance(message, Forget):
            runner.close()
            return subject.forget()
        try:
            reply = _answer(message, subject, runner, channel)
        except BaseException as error:  # noqa: BLE001  the worker's top: whatever a solution raises is its fault
            reply = fault(error, scratch)
        channel.send(reply)


def _answer(message: ToWorker, subject: Subject, runner: Runner, channel: Channel) -> FromWorker:
    match message:
        case Load():
            return subject.load(message)
        case Construct():
            return subject.construct(message)
        case TakeWeights():
            return subject.take_weights(message, channel.take_fds(1)[0])
        case OpenArena():
            runner.open(message, channel.take_fds(len(channel.fds)))
            return Done()
        case Call():
            return runner.call(message)
        case Round():
            return runner.round(message)
        case Trace():
            return runner.trace(message)
        case _:
            raise Unfit(f"unexpected {type(message).__name__}")


def fault(error: BaseException, scratch: str) -> Fault:
    text = f"{type(error).__name__}: {_first_line(error)}"
    return Fault(
        kind=_kind(error),
        message=(text if not isinstance(error, Unfit) else str(error))[:2000],
        traceback=module.own_traceback(error, scratch)[-MAX_TEXT:],
    )


def _kind(error: BaseException) -> Any:
    if isinstance(error, Unfit):
        return "missing"
    if isinstance(error, SystemExit):
        return "exit"
    memory = isinstance(error, MemoryError | torch.OutOfMemoryError)
    memory = memory or (isinstance(error, RuntimeError) and any(text in str(error) for text in OUT_OF_MEMORY))
    return "memory" if memory else "error"


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else ""
