from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import torch
from kbench.build import standins, toolchain

TORCH_INCLUDE = Path(torch.__file__).parent / "include"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("std::sort(a, b);", "#include <algorithm>"),
        ("std::unordered_map<int, int> m;", "#include <unordered_map>"),
        ("std::cout << 1;", "#include <iostream>"),
        ("at::Half h;", "#define KBL_WANTS_HALF"),
        ("__nv_bfloat16 x;", "#define KBL_WANTS_HALF"),
        ("cublasSgemm(h);", "#define KBL_WANTS_CUBLAS\n"),
    ],
)
def test_what_a_source_names_is_parsed_for_it(source: str, wanted: str) -> None:
    assert wanted in standins.wants({"main.cpp": source})
    assert wanted not in standins.wants({"main.cpp": "int f();"})


def test_bindings_are_parsed_in_cuda_only_where_they_are_made_there() -> None:
    binding = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}"
    assert "BINDING_IN_CUDA" in standins.wants({"k.cu": binding, "main.cpp": ""})
    assert "BINDING_IN_CUDA" not in standins.wants({"k.cu": "", "main.cpp": binding})


def test_every_stand_in_has_a_header_of_ours_and_no_tensor_of_torchs_is_in_reach(tmp_path: Path) -> None:
    folder = tmp_path / "include"
    standins.lay_out(folder, TORCH_INCLUDE, {})
    for ours, names in standins.STANDS_FOR.items():
        assert (standins.INCLUDE / "kbl" / f"{ours}.h").is_file()
        assert all((folder / name).read_text() == f"#include <kbl/{ours}.h>\n" for name in names)
    assert (folder / "c10" / "util" / "Half.h").is_symlink()
    assert not (folder / "ATen" / "core" / "TensorBody.h").exists()
    assert not (folder / "c10" / "core" / "TensorImpl.h").exists()


@pytest.mark.parametrize("name", sorted({name for names in standins.STANDS_FOR.values() for name in names}))
def test_each_header_can_be_included_alone(name: str, tmp_path: Path) -> None:
    cuda = toolchain.cuda_home()
    if cuda is None and ("cuda" in name or "DeviceGuard" in name):
        pytest.skip("needs the CUDA toolkit's headers")
    folder = tmp_path / "include"
    standins.lay_out(folder, TORCH_INCLUDE, {"x": "half"})
    command = ["c++", "-std=c++20", f"-I{folder}", f"-I{cuda}/include", "-fsyntax-only", "-x", "c++", "-"]
    run = subprocess.run(command, input=f"#include <{name}>\n", capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[:2000]


def test_functions_of_torchs_that_have_no_stand_in_are_deleted_where_they_are_named() -> None:
    text = "// this and (that)\nat::Tensor f(at::Tensor x) { return hardswish(relu(mine(x))); }"
    assert standins.absent({"main.cpp": text}, TORCH_INCLUDE) == "KBL_ABSENT(hardswish)\n"


def test_the_version_follows_every_header_and_the_glue() -> None:
    assert standins.version() == standins.version()
    assert len(standins.version()) == 16
