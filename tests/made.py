"""Results, pairs and judges made of thin air, for tests of what is done with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kbench.errors import KbenchError
from kbench.records import (
    Attestation,
    BaselineTiming,
    DeviceInfo,
    Environment,
    ProblemRef,
    Result,
    Run,
    Settings,
    SolutionRef,
    Speedup,
    Timing,
    Verdict,
    Warn,
)
from kbench.sweep.events import Place
from kbench.sweep.pair import Kind, Pair, key

H200 = DeviceInfo(kind="cuda", name="NVIDIA H200", index=0, capability="9.0")
CPU = DeviceInfo(kind="cpu", name="AMD EPYC", threads=2)
TORCH = Environment("0.1.0", "3.12.3", "2.11.0+cu130", "13.0", "13.0", "13.3.0", "Linux")


def result(
    problem: str = "fusion/add",
    solution: str = "a",
    verdict: Verdict = "passed",
    speedup: float = 1.0,
    spread: float = 0.02,
    workload: str = "default",
    of_set: str | None = None,
    finished: str = "2026-01-01T00:00:00.000000Z",
    device: DeviceInfo = H200,
    environment: Environment = TORCH,
    sha: str = "p1",
    seed: int | None = None,
    noisy: bool = False,
    median_ms: float | None = None,
) -> Result:
    median = median_ms if median_ms is not None else 1.0 / speedup
    passed = verdict == "passed"
    timing = Timing(
        median_ms=median,
        ci95_ms=(median * (1 - spread), median * (1 + spread)),
        samples_ms=((median,),),
        rounds=20,
        calls_per_round=8,
        slots=8,
        stopped="tight",
        cache="flushed",
        inputs="fresh",
        processes=1,
        process_term=0.005,
    )
    return Result(
        verdict=verdict,
        reason=None if passed else f"it is {verdict}",
        problem=ProblemRef(id=problem, sha256=sha, workload=workload),
        solution=SolutionRef(id=solution, sha256="s1", weights="loaded"),
        device=device,
        environment=environment,
        seed=seed,
        seeds=(7,),
        timing=timing if passed else None,
        baselines={"eager": BaselineTiming(1.0, (0.99, 1.01))} if passed else {},
        speedup={"eager": Speedup(speedup, (speedup * (1 - spread), speedup * (1 + spread)))} if passed else {},
        attestation=Attestation("attested", "events-bounded") if passed else None,
        warnings=(Warn("noisy", "times vary", "close what runs"),) if noisy else (),
        settings=Settings(baselines=("eager",)),
        run=Run(key=f"{problem}{workload}{of_set}{solution}"[-16:], finished=finished, solution=solution, set=of_set),
    )


def pair(
    problem: str = "p", solution: str = "s", workload: str = "default", device: Kind = "cuda", **changes: object
) -> Pair:
    settings = Settings(baselines=("eager",), **changes)  # type: ignore[arg-type]
    return Pair(problem, problem, "ps", solution, solution, "ss", None, workload, device, settings)


class FakeJudge:
    """Does what `script` says for a pair: returns a result, or raises."""

    def __init__(self, device: str, script: Callable[[str, Pair], None], alive: Callable[[str], None]) -> None:
        self.device = device
        self.script = script
        self.alive = alive
        self.closed = False

    def start(self) -> Place:
        self.alive(self.device)
        return (CPU if self.device == "cpu" else H200), TORCH

    def evaluate(self, pair: Pair, entered: Callable[[str], None]) -> Result:
        entered("check")
        self.script(self.device, pair)
        made = result(problem=pair.problem_id, solution=pair.solution_id, workload=pair.workload)
        place = self.start()
        run = Run(key=key(pair, *place), finished="2026-01-01T00:00:00.000000Z", solution=pair.solution)
        return Result(**{name: getattr(made, name) for name in made.__struct_fields__ if name != "run"}, run=run)

    def close(self) -> None:
        self.closed = True


class NoBuilder:
    def build(self, pair: Pair) -> None:
        pass

    def close(self) -> None:
        pass


def nothing(*_: object) -> None:
    pass


def raising(error: KbenchError) -> Callable[..., None]:
    def raise_it(*_: object) -> None:
        raise error

    return raise_it


def collection(folder: Path, count: int = 3) -> Path:
    """A root with two problems and some solutions of each, small enough to be evaluated in no time."""
    problem = (Path(__file__).parent / "fixtures" / "affine.py").read_text()
    for name in ("one", "two"):
        (folder / "problems" / "easy").mkdir(parents=True, exist_ok=True)
        (folder / "problems" / "easy" / f"{name}.py").write_text(problem + f"# {name}\n")
        for number in range(count):
            target = folder / "solutions" / "easy" / name / f"plain_{number}.py"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(problem.replace("class Model(", "class ModelNew(") + f"# {number}\n")
    return folder
