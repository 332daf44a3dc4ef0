"""What referee and worker say to each other. The worker's half is hostile input to the referee."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kbench.records import Record
from kbench.tree import Skeleton, TensorSpec

ALIGNMENT = 512
MAX_TEXT = 64 * 1024
# Settings that a solution changed, as told.
MAX_CHANGES, MAX_CHANGE = 50, 200
Changes = Annotated[tuple[Annotated[str, Meta(max_length=MAX_CHANGE)], ...], Meta(max_length=MAX_CHANGES)]
MAX_SPANS, MAX_SPAN_NAME, LONGEST_SPAN_MS = 256, 300, 1e9


class Load(Record, frozen=True, tag=True):
    """Import a solution, or (with `reference`) the problem's own file."""

    path: str
    entry: str | None
    device: Literal["cpu", "cuda"]
    threads: int
    grad: bool = False
    reference: bool = False
    compiled: str | None = None  # the baseline that torch.compile makes of it
    overrides: bytes = b""  # pickled by the referee, which the worker may trust


class Construct(Record, frozen=True, tag=True):
    seed: int
    arguments: bytes  # pickled by the referee


class TakeWeights(Record, frozen=True, tag=True):
    """Weights in the shared memory that comes along, by name."""

    names: tuple[str, ...]
    specs: tuple[TensorSpec, ...]


class OpenArena(Record, frozen=True, tag=True):
    """How inputs and outputs lie. Descriptors come along: of inputs, outputs, the flush if there is one, the gate."""

    slots: int
    inputs: Skeleton
    outputs: Skeleton
    input_stride: int
    output_stride: int
    flush_bytes: int  # per slot; 0 where there is no flush
    lead: int = 0  # flush regions that are written at the start of a round
    gradients: tuple[str, ...] = ()  # parameters whose gradients are outputs


class Call(Record, frozen=True, tag=True):
    """One checked call on a slot. `state` names buffers whose contents after the call are outputs too."""

    slot: int
    state: tuple[str, ...] = ()


class Round(Record, frozen=True, tag=True):
    """Timed calls: all slots in one go, one slot per go, or only what a round costs without the work."""

    slots: tuple[int, ...]
    mode: Literal["batch", "single", "null-batch", "null-single"]


class Trace(Record, frozen=True, tag=True):
    """Untimed calls on a slot, of which everything that runs is written down."""

    slot: int
    passes: int


class Forget(Record, frozen=True, tag=True):
    """The problem is over: let go of all that belongs to it. Only a baseline's worker is told so."""


class BuildReply(Record, frozen=True, tag=True):
    """The artifact comes along as a descriptor, unless the build failed; after it the glue, where it needs that."""

    error: str | None
    with_glue: bool = False
    ahead: bool = False  # built for another machine: nothing comes along, nothing of it can be called here


ToWorker = Load | Construct | TakeWeights | OpenArena | Call | Round | Trace | Forget | BuildReply


class BuildAsk(Record, frozen=True, tag=True):
    """What a solution passed to `load_inline` or `load`, as plain values."""

    kind: Literal["inline", "files"]
    name: str
    cpp_sources: tuple[str, ...] = ()
    cuda_sources: tuple[str, ...] = ()
    functions: dict[str, str] | None = None
    files: dict[str, str] = {}  # path -> text: sources, and headers that they may include
    sources: tuple[str, ...] = ()
    extra_cflags: tuple[str, ...] = ()
    extra_cuda_cflags: tuple[str, ...] = ()
    extra_ldflags: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    with_cuda: bool | None = None
    with_pytorch_error_handling: bool = True
    no_implicit_headers: bool = False
    is_python_module: bool = True
    arch_list: str | None = None  # TORCH_CUDA_ARCH_LIST, where the solution sets it

    @property
    def has_cuda_sources(self) -> bool:
        return bool(self.cuda_sources) or any(name.endswith(".cu") for name in self.sources)

    @property
    def wants_cuda(self) -> bool:
        return self.has_cuda_sources or bool(self.with_cuda)

    def key(self, toolchain: str) -> str:
        """Content address: sources and flags, and the toolchain that they meet."""
        digest = hashlib.sha256(msgspec.json.encode(self))
        digest.update(toolchain.encode())
        return digest.hexdigest()


class Loaded(Record, frozen=True, tag=True):
    changed: Changes  # process-wide settings


class Constructed(Record, frozen=True, tag=True):
    parameters: tuple[str, ...]
    buffers: tuple[str, ...]
    specs: tuple[TensorSpec, ...]  # of both, in that order
    changed: Changes = ()


class Done(Record, frozen=True, tag=True):
    pass


class Armed(Record, frozen=True, tag=True):
    """Ready for `go` on the gate."""


class Returned(Record, frozen=True, tag=True):
    outputs: Skeleton
    copied: bool


class Finished(Record, frozen=True, tag=True):
    """Event times are claims. `odd` tells the outputs of calls whose shapes differ from the arena's."""

    claims_ms: tuple[float, ...]
    odd: dict[str, Skeleton] = {}


SpanKind = Literal["own", "library", "kernel", "triton", "generated"]


class Span(Record, frozen=True):
    """What ran under one name: an operation on the CPU, a kernel on a GPU."""

    name: Annotated[str, Meta(max_length=MAX_SPAN_NAME)]
    kind: SpanKind
    calls: Annotated[int, Meta(ge=1)]
    ms: Annotated[float, Meta(ge=0, le=LONGEST_SPAN_MS)]


class Traced(Record, frozen=True, tag=True):
    ms: Annotated[float, Meta(ge=0, le=LONGEST_SPAN_MS)]  # of the whole call
    spans: Annotated[tuple[Span, ...], Meta(max_length=MAX_SPANS)]


class Forgotten(Record, frozen=True, tag=True):
    """What a problem leaves behind: memory that is not handed back, and settings of the process."""

    left_bytes: int
    changed: Changes


class Fault(Record, frozen=True, tag=True):
    """The solution raised, or lacks what it must have."""

    kind: Literal["error", "exit", "memory", "missing"]
    message: str
    traceback: str


FromWorker = BuildAsk | Loaded | Constructed | Done | Armed | Returned | Finished | Traced | Forgotten | Fault


def offsets(specs: list[TensorSpec], itemsizes: list[int]) -> tuple[list[int], int]:
    """Where each tensor begins within a slot, and the slot's size."""
    starts, end = [], 0
    for spec, itemsize in zip(specs, itemsizes, strict=True):
        starts.append(end)
        end += -(-spec.numel * itemsize // ALIGNMENT) * ALIGNMENT
    return starts, end
