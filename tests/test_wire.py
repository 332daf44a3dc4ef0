from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import struct
import threading

import msgspec
import pytest
from kbench.jail import linux
from kbench.jail.layers import most_open_files
from kbench.protocol import Done, FromWorker, Returned
from kbench.tree import TensorSpec
from kbench.wire import Channel, Closed, Late, Malformed, pair


def test_a_message_with_descriptors() -> None:
    left, right = pair(right_accepts_fds=True)
    reader, writer = os.pipe()
    left.send(Returned(outputs=TensorSpec(shape=(2,), dtype="float32"), copied=True), (reader,))
    assert right.receive(FromWorker, 1.0).copied
    (got,) = right.take_fds(1)
    os.write(writer, b"x")
    assert os.read(got, 1) == b"x"


def test_descriptors_from_the_other_side_are_not_taken_in() -> None:
    left, right = pair()
    before = len(os.listdir("/proc/self/fd"))
    left.send(Done(), (0, 1, 2))
    right.receive(FromWorker, 1.0)
    assert right.fds == []
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"Passed"}',
        b'{"type":"Done","more":1}',
        b'{"type":"Returned","outputs":{"type":"tensor","shape":["a"],"dtype":"f"},"copied":true}',
        b"[" * 5000,
        b"\xff\xfe",
        b"",
        b'{"type":"Returned","outputs":' + b'{"type":"nest","kind":"list","children":[' * 3000,
    ],
    ids=lambda data: repr(data[:30]),
)
def test_what_is_no_message_is_malformed(data: bytes) -> None:
    left, right = pair()
    left.sock.sendall(struct.pack("!I", len(data)) + data)
    with pytest.raises(Malformed):
        right.receive(FromWorker, 1.0)


def test_a_length_past_the_limit_is_not_read() -> None:
    left, right = pair()
    left.sock.sendall(struct.pack("!I", 2**31))
    with pytest.raises(Malformed, match="bytes"):
        right.receive(FromWorker, 1.0)


def test_a_deadline_covers_the_whole_message() -> None:
    left, right = pair()
    data = msgspec.json.encode(Done())
    left.sock.sendall(struct.pack("!I", len(data)) + data[:3])
    with pytest.raises(Late):
        right.receive(FromWorker, 0.1)


def test_the_end_is_noticed_on_both_ways() -> None:
    left, right = pair()
    right.close()
    with pytest.raises(Closed):
        left.receive(FromWorker, 1.0)
    with pytest.raises(Closed):
        left.send(Done())


def test_a_reader_that_never_reads_does_not_hold_us_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kbench.wire.SEND_TIMEOUT_S", 0.2)
    left, _right = pair()
    big = Returned(outputs=TensorSpec(shape=tuple(range(1_000_000)), dtype="f"), copied=True)
    done = threading.Event()

    def send() -> None:
        with pytest.raises((Late, Closed)):
            left.send(big)
        done.set()

    threading.Thread(target=send, daemon=True).start()
    assert done.wait(10)


def test_an_idle_channel_says_so() -> None:
    left, right = pair()
    assert isinstance(left, Channel)
    assert not right.waiting()
    left.send(Done())
    assert right.waiting()


def test_descriptors_that_a_worker_leaves_in_sockets_leave_the_referee_some() -> None:
    """The kernel counts those of a user together. Privileged users are exempt, so this is tried as nobody."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            if os.getuid() == 0:
                os.setresuid(65534, 65534, 65534)
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            waiting = _left_in_sockets(most_open_files(most))
            left, right = pair(right_accepts_fds=True)
            left.send(Done(), [0, 1, 2])
            right.receive(Done, 1.0)
            os._exit(0 if waiting > 1000 and len(right.take_fds(3)) == 3 else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _left_in_sockets(limit: int) -> int:
    """How many a process with this limit can leave there. It stays until its parent is gone."""
    told, tell = os.pipe()
    if os.fork() == 0:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        left, _right = socket.socketpair()
        left.setblocking(False)
        count = 0
        with contextlib.suppress(OSError):
            while True:
                socket.send_fds(left, [b"x"], [0] * 250)
                count += 250
        os.write(tell, str(count).encode())
        signal.pause()
    os.close(tell)
    return int(os.read(told, 20))


def test_a_channel_works_beyond_a_thousand_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        left, right = pair()
        assert left.fileno() > 1024 and not left.waiting()
        right.send(Done())
        assert left.waiting() and left.receive(Done, 1.0) == Done()
        left.close()
        right.close()
    finally:
        for fd in held:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
