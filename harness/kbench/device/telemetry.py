"""Clocks, temperature, power and throttling around a round, and who else uses the device. Read, never set."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import time
from pathlib import Path
from typing import Any, Protocol

from kbench.records import Telemetry

# Bits of NVML's clock event reasons that slow a GPU down against its will.
THROTTLES = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "thermal (software)",
    0x40: "thermal (hardware)",
    0x80: "power brake",
}
QUERY = "clocks.sm,temperature.gpu,power.draw,clocks_throttle_reasons.active"
SMI_EVERY_S = 0.5


class Probe(Protocol):
    def sample(self) -> Telemetry | None:
        """The device now; None where there is nothing new to tell."""

    def foreign(self) -> list[int]:
        """Processes on the device that are not ours."""


class HostProbe:
    """A CPU tells nothing: no clocks, and not who else uses it."""

    def sample(self) -> Telemetry | None:
        return None

    def foreign(self) -> list[int]:
        return []


class GpuProbe:
    """NVML if it can be imported, else nvidia-smi, which takes a twentieth of a second and so is asked rarely."""

    def __init__(self, uuid: str) -> None:
        self.uuid = uuid
        self._nvml = Nvml.open(uuid)
        self._asked = 0.0

    def sample(self) -> Telemetry | None:
        if self._nvml:
            return self._nvml.sample()
        if time.monotonic() - self._asked < SMI_EVERY_S:
            return None
        self._asked = time.monotonic()
        return parsed(self._smi(f"--query-gpu={QUERY}"))

    def foreign(self) -> list[int]:
        pids = self._nvml.pids() if self._nvml else _pids(self._smi("--query-compute-apps=pid"))
        return [pid for pid in pids if not _is_ours(pid)]

    def _smi(self, query: str) -> str:
        return smi(f"--id={self.uuid}", query, "--format=csv,noheader,nounits", seconds=10) or ""


class Nvml:
    """The library, and one GPU by it."""

    def __init__(self, library: Any, handle: Any) -> None:
        self.library = library
        self.handle = handle

    @classmethod
    def open(cls, uuid: str) -> Nvml | None:
        try:
            import pynvml
        except ImportError:
            return None
        try:
            pynvml.nvmlInit()
            return cls(pynvml, pynvml.nvmlDeviceGetHandleByUUID(uuid))
        except pynvml.NVMLError:
            return None

    def sample(self) -> Telemetry:
        lib, handle = self.library, self.handle
        power = self._ask(lib.nvmlDeviceGetPowerUsage, handle)
        return Telemetry(
            sm_mhz=self._ask(lib.nvmlDeviceGetClockInfo, handle, lib.NVML_CLOCK_SM),
            temperature_c=self._ask(lib.nvmlDeviceGetTemperature, handle, lib.NVML_TEMPERATURE_GPU),
            power_w=None if power is None else power / 1000,
            throttle=reasons(self._ask(lib.nvmlDeviceGetCurrentClocksThrottleReasons, handle) or 0),
        )

    def pids(self) -> list[int]:
        processes = self._ask(self.library.nvmlDeviceGetComputeRunningProcesses, self.handle) or []
        return [process.pid for process in processes]

    def _ask(self, function: Any, *arguments: Any) -> Any:
        with contextlib.suppress(self.library.NVMLError):
            return function(*arguments)
        return None


def has_nvml() -> bool:
    return importlib.util.find_spec("pynvml") is not None


def gpus() -> list[str]:
    """`cuda:0`, ... for each GPU that this process may see. Asked without touching CUDA."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        count = len([part for part in visible.split(",") if part.strip() not in ("", "-1")])
    else:
        count = len(_listed("name"))
    return [f"cuda:{number}" for number in range(count)]


def capability() -> str | None:
    """Of the first GPU, as `9.0`; None where there is none. Asked without touching CUDA."""
    lines = _listed("compute_cap")
    return lines[0] if lines else None


def _listed(field: str) -> list[str]:
    """A field of every GPU of this machine."""
    return (smi(f"--query-gpu={field}", "--format=csv,noheader") or "").splitlines()


def smi(*arguments: str, seconds: float = 20.0) -> str | None:
    """What nvidia-smi says to these; None where there is none, or it does not answer."""
    try:
        run = subprocess.run(["nvidia-smi", *arguments], capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout if run.returncode == 0 else None


def reasons(bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in THROTTLES.items() if bits & bit)


def parsed(line: str) -> Telemetry | None:
    """What nvidia-smi says to QUERY; None where that is something else."""
    fields = [field.strip() for field in line.split(",")]
    if len(fields) != 4:
        return None
    clock, temperature, power, bits = fields
    return Telemetry(
        sm_mhz=int(clock) if clock.isdigit() else None,
        temperature_c=int(temperature) if temperature.isdigit() else None,
        power_w=float(power) if power.replace(".", "", 1).isdigit() else None,
        throttle=reasons(int(bits, 16)) if bits.startswith("0x") else (),
    )


def _pids(text: str) -> list[int]:
    return [int(line) for line in text.split() if line.isdigit()]


def _is_ours(pid: int) -> bool:
    """Whether this process is among the ancestors of `pid`. Those that cannot be seen are not ours."""
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError, ValueError):
            return False
    return False
