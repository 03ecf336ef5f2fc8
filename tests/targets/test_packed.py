# SPDX-License-Identifier: BSD-2-Clause
"""The code of GPU variants, packed as text; tests/c/test_packed.c unpacks the same in C."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daedalus.generator.targets.gpu import packed

MODULE = (
    0x07230203, 0x10300, 0x80001, 200, 0,
    0x20011, 1,
    0x40015, 6, 32, 0,
    0x4002B, 6, 10, 0xFFFFFFFF,
    0x5003D, 6, 11, 10, 5,
    0x4002B, 6, 100, 0xFFFFFFFE, 0x4002B, 6, 101, 0xFFFFFFFE, 0x4002B, 6, 102, 0xFFFFFFFE,
)  # fmt: skip
MODULE_TEXT = "MYOEjDmAhgSBgCDIAQACEUcEFUMgTgQrSET/////DwU9TEdJTgQrTeQA/v///w8EK03lhAoAAOaBCgA"
PROGRAM = [0x3B186BB03F00000 + i // 3 for i in range(9)]


def test_the_texts_of_the_c_test() -> None:
    assert packed.text(packed.of_module(MODULE)) == [f'"{MODULE_TEXT}",']
    text = packed.text(packed.of_instructions(PROGRAM))
    assert text == ['"BwAA8AO7hrEDiwgAAAGSCAAAApIIAA",']


@given(
    st.lists(st.integers(0, 2**32 - 1), min_size=5, max_size=5),
    st.lists(
        st.tuples(
            st.integers(0, 2**16 - 1),
            st.lists(st.integers(0, 200) | st.integers(0, 2**32 - 1), max_size=8),
        ),
        max_size=40,
    ),
)
def test_a_module_comes_back(head: list[int], instructions: list[tuple[int, list[int]]]) -> None:
    words = (*head, *(w for op, own in instructions for w in ((len(own) + 1) << 16 | op, *own)))
    lines = packed.text(packed.of_module(words))
    assert packed.module_of("\n".join(lines)) == words


@pytest.mark.parametrize("text", ["", "M", "MYOE", MODULE_TEXT[:-4], "hAoAAA", "hAAAAA", "IAJw?"])
def test_what_is_no_module(text: str) -> None:
    with pytest.raises(ValueError):
        packed.module_of(f'"{text}",')


def test_runs_from_as_far_as_can_be() -> None:
    words = [i * 0x9E3779B97F4A7C15 % 2**32 for i in range(17000)]
    module = (*MODULE[:5], *(x for w in words + words[:9000] for x in (2 << 16 | 1, w)))
    assert packed.module_of("".join(packed.text(packed.of_module(module)))) == module


def test_pieces_are_what_every_compiler_takes() -> None:
    words = [i * 0x9E3779B97F4A7C15 % 2**64 for i in range(2000)]  # nothing comes twice
    lines = packed.text(packed.of_instructions(words))
    pieces = "".join(lines).split(",")
    assert len(pieces) > 3 and pieces.pop() == ""
    assert all(len(p.replace('"', "")) <= 4095 for p in pieces)
    assert all(len(line) <= 96 for line in lines)
