from __future__ import annotations

from pathlib import Path

import pytest
from kbench import catalog
from kbench.errors import UsageFault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("problems/fusion/alpha.py", "problems/other/alpha.py", "problems/fusion/beta.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    folder = tmp_path / "solutions" / "fusion" / "beta" / "folder"
    folder.mkdir(parents=True)
    (folder / "solution.py").write_text("")
    (folder.parent / "reply.md").write_text("")
    return tmp_path


def test_short_names_full_names_and_paths(root: Path) -> None:
    beta = root / "problems/fusion/beta.py"
    assert catalog.locate("beta", "problems", root) == beta
    assert catalog.locate("fusion/beta", "problems", root) == beta
    assert catalog.locate(str(beta), "problems", None) == beta


def test_ids_are_paths_below_the_root_else_stems(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "gamma.py"
    elsewhere.write_text("")
    assert catalog.identity(root / "problems/fusion/beta.py", "problems", root) == "fusion/beta"
    assert catalog.identity(elsewhere, "problems", root) == "gamma"


def test_folders_and_replies_are_solutions(root: Path) -> None:
    names = [catalog.identity(path, "solutions", root) for path in catalog.entries("solutions", root)]
    assert names == ["fusion/beta/folder", "fusion/beta/reply"]


def test_ambiguous_missing_and_unsuitable(root: Path) -> None:
    with pytest.raises(UsageFault, match="means several: fusion/alpha, other/alpha"):
        catalog.locate("alpha", "problems", root)
    with pytest.raises(UsageFault, match="the nearest is 'fusion/beta'"):
        catalog.locate("bta", "problems", root)
    with pytest.raises(UsageFault, match="is no problem"):
        catalog.locate(str(root / "problems"), "problems", root)


def test_a_link_is_what_it_leads_to(root: Path) -> None:
    folder = root / "solutions" / "fusion" / "beta"
    (folder / "link.md").symlink_to("reply.md")
    (folder / "loop.py").symlink_to("loop.py")
    assert catalog.locate("beta/reply", "solutions", root) == folder / "reply.md"
    assert folder / "loop.py" not in catalog.entries("solutions", root)


@pytest.mark.parametrize("name", ["x" * 5000, "~nobody-of-that-name/x", "\0"])
def test_what_can_be_no_path_is_no_problem(name: str, root: Path) -> None:
    with pytest.raises(UsageFault, match="no problem"):
        catalog.locate(name, "problems", root)


def test_root_is_given_or_the_nearest_parent(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert catalog.find_root(None, root / "problems" / "fusion") == root
    monkeypatch.setenv("KBENCH_ROOT", str(root))
    assert catalog.find_root(None, Path("/")) == root
    with pytest.raises(UsageFault, match="no problems/"):
        catalog.find_root(str(root / "solutions"))
