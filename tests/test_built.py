from __future__ import annotations

from pathlib import Path

from kbench.records import Build, Extension
from kbench.sweep.built import Built
from made import H200, TORCH, pair, result
from msgspec import structs

PLACE = (H200, TORCH)


def built_from(*keys: str, artifact: str | None = "sha") -> object:
    extensions = tuple(Extension("e", key, False, 1.0, artifact) for key in keys)
    return structs.replace(result(), build=Build(1.0, False, "light", extensions))


def test_a_solution_is_known_while_all_its_builds_are_kept(tmp_path: Path) -> None:
    notes = Built(tmp_path)
    assert not notes.has(pair(), PLACE)
    notes.note(pair(), PLACE, built_from("k1", "k2"))  # type: ignore[arg-type]
    assert not notes.has(pair(), PLACE)
    for key in ("k1", "k2"):
        (tmp_path / key).mkdir()
    assert Built(tmp_path).has(pair(), PLACE)
    assert not notes.has(structs.replace(pair(), solution_sha256="x"), PLACE)
    assert not notes.has(pair(), (structs.replace(H200, capability="8.0"), TORCH))
    assert not notes.has(pair(build="full"), PLACE)
    (tmp_path / "k2").rmdir()
    assert not notes.has(pair(), PLACE)


def test_a_failed_build_is_not_known(tmp_path: Path) -> None:
    notes = Built(tmp_path)
    notes.note(pair(), PLACE, built_from("k", artifact=None))  # type: ignore[arg-type]
    (tmp_path / "k").mkdir()
    assert not notes.has(pair(), PLACE)


def test_without_a_cache_nothing_is_remembered() -> None:
    notes = Built(None)
    notes.note(pair(), PLACE, built_from("k"))  # type: ignore[arg-type]
    assert not notes.has(pair(), PLACE)


def test_only_what_names_the_compiling_module_is_built_ahead(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from torch.utils.cpp_extension import load_inline\n")
    (tmp_path / "b.py").write_text("import torch\n")
    one = structs.replace(pair(), solution=str(tmp_path / "a.py"))
    other = structs.replace(pair(), solution=str(tmp_path / "b.py"))
    assert Built(None).may_build(one) and not Built(None).may_build(other)
