from __future__ import annotations

import textwrap

import pytest
from kbench.reply import Code, Miss, extract

ENTRY = ("ModelNew",)
GOOD = "import torch\n\nclass ModelNew:\n    def forward(self, x):\n        return x\n"


def code(reply: str) -> Code:
    found = extract(reply, ENTRY)
    assert isinstance(found, Code), found
    return found


def miss(reply: str) -> str:
    found = extract(reply, ENTRY)
    assert isinstance(found, Miss), found
    return found.reason


def test_the_last_block_that_defines_it() -> None:
    later = GOOD.replace("return x", "return 2 * x")
    reply = f"a\n```python\n{GOOD}```\nb\n```python\n{later}```\nc\n```\nprint('no class')\n```\n"
    assert code(reply).text == later


def test_a_fence_that_is_never_closed() -> None:
    assert code(f"text\n```python\n{GOOD}").text == GOOD


def test_indented_fences() -> None:
    assert code(textwrap.indent(f"```python\n{GOOD}```\n", "    ")).text == GOOD


def test_lines_are_those_of_the_reply() -> None:
    found = code(f"one\ntwo\n```python\n{GOOD}```\n")
    assert (found.first_line, found.last_line) == (4, 8)


def test_without_a_fence_the_longest_run_and_of_equals_the_last() -> None:
    short = "class ModelNew:\n    def forward(self, x):\n        return 1\n"
    other = GOOD.replace("return x", "return 3")
    reply = f"So I write:\n\n{short}\nBut better, so:\n\n{GOOD}\nOr no, wait: it's\n\n{other}\nThat is it, isn't it?\n"
    assert code(reply).text.strip() == other.strip()


def test_a_run_keeps_triple_quoted_sources_above_the_class() -> None:
    source = 'import torch\n\nsource = """\n__global__ void k() {\n\n}\n"""\n\nclass ModelNew:\n    pass\n'
    found = code("The code, then, is this:\n\n" + textwrap.indent(source, "    ") + "\nDoes that work? I don't know.\n")
    assert found.text.startswith("import torch")
    assert "__global__" in found.text


def test_misses_name_what_was_nearest() -> None:
    assert "holds no code block" in miss("just words\n")
    assert "line 2 only mentions it" in miss("first\nthen ModelNew is what I would write\n")
    assert "defines ModelNew" in miss("```python\nx = 1\n```\n")
    assert "does not parse: line 3" in miss("```python\nclass ModelNew:\n    def f(:\n```\n")


@pytest.mark.parametrize("size", [200, 2000])
def test_long_replies_take_little_time(size: int) -> None:
    prose = "Let me think about x = y, then.\n" * size
    assert code(prose + GOOD + "\n" + prose).text.strip() == GOOD.strip()
