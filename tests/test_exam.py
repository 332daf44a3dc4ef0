"""What is kept between solutions of one problem: no solution's failure may reach the next one's result."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import AFFINE, BROKEN, HERE, ROOT, quick
from kbench import problem, problem_settings, tree
from kbench.client import Referee
from kbench.device.cpu import Cpu
from kbench.errors import ProblemFault
from kbench.protocol import Constructed
from kbench.referee import truth
from kbench.referee.case import Case
from kbench.referee.evaluate import Evaluation
from kbench.referee.exam import Exam
from kbench.referee.instance import Instance
from kbench.referee.main import SPARES
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.truth import Trial

FAILURES = sorted(
    path
    for path in (BROKEN / "solutions").glob("*.py")
    if path.name.startswith(("load_failed", "wrong", "crashed", "cheated", "out_of_memory"))
)
PLAIN = BROKEN / "solutions" / "passed__plain.py"
SPIN = """        import threading, time
        end = time.monotonic() + 0.5
        def spin():
            square = torch.ones(256, 256)
            while time.monotonic() < end:
                square @ square
        for _ in range(3):
            threading.Thread(target=spin, daemon=True).start()
"""


@pytest.fixture(scope="module")
def warm() -> Iterator[Referee]:
    with Referee("cpu", root=str(ROOT)) as referee:
        yield referee


@pytest.mark.parametrize("failure", FAILURES, ids=lambda path: path.stem)
def test_after_every_kind_of_failure_the_next_solution_passes(failure: Path, warm: Referee) -> None:
    (broken,) = warm.evaluate(AFFINE, failure, settings=quick())
    assert broken.verdict != "passed"
    (good,) = warm.evaluate(AFFINE, PLAIN, settings=quick())
    assert good.verdict == "passed", (failure.stem, good.reason, good.log)


def test_the_first_failure_does_not_spoil_a_fresh_exam() -> None:
    for name in ("load_failed__syntax", "crashed__raises_at_the_third_call", "wrong__shape"):
        with Referee("cpu", root=str(ROOT)) as referee:
            referee.evaluate(AFFINE, next((BROKEN / "solutions").glob(f"{name}*")), settings=quick())
            assert referee.evaluate(AFFINE, PLAIN, settings=quick())[0].verdict == "passed", name


def test_it_is_kept_for_the_same_problem_and_its_seeds_say_so(warm: Referee) -> None:
    first, second = (warm.evaluate(AFFINE, PLAIN, settings=quick())[0] for _ in range(2))
    assert second.seeds[0] == first.seeds[0] and second.seeds[-1] != first.seeds[-1]
    other = warm.evaluate(AFFINE, PLAIN, settings=quick(trials=3))[0]
    assert other.seeds[0] != first.seeds[0] and other.check and other.check.trials > (first.check or other.check).trials
    seeded = warm.evaluate(AFFINE, PLAIN, settings=quick(seed=5))[0]
    assert seeded.seeds == (5,)
    again = warm.evaluate(AFFINE, PLAIN, settings=quick())[0]
    assert again.seeds[0] not in (5, first.seeds[0])


def test_solutions_whose_weights_differ_share_an_exam(warm: Referee, tmp_path: Path) -> None:
    """One takes the reference's weights, the next one cannot: each is held to what it can have."""
    other = tmp_path / "other.py"
    other.write_text(AFFINE.read_text().replace("class Model(", "class ModelNew(").replace("self.weight", "self.scale"))
    verdicts = [warm.evaluate(AFFINE, path, settings=quick())[0] for path in (PLAIN, other, PLAIN, other)]
    assert [one.verdict for one in verdicts] == ["passed"] * 4, [one.reason for one in verdicts]
    assert [one.solution.weights for one in verdicts] == ["loaded", "seeded", "loaded", "seeded"]


def test_a_solution_cannot_choose_how_many_calls_a_round_has(tmp_path: Path) -> None:
    """Its threads keep every core busy from its construction on, and it has weights of its own: the exam is renewed."""
    problem = HERE / "fixtures" / "own_kernel.py"
    text = problem.read_text().replace("class Model(", "class ModelNew(").replace("custom_kernel=True", "")
    busy = text.replace("        super().__init__()\n", f"        super().__init__()\n{SPIN}")
    calls = []
    for name, solution in (("calm", text), ("busy", busy.replace("self.bias", "self.shift"))):
        (tmp_path / f"{name}.py").write_text(solution)
        with Referee("cpu", root=str(ROOT)) as fresh:
            (found,) = fresh.evaluate(problem, tmp_path / f"{name}.py", ("cpu",), quick())
        assert found.timing, (found.reason, found.log)
        calls.append(found.timing.calls_per_round)
    assert max(calls) <= 2 * min(calls), calls


