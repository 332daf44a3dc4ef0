"""The workers that a referee keeps ready, held against a zygote whose workers take their time to rise."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from kbench.device.cpu import Cpu
from kbench.device.memory import HostMemory
from kbench.errors import MachineFault
from kbench.jail import layers, zygote
from kbench.protocol import Done
from kbench.referee.staff import Staff, first_shared
from kbench.wire import Channel, pair

RISING_S = 1.0


def rise(channel: Channel) -> None:
    if os.environ.get("CROWD") == "unseen":
        raise RuntimeError("it sees no device")
    while time.process_time() < RISING_S:
        pass
    channel.send(Done())
    channel.receive(Done)


class Crowded(Cpu):
    """One of several devices, which its workers only find among the others."""

    def has_neighbours(self) -> bool:
        return True

    def environment(self, alone: bool) -> dict[str, str]:
        return {"CROWD": "unseen" if alone else "seen"}


class Unshared(Cpu):
    def allocate(self, count: int) -> HostMemory:
        raise RuntimeError("cuMemCreate failed with CUDA driver error 801")


def test_a_device_without_shared_memory_is_a_fault_of_the_machine() -> None:
    with pytest.raises(MachineFault, match="no memory to share with other processes: cuMemCreate") as fault:
        first_shared(Unshared())
    assert fault.value.fix


@pytest.fixture
def staff(request: pytest.FixtureRequest) -> Iterator[Staff]:
    ours, theirs = pair(right_accepts_fds=True)
    pid = os.fork()
    if pid == 0:
        ours.close()
        zygote.serve(theirs, rise)
    theirs.close()
    staff = Staff(ours, getattr(request, "param", Cpu)(), *layers.probe())
    yield staff
    staff.dismiss()
    ours.close()
    os.waitpid(pid, 0)


def test_a_spare_that_rises_stands_still_while_something_is_timed(staff: Staff) -> None:
    staff.stock(1)
    began = time.monotonic()
    with staff.quiet():
        assert time.monotonic() - began < RISING_S / 2  # nobody waits for it
        time.sleep(1.2 * RISING_S)
    spare = staff._spares[0]
    assert not spare.has_risen()
    assert staff.hire() is spare and spare.has_risen()
    spare.end()


def test_one_that_has_risen_is_left_alone(staff: Staff) -> None:
    staff.stock(1)
    spare = staff._spares[0]
    assert spare.is_up()
    with staff.quiet():
        assert spare.is_up() and staff.hire() is spare
    spare.end()


def test_the_one_that_began_first_is_handed_out_first(staff: Staff) -> None:
    staff.stock(2)
    first, second = staff._spares
    assert [staff.hire(), staff.hire()] == [first, second]
    first.end()
    second.end()


def test_one_that_died_is_not_handed_out(staff: Staff) -> None:
    staff.stock(1)
    dead = staff._spares[0]
    dead.control.sock.shutdown(1)  # its keeper then ends everything in its jail
    handle = staff.hire()
    assert handle is not dead and handle.is_up()
    handle.end()


@pytest.mark.parametrize("staff", [Crowded], indirect=True)
def test_where_workers_cannot_do_without_other_devices_they_see_them_and_it_is_said(staff: Staff) -> None:
    staff.stock(2)
    assert "one_gpu" not in staff.jail()
    worker = staff.hire()
    assert worker.is_up()
    assert "it sees no device" in staff.jail()["one_gpu"] and "one_gpu" in staff.lacking
    staff.stock(1)
    again = staff.hire()
    assert again.is_up()
    worker.end()
    again.end()


class Parted:
    closed = False

    def leave(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def test_workers_that_were_parted_with_do_not_pile_up(staff: Staff) -> None:
    """As when one solution after the other fails before it is timed."""
    sides = [Parted() for _ in range(50)]
    for side in sides:
        staff.part(side)  # type: ignore[arg-type]
    assert sum(not side.closed for side in sides) <= 4
    staff.see_off()
    assert all(side.closed for side in sides)


@pytest.mark.parametrize("free, waited", [(0.9, False), (0.5, True)])
def test_where_much_memory_is_taken_those_who_leave_are_waited_for(
    free: float, waited: bool, staff: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A solution may have taken most of it, for which the next problem must not be called too large."""
    whole = staff.device.info().memory_bytes or 0
    monkeypatch.setattr(staff.device, "free_bytes", lambda: int(free * whole))
    side = Parted()
    staff.part(side)  # type: ignore[arg-type]
    staff.make_room()
    assert side.closed == waited
    staff.see_off()
