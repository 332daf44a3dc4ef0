from __future__ import annotations

import os
import resource
import struct
import threading

import msgspec
import pytest
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
