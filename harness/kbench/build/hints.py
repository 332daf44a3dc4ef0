"""What to do about the errors that solutions make most: a pattern of what the compiler said, and the next step."""

from __future__ import annotations

import re

HINTS: tuple[tuple[str, str], ...] = (
    (r"torch's headers need C\+\+", "torch adds the right -std itself"),
    (r"run a program of the solution's choosing", "no build needs it"),
    (r"characters for a shell", "flags are passed one by one"),
    (
        r"calling a __host__ function.* from a __(global|device)__ function",
        "mark the function __device__, or use its device counterpart (fmaxf for std::max, expf for std::exp)",
    ),
    (
        r"(calling a __device__ function|identifier \"__\w+\" is undefined in host code)",
        "device functions run only in kernels; mark the caller __device__ or __global__",
    ),
    (
        r"[Nn]o instance of (overloaded )?function .*atomicAdd|atomicAdd.*no instance",
        "atomicAdd has no such type on this arch; add in float, or use a compare-and-swap loop",
    ),
    (
        r"a __global__ function call must be configured|too few arguments in kernel launch configuration",
        "launch it as kernel<<<blocks, threads>>>(...)",
    ),
    (
        r"argument of type .* is incompatible with parameter of type",
        "the call passes another type than the kernel takes; check data_ptr<T>() against the kernel's pointers",
    ),
    (
        r"no suitable (conversion|constructor)|cannot convert|invalid conversion|cannot be converted",
        "the types differ; cast explicitly or change the declaration",
    ),
    (
        r"no matching function for call|no instance of (overloaded )?function|no operator",
        "no overload takes these types; compare the declaration in cpp_sources with the definition",
    ),
    (
        r"more than one (operator|instance|conversion)|ambiguous",
        "torch compiles with __CUDA_NO_HALF_OPERATORS__; convert halves with __half2float first, or cast one side",
    ),
    (
        r"Unsupported gpu architecture|is not defined for option 'gpu-(architecture|code)'|Unknown CUDA arch",
        "this nvcc does not know that architecture; remove the arch flag, or use a newer CUDA toolkit",
    ),
    (
        r"not supported on \.?target|requires \.?target|requires .?sm_|Feature .* (requires|not supported)",
        "this architecture lacks the instruction; some need the 'a' variant: -gencode arch=compute_90a,code=sm_90a",
    ),
    (
        r"uses too much shared data",
        "use at most 48 KB static shared memory, or dynamic memory with cudaFuncSetAttribute",
    ),
    (
        r"No such file or directory|could not open source file|cannot open source file",
        "the header is not on this machine or not with the solution; check its name and extra_include_paths",
    ),
    (r"unresolved symbol .*PyInit_", "the module's name and its PYBIND11_MODULE differ; use TORCH_EXTENSION_NAME"),
    (
        r"unresolved symbol .*(cublas|cudnn|cufft|curand|cusolver|cusparse)",
        "add the library to extra_ldflags, as -lcublas",
    ),
    (
        r"unresolved symbol",
        "it is declared but never defined with these argument types; the definition must match its declaration",
    ),
    (
        r"^cannot (find|open) ",
        "that library is not on this machine; remove it from extra_ldflags, or install it",
    ),
    (r"multiple definition", "cpp_sources only needs the declaration; keep the definition in cuda_sources"),
    (
        r"redefinition of|has already been defined|was previously declared",
        "it is defined twice; cpp_sources and cuda_sources are each one file, with torch's headers included already",
    ),
    (
        r"was not declared in this scope|identifier \".*\" is undefined|has not been declared",
        "declare it before its use; a function named in `functions` must be declared in cpp_sources",
    ),
    (
        r"name followed by \"::\" must be a class or namespace|is not a member of|has no member"
        r"|does not name a (template )?type",
        "that name is not in these headers; include the header that has it, or check its spelling",
    ),
    (r"is not a template|template argument", "check the template's arguments"),
    (r"expected .* before|expected (a|an) |missing (closing|terminating)|unterminated|stray", "a syntax error there"),
    (r"Permission denied", "a build may read the toolchain and the solution's own files only"),
    (
        r"our limit on memory|virtual memory exhausted|out of memory|ran out of memory",
        "the sources take more memory to compile than a build gets; fewer template instantiations help",
    ),
    (
        r"template instantiation depth|recursion limit|recursive template",
        "the templates instantiate each other for ever",
    ),
    (r"unrecognized command|unrecognized option|Unknown option|unknown argument", "the compiler knows no such flag"),
    (r"static assertion failed", "the text of the assertion says what is wanted"),
)
COMPILED = tuple((re.compile(pattern), hint) for pattern, hint in HINTS)


def hint_for(what: str, log: str = "") -> str | None:
    """The next step for an error, or None where it speaks for itself."""
    if "function named in" not in what and _is_missing_binding(what, log):
        return "`functions` names it, but cpp_sources never declares it: add its declaration there"
    return next((hint for pattern, hint in COMPILED if pattern.search(what)), None)


def _is_missing_binding(what: str, log: str) -> bool:
    """Whether the undeclared name is one that torch's generated binding refers to."""
    name = re.search(r"[\"\u2018'](\w+)[\"\u2019'] (?:was not declared|is undefined)", what)
    return bool(name and re.search(rf"(wrap_pybind_function\({name[1]}\)|m\.def\(\"{name[1]}\")", log))
