"""Dependencies point one way, and `kbench --help` is quick."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "harness" / "kbench"
# Each may import what stands above it, and within its own line.
ORDER = (
    ("records", "errors", "units", "stats", "machine"),
    ("options",),
    ("settings", "catalog", "module", "reply"),
    ("problem", "problem_settings", "solution"),
    ("wire", "tree", "protocol"),
    ("jail",),
    ("build",),
    ("device",),
    ("worker",),
    ("report",),
    ("referee",),
    ("hosted", "client", "examine", "host"),
    ("sweep",),
    ("cli",),
)
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "kbench":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("kbench.")}
    return found & set(RANK)


def own(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def test_every_module_has_its_place() -> None:
    known = {own(path) for path in PACKAGE.rglob("*.py")} - {"__init__"}
    assert known == set(RANK)


def test_imports_point_upwards() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in PACKAGE.rglob("*.py")
        if own(path) != "__init__"
        for name in imports(path)
        if RANK[name] > RANK[own(path)]
    ]
    assert not wrong


def test_nothing_but_the_host_imports_the_worker() -> None:
    users = {own(path) for path in PACKAGE.rglob("*.py") if "worker" in imports(path)}
    assert users <= {"worker", "host"}


def names(node: ast.AST) -> list[ast.Name]:
    return [part for part in ast.walk(node) if isinstance(part, ast.Name)]


def test_two_places_catch_broadly_and_one_runs_a_problem() -> None:
    broad = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or {"Exception", "BaseException"} & {name.id for name in names(node.type)})
    }
    assert broad <= {"worker/main.py", "cli/main.py", "client.py", "referee/blame.py", "sweep/crew.py"}


def test_help_imports_no_torch_and_answers_at_once() -> None:
    code = "import sys; from kbench.cli.main import kbench\ntry: kbench(['eval', '--help'])\nexcept SystemExit: pass\n"
    code += "assert 'torch' not in sys.modules and 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    command = [str(Path(sys.executable).with_name("kbench")), "--help"]
    seconds = []
    for _ in range(5):
        began = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.monotonic() - began)
    assert min(seconds) < 0.2
