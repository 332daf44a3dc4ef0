"""The workers of this referee: how they are confined, and one more than is needed kept ready."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator

from kbench.device.interface import Device, Shared
from kbench.errors import MachineFault
from kbench.jail import landlock
from kbench.jail.launch import Plan
from kbench.jail.layers import LAYERS, Limits
from kbench.jail.zygote import Import
from kbench.machine import available_memory
from kbench.referee.handle import Handle
from kbench.referee.side import Side
from kbench.settings import COMPILED
from kbench.wire import Channel

MEMORY_SHARE = 0.7
ROOM_SHARE = 0.25
ONE_GPU = "one_gpu"
MOST_PARTING = 4
FOR_GRADIENTS = "torch.fx.experimental.symbolic_shapes"
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "TZ", "OMP_NUM_THREADS")


class Staff:
    def __init__(self, zygote: Channel, device: Device, layers: frozenset[str], lacking: dict[str, str]) -> None:
        self.zygote = zygote
        self.device = device
        self.layers = layers
        self.lacking = lacking
        self.spares = 0  # how many to keep ready while others work
        self._alone = device.has_neighbours()  # and workers shall not reach them
        self._plan = self._make_plan()
        self._first = first_shared(device)  # kept for good
        self._spares: list[Handle] = []
        self._parting: list[Side] = []
        self._vacating: Side | None = None
        self._experienced: Handle | None = None
        self._for_gradients = FOR_GRADIENTS in sys.modules  # where it was imported before the zygote split off

    def hire(self) -> Handle:
        """A worker that is up or about to be."""
        while self._spares:
            spare = self._spares.pop(0)  # the one that has had the most time to rise
            if spare.is_up():
                return spare
            spare.end()
        fresh = Handle(self.zygote, self._plan)
        if fresh.is_up():
            return fresh
        log = fresh.log().strip().splitlines()
        fresh.end()
        why = log[-1] if log else "it ends without a word"
        if self._alone:
            # Its driver may want to see the other GPUs too.
            self._alone, self.lacking = False, {**self.lacking, ONE_GPU: why}
            self._plan = self._make_plan()
            return self.hire()
        raise MachineFault(f"a worker cannot be started in its jail here: {why}", "see kbench doctor")

    def hire_again(self) -> Handle:
        """A worker for a baseline: the one that served the problem before, where it went on."""
        self._regain()
        known, self._experienced = self._experienced, None
        if known and known.is_up():
            return known
        if known:
            known.end()
        return self.hire()

    def retire(self, side: Side) -> None:
        """The end of a baseline's problem. Its worker, which never ran a solution, can go on to the next one.

        A process with a context on a GPU takes half a second to make, and holds the driver's one lock meanwhile,
        for which the referees of all other GPUs then wait.
        """
        taken = self._vacating or self._experienced
        if self.spares and not taken and side.name not in COMPILED and side.is_idle():
            side.vacate()
            self._vacating = side
        else:
            self.part(side)

    def _regain(self) -> None:
        """Waits until a retired worker has let go of its problem."""
        side, self._vacating = self._vacating, None
        if side and side.vacated():
            self._experienced = side.handle
        elif side:
            self.part(side)

    def stock(self, count: int) -> None:
        """Starts spare workers, so that the next ones cost no waiting."""
        while len(self._spares) < count:
            self._spares.append(Handle(self.zygote, self._plan))

    def expect_gradients(self) -> None:
        """The first backward pass of a convolution imports this, for 0.3 s, and leaves much to collect every round."""
        if not self._for_gradients:
            self._for_gradients = True
            self.dismiss()
            self.zygote.send(Import(module=FOR_GRADIENTS))
            importlib.import_module(FOR_GRADIENTS)  # the reference needs it as well

    def restock(self) -> None:
        self.stock(self.spares)

    def part(self, side: Side) -> None:
        """Ends a side. Its process is killed at once; until the device has let go of it there is other work to do."""
        side.leave()
        self._parting.append(side)
        if len(self._parting) > MOST_PARTING:  # where nothing comes to be timed for a long while
            self._parting.pop(0).close()

    def see_off(self) -> None:
        """Waits until those that were parted with are gone, and frees what was shared with them."""
        self._regain()
        for side in self._parting:
            side.close()
        self._parting = []

    def make_room(self) -> None:
        """Waits for those that were parted with only where much of the memory is taken, which may be by them."""
        if self.device.free_bytes() < (1 - ROOM_SHARE) * (self.device.info().memory_bytes or 0):
            self.see_off()

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """While something is timed nobody leaves, and spares that are not up yet stand still."""
        self.see_off()
        rising = [spare for spare in self._spares if not spare.has_risen()]
        for spare in rising:
            spare.freeze()
        try:
            yield
        finally:
            for spare in rising:
                spare.thaw()

    def dismiss(self) -> None:
        self._regain()
        for handle in (*self._spares, self._experienced):
            if handle:
                handle.end()
        self._spares, self._experienced = [], None

    def demand_jail(self) -> None:
        if self.lacking:
            what = ", ".join(f"{name} ({why})" for name, why in self.lacking.items())
            raise MachineFault(f"the jail lacks layers here: {what}", "run without --require-jail, or as root")

    def jail(self) -> dict[str, str]:
        """Each layer and what became of it, for the result."""
        worn = {name: "on" if name in self.layers else f"off: {self.lacking[name]}" for name in LAYERS}
        return worn | ({ONE_GPU: f"off: {self.lacking[ONE_GPU]}"} if ONE_GPU in self.lacking else {})

    def _make_plan(self) -> Plan:
        limits = Limits(memory_bytes=int(MEMORY_SHARE * available_memory()), data_limit=self.device.kind == "cpu")
        return Plan(
            layers=tuple(sorted(self.layers)),
            limits=limits,
            reads=landlock.readable(),
            ways=landlock.named(),
            nodes=self.device.nodes(self._alone),
            environment={**_passed_on(PASSED_ON), **self.device.environment(self._alone)},
            name="kbench.worker",
        )


def first_shared(device: Device) -> Shared:
    """Taken before any solution runs. A GPU's driver files what all processes share under numbers, in the name of the
    one that shared first: that one could open all of it.
    """
    try:
        return device.allocate(1)
    except (RuntimeError, MemoryError) as error:
        raise MachineFault(
            f"{device.info().name} has no memory to share with other processes: {error}",
            "end what else uses it (kbench doctor names that); on a GPU sharing needs Linux and its own driver",
        ) from None


def _passed_on(names: Iterable[str]) -> dict[str, str]:
    """An allow-list: nothing else of our environment is the worker's business."""
    return {name: os.environ[name] for name in names if name in os.environ}