def test_nobody_rises_or_leaves_and_no_solution_is_there_while_it_is_surveyed() -> None:
    happened: list[str] = []

    @contextlib.contextmanager
    def quiet() -> Iterator[None]:
        happened.append("quiet")
        yield
        happened.append("no more")

    def hire() -> None:
        happened.append("hire")
        raise Stopped(Ruling("crashed", "that was all"))

    one = Evaluation.__new__(Evaluation)
    room = functools.partial(happened.append, "room")  # which a former solution may have taken
    one.staff = SimpleNamespace(quiet=quiet, hire=hire, make_room=room)  # type: ignore[assignment]
    one.device, one.seconds = Cpu(), {}
    one.stages = SimpleNamespace(stage=lambda name: contextlib.nullcontext())  # type: ignore[assignment]
    one.loader = SimpleNamespace(load_baselines=lambda exam: happened.append("baselines"))  # type: ignore[assignment]
    steps = {name: functools.partial(happened.append, name) for name in ("explore", "survey")}
    for surveyed in (None, object()):
        with pytest.raises(Stopped):
            one._load(SimpleNamespace(surveyed=surveyed, **steps))  # type: ignore[arg-type]
    first = ["explore", "baselines", "quiet", "survey", "no more", "room", "hire"]
    assert happened == [*first, "baselines", "room", "hire"]


def exam(monkeypatch: pytest.MonkeyPatch, room: int) -> tuple[Exam, Instance, list[str]]:
    """One with its first instance, that keeps so many trials; and the names of those that are made."""
    made: list[str] = []

    def prepared(case: Case, given: object, name: str, drawn: bool = True) -> Trial:
        made.append(name)
        return prepare(case, given, name, drawn)

    prepare = truth.prepare
    monkeypatch.setattr(truth, "prepare", prepared)
    source = problem.read(AFFINE, "affine")
    settings = problem_settings.read(source, problem.load(source))
    found = Exam(source, settings, "cpu", Cpu(), quick(trials=4), contextlib.nullcontext)
    kept: list[object] = []
    of_all = found.trials.room

    def takes(trial: Trial) -> bool:
        kept.append(trial)
        of_all.is_full |= len(kept) > room
        return len(kept) <= room

    monkeypatch.setattr(of_all, "takes", takes)
    found.instances.begin("first")
    model = found.instances.begun("first")
    specs = tuple(tree.describe_tensor(value) for value in model.parameters())
    constructed = Constructed(tuple(dict(model.named_parameters())), (), specs)  # type: ignore[arg-type]
    instance = found.instances.get("first", constructed)
    made.clear()
    return found, instance, made


def test_trials_are_foreseen_once_for_all_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    found, instance, made = exam(monkeypatch, room=100)
    for _ in range(2):
        found.trials.foresee(instance, 4)
    assert made == ["one", "sign", "scale", *(f"trial {number} of the first instance" for number in (2, 3, 4))]


def test_what_is_too_large_to_keep_is_not_made_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    found, instance, made = exam(monkeypatch, room=2)
    for _ in range(3):
        found.trials.foresee(instance, 4)
    assert made == ["one", "sign"]  # of which the second was one too many


