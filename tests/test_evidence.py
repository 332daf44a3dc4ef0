from __future__ import annotations

import pytest
from kbench.protocol import Span, Traced
from kbench.records import Build, Evidence, Extension, Kernel
from kbench.referee import evidence


def built(*names: str) -> Build:
    kernels = tuple(Kernel(name, "sm_90", 32, 0, 0, 0, 0) for name in names)
    return Build(1.0, False, "light", (Extension("mine", "key", False, 1.0, "sha", kernels=kernels),))


def kernel(name: str, ms: float) -> Span:
    return Span(name, "kernel", 1, ms)


def share(build: Build, *spans: Span) -> float:
    found = evidence.weigh(Traced(1.0, spans), build, "cuda")
    assert found
    return found.own_share


def test_kernels_that_the_builder_made_are_the_solutions_own() -> None:
    theirs = kernel("void at::native::elementwise(int)", 3.0)
    assert (
        share(built("void mine<float>(float const*, int)"), kernel("void mine<float>(float const*,int)", 1.0), theirs)
        == 0.25
    )
    assert share(built(), kernel("mine(float*)", 1.0), theirs) == 0.0
    assert share(built(), Span("mine", "triton", 1, 1.0), theirs) == 0.25
    assert share(built(), Span("triton_poi_fused_0", "generated", 1, 1.0), theirs) == 0.0


def test_a_kernel_with_the_name_of_a_library_is_the_librarys() -> None:
    names = ("void at::native::elementwise(int)", "nvjet_tst_128x64", "sm90_xmma_gemm")
    assert share(built(*names), *(kernel(name, 1.0) for name in names)) == 0.0


def test_long_calls_and_gpus_are_watched_once() -> None:
    assert [evidence.passes("cpu", ms, True) for ms in (0.0, 5.0, 100.0, 2000.0)] == [8, 8, 4, 1]
    assert evidence.passes("cpu", 1.0, False) == 2
    assert evidence.passes("cuda", 1.0, True) == 1


def test_nothing_seen_is_no_evidence() -> None:
    assert evidence.weigh(Traced(1.0, ()), built(), "cuda") is None
    assert evidence.weigh(Traced(1.0, (kernel("mine", 0.0),)), built("mine"), "cuda") is None


@pytest.mark.parametrize(
    ("spans", "extensions", "own"),
    [
        ((Span("mine", "own", 1, 1.0), Span("aten::mm", "library", 1, 3.0)), True, 0.25),
        ((Span("aten::mm", "library", 1, 3.0),), True, 0.7),
        ((Span("aten::mm", "library", 1, 3.0),), False, 0.0),
        ((), True, 1.0),
        ((), False, 0.0),
        ((Span("aten::mm", "library", 2, 20.0),), True, 0.0),  # in several threads
    ],
)
def test_on_a_cpu_what_is_not_seen_is_its_own_where_it_built_something(
    spans: tuple[Span, ...], extensions: bool, own: float
) -> None:
    found = evidence.weigh(Traced(10.0, spans), built() if extensions else Build(0.0, False, "none"), "cpu")
    assert found and found.own_share == pytest.approx(own)


@pytest.mark.parametrize(
    ("own_ms", "custom_kernel", "timed_ms", "reason"),
    [
        (0.0, False, None, None),
        (0.0, True, None, "0% of the time"),
        (0.05, True, None, "5% of the time"),
        (0.2, True, None, None),
        (0.2, 0.5, None, "20% of the time is spent in kernels of its own, the problem asks for 50%"),
        (0.6, 0.5, 1.0, None),
        (0.6, 0.5, 0.3, "the traced call ran 1 ms of kernels, a timed one takes 0.3 ms"),
    ],
)
def test_what_a_problem_that_asks_for_kernels_says(
    own_ms: float, custom_kernel: bool | float, timed_ms: float | None, reason: str | None
) -> None:
    found = evidence.weigh(Traced(1.0, (kernel("mine", own_ms), kernel("nvjet", 1.0 - own_ms))), built("mine"), "cuda")
    ruling = evidence.policy(found, custom_kernel, timed_ms)
    if reason is None:
        assert ruling is None
    else:
        assert ruling and ruling.verdict == "wrong" and ruling.reason.startswith("policy: ") and reason in ruling.reason


def test_a_problem_that_asks_for_kernels_wants_to_see_one() -> None:
    ruling = evidence.policy(None, True, 1.0)
    assert ruling and ruling.verdict == "wrong"
    assert evidence.policy(None, False, 1.0) is None


def test_a_gpu_waits_where_kernels_fill_little_of_a_call() -> None:
    seen = Evidence(own_share=0.0, ms=0.82, ran=())
    assert evidence.idle_share(seen, 5.2) == pytest.approx(0.842, abs=1e-3)
    assert evidence.idle_share(seen, 0.95) is None
    assert evidence.idle_share(seen, 0.8) is None  # being watched, kernels take longer
    assert evidence.idle_share(None, 5.2) is None
