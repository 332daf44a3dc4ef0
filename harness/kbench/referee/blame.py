"""Whose fault it is where the problem's own code raises: the problem's, or the machine's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import torch

from kbench import units
from kbench.device.interface import Device
from kbench.errors import DoesNotFit, KbenchError, ProblemFault
from kbench.problem import Source

ProblemCode = Callable[[], AbstractContextManager[None]]  # around where it runs, which may hang or end the process
NO_MEMORY = ("can't allocate memory", "out of memory", "Cannot allocate memory")


@contextlib.contextmanager
def running(source: Source, device: Device, when: str) -> Iterator[None]:
    """What the problem's own code raises becomes the problem's fault, or the machine's where memory ran out."""
    try:
        yield
    except KbenchError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  the problem's top: its file may raise anything
        raise _fault(source, device, error, when) from None


def out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(part in str(error) for part in NO_MEMORY)


def _fault(source: Source, device: Device, error: BaseException, when: str) -> KbenchError:
    text = str(error).strip().split("\n")[0][:300]
    if out_of_memory(error):
        return DoesNotFit(
            f"{source.path} is too large for this {device.kind} {when}: {text}",
            f"{units.size(device.free_bytes())} are free; choose a smaller --workload",
        )
    if isinstance(error, SystemExit):
        return ProblemFault(f"{source.path}: it ends the process {when}", "a problem file must not exit")
    fix = "mend the problem file"
    if "CUDA" in text and device.kind == "cpu":
        fix = "draw without .cuda(); kbench moves inputs and models to the device"
    where = f"{source.path}{_own_line(error, source.path)}"
    return ProblemFault(f"{where}: {when}: {type(error).__name__}: {text}", fix)


def _own_line(error: BaseException, path: str) -> str:
    frame, line = error.__traceback__, ""
    while frame:
        if frame.tb_frame.f_code.co_filename == path:
            line = f":{frame.tb_lineno}"
        frame = frame.tb_next
    return line
