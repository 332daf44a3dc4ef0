"""Which pair a device takes next, what is built ahead, and what happens to a pair when a machine fails. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kbench.sweep.pair import Case, Kind, Pair

MOST_FAULTS_IN_A_ROW = 3


@dataclass
class Task:
    """A pair on its way."""

    pair: Pair
    number: int
    built: bool = False
    attempts: int = 0
    failed_on: set[str] = field(default_factory=set)


class Schedule:
    """What is left to do. `take` and `finish` may be called in any order of devices."""

    def __init__(self, pairs: list[Pair], retries: int, planned: Iterable[Pair] = ()) -> None:
        """`planned` are all pairs of the run, those that are done already too."""
        self.retries = retries
        self.waiting = [Task(pair, number) for number, pair in enumerate(pairs)]
        self.running: dict[str, Task] = {}  # by device
        self.building: set[int] = set()
        self.devices: dict[str, Case | None] = {}  # the case that each is warm for
        self.stopped: str | None = None
        self._homes = _numbered([*planned, *pairs])
        self._begun: Counter[str | None] = Counter()  # builds, by the device that is home
        self._faults: dict[str, set[str]] = {}  # by device, the problems that met faults since its last result

    def join(self, device: str) -> None:
        self.devices[device] = None

    def leave(self, device: str) -> list[Pair]:
        """A device is gone. The pairs that nobody can take any more are given up and returned."""
        self.devices.pop(device, None)
        kinds = {kind_of(name) for name in self.devices}
        orphans = [task for task in self.waiting if task.pair.device not in kinds]
        self.waiting = [task for task in self.waiting if task.pair.device in kinds]
        return [task.pair for task in orphans]

    def take(self, device: str) -> Task | None:
        """The next pair for a device: of the case it is warm for, else of one that no other is busy with."""
        able = [task for task in self.waiting if self._may(task, device)]
        # Taking what others have built would only make them wait for their builds in turn; the last one may take long.
        stays = sum(self._is_home(task, device) for task in able) > 1
        ready = [task for task in able if task.built and not (stays and self._is_away(task, device))]
        if self.stopped or not ready:
            return None
        others = {case for name, case in self.devices.items() if name != device}
        chosen = min(ready, key=lambda task: self._rank(task, device, others))
        self.waiting.remove(chosen)
        self.running[device] = chosen
        self.devices[device] = chosen.pair.case
        chosen.attempts += 1
        return chosen

    def to_build(self) -> Task | None:
        """The next pair to build ahead of its turn: every device has its own to wait for."""
        if self.stopped:
            return None
        left = [task for task in self.waiting if not task.built and task.number not in self.building]
        if not left:
            return None
        chosen = min(left, key=lambda task: (self._begun[self._place(task)], task.number))
        self._begun[self._place(chosen)] += 1
        self.building.add(chosen.number)
        return chosen

    def built(self, task: Task) -> None:
        self.building.discard(task.number)
        task.built = True

    def finish(self, device: str) -> None:
        """The pair that ran there has its result."""
        self.running.pop(device)
        self._faults.pop(device, None)

    def refuse(self, device: str) -> None:
        """The pair that ran there cannot be judged, and not because of the machine."""
        self.running.pop(device)

    def fail(self, device: str) -> bool:
        """The machine failed, not the solution. Whether the pair is tried again, on another device if there is one."""
        task = self.running.pop(device)
        task.failed_on.add(device)
        self._faults.setdefault(device, set()).add(task.pair.problem_id)
        if task.attempts > self.retries:
            return False
        self.waiting.insert(0, task)
        return True

    def put_back(self, device: str) -> None:
        """The device was gone before the pair began: that is no attempt."""
        task = self.running.pop(device)
        task.attempts -= 1
        self.waiting.insert(0, task)

    def is_hopeless(self, device: str) -> bool:
        """Several problems in a row met a fault of the machine there: the next ones would too."""
        return len(self._faults.get(device, ())) >= MOST_FAULTS_IN_A_ROW

    def stop(self, why: str) -> None:
        """Nothing more is begun."""
        self.stopped = self.stopped or why

    def idle(self, device: str) -> bool:
        """Whether nothing will ever come for this device."""
        if self.stopped:
            return True
        return not any(task.pair.device == kind_of(device) for task in (*self.waiting, *self.running.values()))

    @property
    def left(self) -> int:
        return len(self.waiting) + len(self.running)

    def _rank(self, task: Task, device: str, others: set[Case | None]) -> tuple[bool | int, ...]:
        """The least is taken first. Who has nothing to do at home takes from the end, where it is missed last."""
        case, away = task.pair.case, self._is_away(task, device)
        return case != self.devices[device], case in others, away, -self._home(task) if away else 0, task.number

    def _home(self, task: Task) -> int:
        return self._homes[task.pair.device, task.pair.problem_id]

    def _is_home(self, task: Task, device: str) -> bool:
        """A problem has its home among the devices, the same in every run of the same plan: two GPUs of one name differ
        by a percent, and more where atomics meet.
        """
        return self._place(task) == device

    def _place(self, task: Task) -> str | None:
        alike = sorted(name for name in self.devices if kind_of(name) == task.pair.device)
        return alike[self._home(task) % len(alike)] if alike else None

    def _is_away(self, task: Task, device: str) -> bool:
        """What a device is warm for, it finishes."""
        return task.pair.case != self.devices[device] and not self._is_home(task, device)

    def _may(self, task: Task, device: str) -> bool:
        """A pair that failed on a device goes elsewhere while there is an elsewhere of its kind."""
        if task.pair.device != kind_of(device):
            return False
        fresh = [name for name in self.devices if kind_of(name) == task.pair.device and name not in task.failed_on]
        return device not in task.failed_on or not fresh


def _numbered(pairs: Iterable[Pair]) -> dict[tuple[Kind, str], int]:
    """The problems of each kind of device, in the order of the plan."""
    numbers: dict[tuple[Kind, str], int] = {}
    of_kind: Counter[Kind] = Counter()
    for pair in pairs:
        if (pair.device, pair.problem_id) not in numbers:
            numbers[pair.device, pair.problem_id] = of_kind[pair.device]
            of_kind[pair.device] += 1
    return numbers


def kind_of(device: str) -> Kind:
    return "cpu" if device == "cpu" else "cuda"
