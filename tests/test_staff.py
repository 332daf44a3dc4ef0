"""The workers that a referee keeps ready, held against a zygote whose workers take their time to rise."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from kbench.device.cpu import Cpu
from kbench.jail import layers, zygote
from kbench.protocol import Done
from kbench.referee.staff import Staff
from kbench.wire import Channel, pair

RISING_S = 0.4


def rise(channel: Channel) -> None:
    while time.process_time() < RISING_S:
        pass
    channel.send(Done())
    channel.receive(Done)


@pytest.fixture
def staff() -> Iterator[Staff]:
    ours, theirs = pair(right_accepts_fds=True)
    pid = os.fork()
    if pid == 0:
        ours.close()
        zygote.serve(theirs, rise)
    theirs.close()
    staff = Staff(ours, Cpu(), *layers.probe())
    yield staff
    staff.dismiss()
    ours.close()
    os.waitpid(pid, 0)


def test_a_spare_that_rises_stands_still_while_something_is_timed(staff: Staff) -> None:
    staff.stock(1)
    began = time.monotonic()
    with staff.quiet():
        assert time.monotonic() - began < RISING_S / 2  # nobody waits for it
        time.sleep(2 * RISING_S)
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
