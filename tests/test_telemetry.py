"""What a device says of itself, by whichever tool there is, and whose processes are on it."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kbench.device import telemetry
from kbench.device.telemetry import GpuProbe, Nvml, parsed
from kbench.records import Telemetry


class NVMLError(Exception):
    pass


class Library:
    """NVML where some questions are not answered."""

    NVMLError = NVMLError
    NVML_CLOCK_SM, NVML_TEMPERATURE_GPU = 1, 0

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def __getattr__(self, name: str) -> Any:
        def ask(*_: object) -> Any:
            if name not in self.answers:
                raise NVMLError
            return self.answers[name]

        return ask


def test_nvml_says_clock_temperature_power_and_what_holds_it_back() -> None:
    library = Library(
        nvmlDeviceGetClockInfo=1980,
        nvmlDeviceGetTemperature=41,
        nvmlDeviceGetPowerUsage=123_400,
        nvmlDeviceGetCurrentClocksThrottleReasons=0x04 | 0x40 | 0x01,
    )
    assert Nvml(library, None).sample() == Telemetry(1980, 41, 123.4, ("power cap", "thermal (hardware)"))


def test_what_nvml_does_not_say_is_absent_and_not_zero() -> None:
    assert Nvml(Library(), None).sample() == Telemetry(None, None, None, ())
    assert Nvml(Library(), None).pids() == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("1980, 41, 123.40, 0x0000000000000004\n", Telemetry(1980, 41, 123.4, ("power cap",))),
        ("1980, 41, [N/A], [N/A]\n", Telemetry(1980, 41, None, ())),
        ("[Unknown Error], [N/A], 70.10, 0x0000000000000000\n", Telemetry(None, None, 70.1, ())),
        ("", None),
        ("No devices were found\n", None),
    ],
)
def test_nvidia_smi_is_read_as_far_as_it_answers(line: str, found: Telemetry | None) -> None:
    assert parsed(line) == found


def test_without_a_tool_nothing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert telemetry.smi("--help") is None
    assert telemetry.gpus() == [] and telemetry.capability() is None


@pytest.mark.parametrize(("visible", "count"), [("", 0), ("-1", 0), ("2", 1), ("0,3", 2)])
def test_only_gpus_that_may_be_seen_are_counted(visible: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert telemetry.gpus() == [f"cuda:{number}" for number in range(count)]


def test_a_process_is_ours_by_its_ancestors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Nvml, "open", lambda uuid: SimpleNamespace(pids=lambda: [os.getpid(), os.getppid(), 2**30]))
    assert GpuProbe("GPU-0").foreign() == [os.getppid(), 2**30]


def test_nvidia_smi_is_slow_and_so_asked_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def smi(*arguments: str, seconds: float) -> str:
        asked.append(arguments)
        return "1980, 41, 123.40, 0x0"

    monkeypatch.setattr(Nvml, "open", lambda uuid: None)
    monkeypatch.setattr(telemetry, "smi", smi)
    probe = GpuProbe("GPU-0")
    samples = [probe.sample() for _ in range(3)]
    assert samples == [Telemetry(1980, 41, 123.4, ()), None, None]
    assert asked == [("--id=GPU-0", f"--query-gpu={telemetry.QUERY}", "--format=csv,noheader,nounits")]
