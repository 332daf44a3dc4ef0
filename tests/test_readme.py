"""What the README says to type works as it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from kbench.sweep import config

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.S | re.M)
LINES = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines() if line.strip()]
COMMANDS = [line.split("#")[0].strip() for line in LINES]


def shell(command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("kbench")])
def test_command(command: str) -> None:
    done = shell(command)
    # A machine that lacks something is what doctor is for.
    assert done.returncode == 0 or (command == "kbench doctor" and done.returncode == 3), done.stderr
    assert done.stdout


def test_the_two_commands_exist() -> None:
    made = [command for command in COMMANDS if command.startswith("make")]
    assert made == ["make demo", "make test"]
    for command in made:
        assert shell(f"{command} --dry-run").returncode == 0


def test_the_python_example_runs() -> None:
    (example,) = [text for kind, text in BLOCKS if kind == "python" and "import kbench" in text]
    done = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("passed ")


def test_the_configuration_reads_without_a_mistake(tmp_path: Path) -> None:
    (example,) = [text for kind, text in BLOCKS if kind == "yaml"]
    (tmp_path / "example.yaml").write_text(example)
    found, _ = config.read(tmp_path / "example.yaml", {})
    assert [one.name for one in found.sets] == ["ours", "model"]
    assert found.overrides[0].settings == {"budget": 2.0, "rtol": 0.001}


def test_the_tree_names_what_is_there() -> None:
    (tree,) = [text for kind, text in re.findall(r"^```(\w*)\n(harness/.*?)^```", README, re.S | re.M)]
    package = ROOT / "harness" / "kbench"
    here = {path.stem for path in package.iterdir() if not path.name.startswith(("_", "py."))}
    named = set(re.findall(r"[a-z_]+", tree))
    assert here <= named