def test_a_baseline_that_died_in_between_is_replaced(warm: Referee) -> None:
    warm.evaluate(AFFINE, PLAIN, settings=quick())
    assert warm.host.process
    killed = 0
    for pid in _workers(warm.host.process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    assert killed
    time.sleep(0.5)  # until their keepers have said so
    assert warm.evaluate(AFFINE, PLAIN, settings=quick())[0].verdict == "passed"


def test_flags_that_a_problem_sets_hold_for_all_its_solutions(warm: Referee, tmp_path: Path) -> None:
    problem = tmp_path / "double.py"
    problem.write_text(AFFINE.read_text().replace("rows = 64", "torch.set_default_dtype(torch.float64)\nrows = 64"))
    solution = tmp_path / "double_new.py"
    solution.write_text(problem.read_text().replace("class Model(", "class ModelNew("))
    assert [warm.evaluate(problem, solution, settings=quick())[0].verdict for _ in range(3)] == ["passed"] * 3
    assert warm.evaluate(AFFINE, PLAIN, settings=quick())[0].verdict == "passed"


def test_a_problem_that_changes_between_two_solutions_is_read_again(warm: Referee, tmp_path: Path) -> None:
    problem = tmp_path / "moving.py"
    problem.write_text(AFFINE.read_text())
    assert warm.evaluate(problem, PLAIN, settings=quick())[0].verdict == "passed"
    problem.write_text(AFFINE.read_text().replace("+ 1.0", "+ 2.0"))
    assert warm.evaluate(problem, PLAIN, settings=quick())[0].verdict == "wrong"
    problem.write_text("raise ValueError")
    with pytest.raises(ProblemFault):
        warm.evaluate(problem, PLAIN, settings=quick())
    problem.write_text(AFFINE.read_text())
    assert warm.evaluate(problem, PLAIN, settings=quick())[0].verdict == "passed"


def _workers(root: int) -> list[int]:
    """The workers of a referee, by this machine's numbers."""
    found = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text().strip() == "kbench.worker" and _below(int(path.parent.name), root):
                found.append(int(path.parent.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def _oldest(referee: Referee) -> int:
    """The worker that has lived longest, once those that were parted with are gone."""
    assert referee.host.process
    deadline = time.monotonic() + 10
    while len(begun := _begun(_workers(referee.host.process.pid))) != 1 + SPARES and time.monotonic() < deadline:
        time.sleep(0.05)
    return min(begun, key=lambda pid: begun[pid])


def _begun(pids: list[int]) -> dict[int, int]:
    """When each of them began; without those that have ended meanwhile."""
    begun = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            begun[pid] = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    return begun


def _variant(folder: Path, name: str, *changes: tuple[str, str]) -> tuple[Path, Path]:
    """A problem like the plain one, and a solution that does just the same."""
    text = AFFINE.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    problem, solution = folder / f"{name}.py", folder / f"{name}_new.py"
    problem.write_text(text)
    solution.write_text(text.replace("class Model(", "class ModelNew("))
    return problem, solution


def test_a_baselines_worker_goes_on_to_the_next_problem(tmp_path: Path) -> None:
    pairs = [_variant(tmp_path, f"p{number}", ("+ 1.0", f"+ {number}.0")) for number in range(3)]
    with Referee("cpu", root=str(ROOT)) as referee:
        assert referee.evaluate(*pairs[0], settings=quick())[0].verdict == "passed"
        first = _oldest(referee)
        for problem, solution in pairs:
            assert referee.evaluate(problem, solution, settings=quick())[0].verdict == "passed"
            assert _oldest(referee) == first


@pytest.mark.parametrize(
    "left",
    [
        "torch.set_default_dtype(torch.float64)",
        "torch.set_num_threads(3)",
        "torch.backends.cudnn.benchmark = True",
        "kept or kept.append(bytearray(300 * 2**20))",
    ],
)
def test_but_not_where_the_problem_left_something_behind(left: str, tmp_path: Path) -> None:
    """In `forward`, where only the end shows it."""
    odd = (
        ("return x", f"{left}\n        return x"),
        ("import torch\n", "import sys\n\nimport torch\n\nkept = sys.kept = []\n"),
    )
    problem, _ = _variant(tmp_path, "odd", *odd)
    with Referee("cpu", root=str(ROOT)) as referee:
        referee.evaluate(problem, PLAIN, settings=quick())
        assert referee.evaluate(AFFINE, PLAIN, settings=quick())[0].verdict == "passed"
        first = _oldest(referee)
        referee.evaluate(problem, PLAIN, settings=quick())
        assert referee.evaluate(AFFINE, PLAIN, settings=quick())[0].verdict == "passed"
        assert _oldest(referee) != first


def _below(pid: int, root: int) -> bool:
    while pid > 1 and pid != root:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return pid == root


def test_solutions_whose_gradients_differ_do_not_share_one(warm: Referee, tmp_path: Path) -> None:
    problem = tmp_path / "step.py"
    problem.write_text(AFFINE.read_text().replace("KBENCH = dict(", "KBENCH = dict(grad=True, "))
    texts = {"same": problem.read_text(), "renamed": problem.read_text().replace("self.weight", "self.scale")}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text.replace("class Model(", "class ModelNew("))
    for name in ("renamed", "same", "same", "renamed", "same"):
        result = warm.evaluate(problem, tmp_path / f"{name}.py", settings=quick())[0]
        assert result.verdict == "passed", (name, result.reason)
        assert result.solution.weights == ("loaded" if name == "same" else "seeded")


def test_a_model_that_is_another_the_second_time_is_wrong(warm: Referee, tmp_path: Path) -> None:
    text = AFFINE.read_text().replace("class Model(", "made = []\n\n\nclass ModelNew(")
    text = text.replace("super().__init__()", "super().__init__()\n        made.append(1)")
    text += "\n\ndef change(model):\n    model.extra = nn.Parameter(torch.ones(3))\n"
    text = text.replace("self.weight = ", "if len(made) > 1:\n            change(self)\n        self.weight = ")
    (tmp_path / "two.py").write_text(text)
    result = warm.evaluate(AFFINE, tmp_path / "two.py", settings=quick())[0]
    assert result.verdict == "wrong" and "from one construction to the next" in (result.reason or "")
    assert warm.evaluate(AFFINE, PLAIN, settings=quick())[0].verdict == "passed"


def test_a_slow_baseline_is_not_the_solutions_fault(warm: Referee, tmp_path: Path) -> None:
    problem = tmp_path / "slow.py"
    slow = AFFINE.read_text().replace("def forward(self, x):", "def forward(self, x):\n        time.sleep(0.1)")
    problem.write_text(slow.replace("import torch\n", "import time\n\nimport torch\n"))
    for _ in range(2):
        result = warm.evaluate(problem, PLAIN, settings=quick(timeouts={"call": 0.2}))[0]
        assert result.verdict == "passed", result.reason


def test_a_kept_baseline_is_no_quicker_than_the_same_code_that_comes_new(warm: Referee) -> None:
    """Its memory must be as new: pages that it had used before took half the time of those that are used first."""
    same = HERE / "fixtures" / "sum.py"
    found = []
    for _ in range(4):
        result = warm.evaluate(same, same, settings=quick(trials=1))[0]
        assert result.timing, result.reason
        found.append(result.timing.median_ms / result.baselines["eager"].median_ms)
    assert min(found[1:]) < 1.4
