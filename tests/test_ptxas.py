from __future__ import annotations

from kbench.build import ptxas

LOG = """[1/3] nvcc -c cuda.cu
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5twicePfi' for 'sm_90'
ptxas info    : Function properties for _Z5twicePfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
ptxas info    : Compiling entry function '_ZN2ns5heavyEPd' for 'sm_90a'
ptxas info    : Function properties for _ZN2ns5heavyEPd
    512 bytes stack frame, 320 bytes spill stores, 336 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 512 bytes cumulative stack size, 4096 bytes smem, 400 bytes cmem[0]
"""


def test_every_kernel_is_found_with_what_it_uses() -> None:
    twice, heavy = ptxas.demangled(ptxas.kernels(LOG))
    assert (twice.name, twice.registers, twice.spill_stores_bytes) == ("twice(float*, int)", 10, 0)
    assert (heavy.arch, heavy.registers, heavy.stack_bytes) == ("sm_90a", 255, 512)
    assert (heavy.spill_stores_bytes, heavy.spill_loads_bytes, heavy.shared_bytes) == (320, 336, 4096)


def test_names_are_shown_as_one_writes_them() -> None:
    assert [kernel.name for kernel in ptxas.demangled(ptxas.kernels(LOG))][1] == "ns::heavy(double*)"


def test_no_kernels_no_records() -> None:
    assert ptxas.kernels("[1/2] c++ -c main.cpp\n") == ()
    assert ptxas.demangled(()) == ()
