"""The include folder of a light build: our stand-ins under torch's header names, and those of torch's that are light.

A header that is neither here nor torch's own light ones does not exist in a light build, which then fails and leaves
the decision to the full one.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

SOURCES = Path(__file__).parent / "cpp"
INCLUDE = SOURCES / "include"
GLUE = SOURCES / "glue"

# Which of our headers answers for which of torch's.
STANDS_FOR = {
    "torch": (
        "torch/all.h",
        "torch/csrc/autograd/variable.h",
        "torch/csrc/utils/pybind.h",
        "torch/extension.h",
        "torch/python.h",
        "torch/torch.h",
        "torch/types.h",
        "torch/utils.h",
        "pybind11/numpy.h",
        "pybind11/pybind11.h",
        "pybind11/stl.h",
        "ATen/ATen.h",
        "ATen/Functions.h",
        "ATen/NativeFunctions.h",
        "ATen/core/Tensor.h",
        "ATen/Tensor.h",
        "ATen/TensorUtils.h",
        "ATen/core/ivalue.h",
        "ATen/core/grad_mode.h",
        "c10/core/GradMode.h",
    ),
    "accessor": ("ATen/core/TensorAccessor.h", "ATen/TensorAccessor.h"),
    "core": (
        "ATen/core/ScalarType.h",
        "ATen/core/Scalar.h",
        "ATen/Device.h",
        "ATen/Scalar.h",
        "ATen/ScalarOps.h",
        "ATen/core/DeprecatedTypeProperties.h",
        "c10/core/Device.h",
        "c10/core/DeviceType.h",
        "c10/core/Layout.h",
        "c10/core/MemoryFormat.h",
        "c10/core/Scalar.h",
        "c10/core/ScalarType.h",
        "c10/core/ScalarTypeToTypeMeta.h",
        "c10/core/TensorOptions.h",
        "c10/util/ArrayRef.h",
        "c10/util/Exception.h",
        "c10/util/Optional.h",
        "c10/util/OptionalArrayRef.h",
        "c10/util/StringUtil.h",
        "c10/util/string_view.h",
        "c10/util/typeid.h",
    ),
    "cuda": (
        "ATen/cuda/ApplyGridUtils.cuh",
        "ATen/cuda/CUDABlas.h",
        "ATen/cuda/CUDAContext.h",
        "ATen/cuda/CUDAContextLight.h",
        "ATen/cuda/CUDAEvent.h",
        "ATen/cuda/CUDAUtils.h",
        "ATen/cuda/Exceptions.h",
        "ATen/DeviceGuard.h",
        "c10/core/DeviceGuard.h",
        "c10/cuda/CUDAException.h",
        "c10/cuda/CUDAFunctions.h",
        "c10/cuda/CUDAGuard.h",
        "c10/cuda/CUDAMacros.h",
        "c10/cuda/CUDAStream.h",
        "c10/cuda/impl/CUDAGuardImpl.h",
    ),
    "dispatch": ("ATen/Dispatch.h", "ATen/Dispatch_v2.h"),
    "math": ("ATen/AccumulateType.h", "ATen/OpMathType.h", "ATen/ceil_div.h", "c10/util/irange.h"),
    "parallel": ("ATen/Parallel.h", "ATen/ParallelOpenMP.h"),
    "warp": ("ATen/cuda/DeviceUtils.cuh",),
}

# Folders of torch's whose headers know nothing of tensors. Where one does include what has a stand-in, that is found.
LIGHT_FOLDERS = ("c10/macros", "c10/util", "torch/headeronly")
LIGHT_FILES = ("c10/cuda/CUDAMathCompat.h", "ATen/cuda/Atomic.cuh", "ATen/NumericUtils.h")


# Standard headers that torch's bring along, by a word that needs them. Each costs a fifth of a second in nvcc.
STANDARD = {
    "algorithm": r"std::(sort|stable_sort|transform|accumulate|find|find_if|any_of|all_of|none_of|for_each|fill_n"
    r"|copy_n|copy_if|reverse|clamp|nth_element|partial_sort|lower_bound|upper_bound|count_if|generate|shuffle"
    r"|min_element|max_element|minmax_element|unique|remove_if|is_sorted|rotate|iter_swap|binary_search)\b",
    "numeric": r"std::(accumulate|iota|inner_product|partial_sum|gcd|lcm|reduce)\b",
    "functional": r"std::(function|bind|hash|plus|multiplies|less|greater|ref|cref)\b",
    "memory": r"std::(unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|allocator|align)\b",
    "unordered_map": r"std::unordered_map\b",
    "unordered_set": r"std::unordered_set\b",
    "map": r"std::(map|multimap)\b",
    "set": r"std::(set|multiset)\b",
    "deque": r"std::deque\b",
    "list": r"std::list\b",
    "mutex": r"std::(mutex|lock_guard|unique_lock|scoped_lock|call_once|once_flag|recursive_mutex)\b",
    "atomic": r"std::atomic",
    "thread": r"std::(thread|this_thread)\b",
    "future": r"std::(future|async|promise)\b",
    "chrono": r"std::chrono\b",
    "random": r"std::(mt19937|mt19937_64|random_device|uniform_\w+|normal_distribution)\b",
    "sstream": r"std::(stringstream|ostringstream|istringstream)\b",
    "iostream": r"std::(cout|cerr|clog|endl)\b",
    "fstream": r"std::(ifstream|ofstream|fstream)\b",
    "iomanip": r"std::(setw|setprecision|setfill|hex)\b",
    "complex": r"std::complex\b",
    "variant": r"std::(variant|visit|get_if|holds_alternative)\b",
    "bitset": r"std::bitset\b",
    "cassert": r"\bassert\(",
    "cstdio": r"\b(printf|fprintf|snprintf)\(",
    "cstdlib": r"\b(getenv|malloc|free|abort|exit)\(",
    "cfloat": r"\b(FLT|DBL)_(MAX|MIN|EPSILON)\b",
    "climits": r"\b(INT|UINT|LONG|LLONG|CHAR|SHRT)_(MAX|MIN)\b",
}
PARTS = {
    "KBL_WANTS_HALF": r"(?i)half|bfloat16|float16|bf16",
    "KBL_WANTS_CUBLAS": r"(?i)cublas",
    "KBL_WANTS_CUBLASLT": r"(?i)cublasLt",
}
KEYWORDS = {"and", "or", "xor", "not"}  # operators of torch's, and words of C++
BINDING = r"pybind|PYBIND|\bpy::"


def wants(texts: dict[str, str]) -> str:
    """The header that says what these sources, by file name, need parsed."""
    text = "\n".join(texts.values())
    lines = [f"#define {name}" for name, pattern in PARTS.items() if re.search(pattern, text)]
    cuda = "\n".join(source for name, source in texts.items() if name.endswith((".cu", ".cuh")))
    lines += ["#define KBL_WANTS_BINDING_IN_CUDA"] if re.search(BINDING, cuda) else []
    lines += [f"#include <{header}>" for header, pattern in STANDARD.items() if re.search(pattern, text)]
    return "#pragma once\n" + "".join(line + "\n" for line in lines)


def absent(texts: dict[str, str], torch_include: Path) -> str:
    """Deletes, for tensors, the functions of at:: that the sources name and that have no stand-in.

    A call without namespace finds torch's function where its headers are read; without them it would quietly find
    another of that name.
    """
    theirs = {path.stem for path in (torch_include / "ATen" / "ops").glob("*.h")}
    named = set(re.findall(r"\b([a-z]\w*)\s*\(", "\n".join(texts.values())))
    lines = [f"KBL_ABSENT({name})\n" for name in sorted((named & theirs) - vocabulary() - KEYWORDS)]
    return "".join(lines)


@functools.cache
def vocabulary() -> frozenset[str]:
    """The functions of at:: that have a stand-in."""
    listed = re.findall(r"KBL_\w+\((\w+)", (INCLUDE / "kbl" / "list.h").read_text())
    written = re.findall(r"^(?:inline|KBL_\w+\().*?\b(\w+)(?=[(,])", (INCLUDE / "kbl" / "ops.h").read_text(), re.M)
    families = re.findall(r"KBL_(?:ARITHMETIC|OUT)\((\w+)", (INCLUDE / "kbl" / "ops.h").read_text())
    return frozenset({*listed, *written, *families, *(f"{name}_out" for name in families)})


def lay_out(folder: Path, torch_include: Path, texts: dict[str, str]) -> None:
    """Write the include folder: ours first, then links to what of torch's is light."""
    folder.mkdir(parents=True)
    (folder / "kbl_wants.h").write_text(wants(texts))
    (folder / "kbl_absent.h").write_text(absent(texts, torch_include))
    for ours, names in STANDS_FOR.items():
        for name in names:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(f"#include <kbl/{ours}.h>\n")
    (folder / "kbl").symlink_to(INCLUDE / "kbl")
    for path in _light(torch_include):
        target = folder / path.relative_to(torch_include)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.symlink_to(path)


def _light(torch_include: Path) -> list[Path]:
    found = [path for name in LIGHT_FOLDERS for path in (torch_include / name).rglob("*") if path.is_file()]
    return found + [path for name in LIGHT_FILES if (path := torch_include / name).is_file()]


@functools.cache
def version() -> str:
    """Changes whenever a stand-in or the glue does."""
    digest = hashlib.sha256(repr(sorted(STANDS_FOR.items())).encode())
    for path in sorted(SOURCES.rglob("*.*")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]
