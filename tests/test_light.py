"""The light path against the full one: one extension built both ways must not be told apart from Python."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import building
import pytest
import torch
import torch.utils.cpp_extension as cpp_extension
from conftest import HERE

CONTRACT = (HERE / "fixtures" / "builds" / "contract.cpp").read_text()
X = torch.arange(12, dtype=torch.float32).reshape(3, 4)
IMAGE = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
PARAMETER = torch.nn.Parameter(X.clone())

Modules = tuple[Any, Any]

CALLS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "add_one": ((X,), (PARAMETER,), (3,), (None,), (), (X, X), ([1.0],)),
    "same": ((X,), (IMAGE,)),
    "undefined": ((),),
    "of_undefined": ((),),
    "c_math": ((-1.5,), (2,)),
    "item_as_int": ((torch.tensor(7.5),), (torch.tensor(3e10),), (torch.tensor(float("nan")),), (torch.tensor(True),)),
    "item_as_float": ((torch.tensor(1e300, dtype=torch.float64),), (torch.tensor(5),), (torch.tensor([1.0, 2.0]),)),
    "joined": ((X,),),
    "cut": ((X,), (torch.tensor(1.0),)),
    "tail": ((X,), (torch.tensor(1.0),)),
    "asserted": ((1,), (-1,)),
    "described": ((X,), (X.half(),), (X.to(torch.complex64),), (X.to(torch.float8_e5m2),), (X.to(torch.uint16),)),
    "device_of_text": (("cpu",), ("cuda:1",), ("meta",), ("nonsense",), ("cuda:01",)),
    "texts": ((True,), (False,)),
    "words": ((["a", "b"],), (("a",),), ({"k": 1}.keys(),), ([b"x"],), ([3],)),
    "thrown": ((0,), (1,), (2,)),
    "graded": ((PARAMETER,), (X,)),
    "total": (([1, 2],), ((1, 2),), ([],), ([1.5],), (range(3),), ("12",), (torch.tensor([1, 2]),), (None,), ({5},)),
    "product": (([2, 3],), ((2, 3),), (range(3),), (5,), ([2.0],), ([2**70],), ([torch.tensor(3)],), ([X],)),
    "small": ((1, 2), (1, 200), (2**31, 0), (True, False), (1.0, 2), (torch.tensor(3), 1), ("1", 2)),
    "positive": ((1,), (-1,), (2**32,), (2.0,)),
    "scaled": ((1.5, 2.0), (1, 2), (True, 2), (torch.tensor(1.5), 2), ("a", 1), (None, 1), (1.0,)),
    "flipped": ((True,), (False,), (0,), (1,), (None,), ("a",), (torch.tensor(True),)),
    "greeting": (("you",), (b"you",), (3,), ("\u00e4\u20ac",)),
    "several": ((X, X), (X, None), (X,), (X, 3)),
    "three": ((X,),),
    "maybe": ((3,), (None,), (1.5,)),
    "in_place": ((X.clone(),), (PARAMETER,)),
    "stacked": (([X, X], 0), ((X, X), 1), ([X, 3], 0), ([], 0), ([X, X], 7)),
    "typed": ((X, torch.float16), (X, torch.int64), (X, "float"), (X, 5)),
    "filled": (([2, 2], 1.5), ([2], 3), ([2], True), ([-1], 1.0), ([2], "a")),
    "checked": tuple((torch.zeros(shape),) for shape in ((2,), (1, 5), (2, 1), (2, 2), (2, 3), (2, 4), (2, 5))),
    "raises": tuple((n,) for n in range(8)),
    "pointer": ((X,), (X.double(),), (X.int(),)),
    "dispatched": ((X,), (X.double(),), (X.half(),), (X.int(),), (X.bfloat16(),)),
    "trace": ((X,), (X.double(),), (X[0],)),
    "rows": ((X,), (X.t(),), (X[0],)),
    "layout": ((X,), (IMAGE,), (X[1:, 2:],), (PARAMETER,)),
    "algebra": ((X, X), (X, X + 1), (X, X.t())),
}


@pytest.fixture(scope="module")
def modules() -> Iterator[Modules]:
    local = building.start()
    built = []
    for mode in ("light", "full"):
        with building.intercepted(local, mode):  # type: ignore[arg-type]
            built.append(cpp_extension.load_inline(name="contract", cpp_sources=CONTRACT, no_implicit_headers=True))
            assert local.outcomes[0].path == mode
    yield built[0], built[1]
    local.channel.close()


def told(call: Callable[[], Any]) -> Any:
    """What Python sees of a call: the value with its types, or the exception with the first line of its text."""
    try:
        return seen(call())
    except Exception as error:  # noqa: BLE001  which one it is, is what is compared
        return type(error), str(error).split("\n")[0].split(" (supported")[0]


def seen(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return type(value), value.dtype, tuple(value.shape), value.stride(), value.requires_grad, value.tolist()
    if isinstance(value, list | tuple):
        return type(value), [seen(item) for item in value]
    return type(value), value


@pytest.mark.parametrize("prefix", ["", "torch_"], ids=["pybind", "torch"])
@pytest.mark.parametrize("name", CALLS)
def test_a_function_behaves_alike(name: str, prefix: str, modules: Modules) -> None:
    light, full = (getattr(module, prefix + name) for module in modules)
    for given in CALLS[name]:
        mine = copy.deepcopy(given) if name == "in_place" else given
        assert told(partial(light, *mine)) == told(partial(full, *given)), given


NAMED: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("named", (2.0,), {}),
    ("named", (2.0,), {"b": 3}),
    ("named", (), {"b": 3, "a": 1}),
    ("named", (1.0,), {"a": 2}),
    ("named", (), {"c": 3}),
    ("named", (1.0, 2.0, 3.0), {}),
    ("scaled", (1.0,), {"arg1": 2.0}),
    ("optional", (X,), {}),
    ("optional", (X,), {"b": X}),
    ("overloaded", (1,), {}),
    ("overloaded", (1.0,), {}),
    ("overloaded", (X,), {}),
    ("overloaded", ("a",), {}),
    ("free", (1.0, 2.0), {}),
    ("count_of", (3,), {}),
)


@pytest.mark.parametrize(("name", "given", "named"), NAMED)
def test_names_defaults_and_overloads(name: str, given: Any, named: Any, modules: Modules) -> None:
    light, full = (getattr(module, name) for module in modules)
    assert told(lambda: light(*given, **named)) == told(lambda: full(*given, **named))


def test_a_class_behaves_alike(modules: Modules) -> None:
    def life(module: Any) -> list[Any]:
        counter = module.Counter(start=5)
        return [
            counter.add(),
            counter.add(n=4),
            counter.count,
            repr(counter),
            module.count_of(counter),
            told(lambda: counter.fill(X)),
            told(lambda: counter.add("a")),
            told(lambda: [module.worth(counter), module.worth(counter)]),
            told(lambda: module.maybe_worth(None)),
            told(lambda: module.worth(None)),
            type("More", (module.Counter,), {})(7).count,
            told(lambda: module.Counter("a")),
            told(lambda: setattr(counter, "count", 3))[0],
            module.Counter().count,
        ]

    light, full = map(life, modules)
    assert light == full


def test_two_guards_hold_both(modules: Modules) -> None:
    with torch.enable_grad():
        assert [module.guarded() for module in modules] == [False, False]


def test_warnings_are_pythons(modules: Modules) -> None:
    for module in modules:
        with pytest.warns(UserWarning, match="mind the step 3"):
            module.torch_warned(3)


def test_a_list_that_changes_while_it_is_read(modules: Modules) -> None:
    class Clears:
        def __init__(self, owner: list[Any]) -> None:
            self.owner = owner

        def __index__(self) -> int:
            self.owner.clear()
            return 1

    for module in modules:
        items: list[Any] = []
        items.extend([Clears(items), *range(50)])
        told(lambda module=module, items=items: module.total(items))  # type: ignore[misc]


def test_documentation_and_names(modules: Modules) -> None:
    for module in modules:
        assert module.__doc__ == "the contract"
        assert module.named.__name__ == "named"
        assert "doc" in module.named.__doc__
    assert {name for name in dir(modules[0]) if not name.startswith("_")} == {
        name for name in dir(modules[1]) if not name.startswith("_")
    }


def test_references_are_neither_lost_nor_kept(modules: Modules) -> None:
    light = modules[0]
    x = torch.zeros(3)
    before = x._use_count()  # type: ignore[attr-defined]
    for _ in range(100):
        light.same(x), light.add_one(x), light.several(x, x), light.stacked([x, x], 0), light.three(x)
        told(lambda: light.several(x, 3)), told(lambda: light.checked(x))
    assert x._use_count() == before  # type: ignore[attr-defined]
    assert light.same(x) is x


def test_calls_from_many_threads(modules: Modules) -> None:
    wrong: list[float] = []

    def work(n: int) -> None:
        for i in range(300):
            if modules[0].free(float(n), 2.0) != 2.0 * n or modules[0].total([n, i]) != n + i:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


OUTSIDE = {
    "operators": 'TORCH_LIBRARY(mine, m) { m.def("f", &f); }',
    "python objects": "py::object g(py::dict d) { return d; }",
    "an unknown method": "at::Tensor g(at::Tensor x) { return x.digamma(); }",
    "an unknown header": "#include <ATen/native/TensorIterator.h>",
    "what torch has and we have not": "template <class T> T hardswish(T x) { return x; }\nat::Tensor g(at::Tensor x) "
    "{ return hardswish(x); }",
    "which torch this is": "#if TORCH_VERSION_MAJOR >= 2\nint g();\n#endif",
    "a class with a base": 'struct A {}; struct B : A {};\nvoid g(py::module_& m) { py::class_<B, A>(m, "B"); }',
    "a map": 'long g(std::map<std::string, long> m) { return 1; }\nPYBIND11_MODULE(x, m) { m.def("g", &g); }',
}


@pytest.mark.parametrize("source", OUTSIDE.values(), ids=OUTSIDE)
def test_what_is_outside_the_vocabulary_says_so(source: str) -> None:
    local = building.start()
    text = f"int f() {{ return 1; }}\n{source}"
    with building.intercepted(local, "light"), pytest.raises(RuntimeError, match="the light path cannot build it"):
        cpp_extension.load_inline(name="outside", cpp_sources=text, functions=["f"])
    local.channel.close()


def test_a_solution_that_the_light_path_cannot_build_is_built_all_the_same(tmp_path: Path) -> None:
    local = building.start()
    text = "at::Tensor f(at::Tensor x) { return x.digamma(); }"
    with building.intercepted(local, "auto"):
        module = cpp_extension.load_inline(name="outside", cpp_sources=text, functions=["f"])
    assert local.outcomes[0].path == "full"
    assert "digamma" in (local.outcomes[0].why_full or "")
    assert torch.equal(module.f(X + 1), (X + 1).digamma())
    local.channel.close()
