"""From what happened to a verdict with a reason in one sentence. Pure: no worker, no device."""

from __future__ import annotations

import signal

from kbench.jail.orders import Ended
from kbench.protocol import Fault
from kbench.records import Mismatch, Record, Verdict


class Ruling(Record, frozen=True):
    verdict: Verdict
    reason: str
    traceback: str = ""
    mismatch: Mismatch | None = None


class Stopped(Exception):
    """Unwinds an evaluation to where its Result is made; never leaves the referee."""

    def __init__(self, ruling: Ruling) -> None:
        super().__init__(ruling.reason)
        self.ruling = ruling


def of_fault(fault: Fault, stage: str, failed_build: str | None) -> Ruling:
    """The solution raised. `failed_build` explains a build that failed before, in the same stage."""
    if fault.kind == "memory":
        return Ruling("out_of_memory", f"{_during(stage)}: {fault.message}", fault.traceback)
    if stage == "load":
        if failed_build is not None:
            return Ruling("build_failed", failed_build, fault.traceback)
        if fault.kind == "exit":
            return Ruling("load_failed", "it ends the process while it is imported or constructed", fault.traceback)
        return Ruling("load_failed", fault.message, fault.traceback if fault.kind != "missing" else "")
    if fault.kind == "exit":
        return Ruling("crashed", "it ends the process in a call", fault.traceback)
    return Ruling("crashed", f"{_during(stage)}: {fault.message}", fault.traceback)


def of_end(ended: Ended | None, stage: str, processes: int) -> Ruling:
    """Its process is gone."""
    verdict: Verdict = "load_failed" if stage == "load" else "crashed"
    if ended is None:
        return Ruling(verdict, f"its process is gone {_during(stage)}")
    if ended.limit == "memory":
        return Ruling("out_of_memory", f"it took more memory than it may {_during(stage)}")
    if ended.limit == "processes":
        return Ruling(verdict, f"it started more than {processes} processes {_during(stage)}")
    if ended.signal is not None:
        return Ruling(verdict, f"its process ended by {_signal_name(ended.signal)} {_during(stage)}")
    return Ruling(verdict, f"its process ended with exit code {ended.code} {_during(stage)}")


def of_deadline(stage: str, seconds: float) -> Ruling:
    return Ruling("timed_out", f"{stage} took longer than {seconds:g} s")


def of_protocol(what: str) -> Ruling:
    return Ruling("cheated", f"it sent a message that breaks the protocol: {what}")


def of_mismatch(mismatch: Mismatch) -> Ruling:
    return Ruling("wrong", mismatch.summary, mismatch=mismatch)


def _during(stage: str) -> str:
    return {
        "load": "while it is imported or constructed",
        "first-call": "in its first call",
        "call": "in a call",
    }.get(stage, f"during {stage}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
