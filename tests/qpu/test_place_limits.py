# SPDX-License-Identifier: BSD-2-Clause
"""No item makes a program of the QPU read outside of a table, a buffer or a temp: neither elements
outside of their declared range nor parameters of another class. The interpreter of virtual
programs refuses an address that is in none of them."""

from pathlib import Path

import numpy as np
import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import vectors
from daedalus.dsl.interp import in_class
from daedalus.dsl.ir import FULL, Kernel
from daedalus.generator.options import options_of
from daedalus.generator.verify.qpu_trial import interpreted, selected, trial

ROWS = ", ".join(f"[{r}, {r}, 2, 1]" for r in range(8))
HEAD_OF_ALL = [
    's = k.plane("s", u8, rows=(0, 1), cols=(0, 24), lo=0, hi=7)',
    'w = k.plane("w", u16, rows=(0, 1), cols=(0, 16), lo=0, hi=7)',
    'few = k.table("few", u8, [7, 6, 5, 3, 1, 0, 2, 4])',
    f'taps = k.table("taps", u8, [{ROWS}])',
    'n = k.param("n", u8, 0, 200)',
    'k.item_class("small", n=(0, 7))',
    'd = k.plane("d", u8, rows=(0, 1), cols=(0, 16), access="out")',
    'b = k.block("b", u8, (8,))',
]
STAGE = ["with k.stage(x=16) as x:"]
IN_TEMP = ['t = k.temp("t", (16,))', *STAGE, "    t[x] = w[0, x] * 3", *STAGE]
# What an item makes of these is beyond 7, where a conformant one's is not.
LIES = {
    "a limit that only hostile items reach": (STAGE, "clip(s[0, x], 0, 7)"),
    "an element": (STAGE, "s[0, x] & 255"),
    "a product of more than 24 bits": (STAGE, "clip((w[0, x] * 70000) >> 16, 0, 7)"),
    "a parameter of a class": (STAGE, "clip(n, 0, 7)"),
    "a value in a temp": (IN_TEMP, "clip(t[x] >> 2, 0, 7)"),
}
USES = {
    "table": "few[{}]",
    "row": "taps[{}, 0]",
    "sum": "dot(taps, {}, [s[0, x + j] for j in range(4)]) >> 8",
    "block": "b[{}]",
}


def _kernel(folder: Path, lie: str, use: str) -> Kernel:
    stage, value = LIES[lie]
    if use == "block" and "clip" not in value:
        value = f"clip({value}, 0, 7)"
    lines = [*HEAD_OF_ALL, *stage, f"    d[0, x] = clip_u8({USES[use].format(value)})"]
    return kernel_of(folder, HEAD + "\n".join("    " + line for line in lines))


@pytest.mark.parametrize("class_name", [FULL, "small"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("lie", LIES)
def test_places_stay_inside(tmp_path: Path, lie: str, use: str, class_name: str) -> None:
    kernel = _kernel(tmp_path, lie, use)
    items = vectors.in_range(kernel, vectors.make_items(kernel, 12, 1, "hostile"))
    assert not in_class(kernel, "small", items).all()
    for words in (False, True):
        options = options_of("qpu", points=1, word=words, class_name=class_name)
        s = selected(kernel, options)
        for n in range(items.count):  # each by itself: no other item's elements are beside its own
            outcome = trial(
                kernel, options, items.take(np.array([n])), 1, lying=True, run=interpreted, s=s
            )
            assert outcome.items == 1 and not outcome.strayed, outcome


DST = 'd = k.plane("d", u8, rows=(0, 1), cols=(0, 16), access="out")'
FEW = 'few = k.table("few", u8, [7, 6, 5, 3, 1, 0, 2, 4])'
BLOCK = 'b = k.block("b", u8, (8,))'
NUMBERS = 'q = k.block("q", u32, (16,), lo=0, hi=7)'
PARAM = ['u = k.param("u", u32, 0, 2**31 - 1)', 'k.item_class("small", u=(0, 7))']
# Declarations, a value that a temp holds, what is stored, and what an item holds: rules that do
# something else for it than for conformant ones, in places that no limit of the spec's keeps.
OTHERWISE = {
    "a temp holds more": ([NUMBERS, FEW], "(q[x] & 1023) * 3", "few[t[x] >> 5]", {"q": 1023}),
    "a product of signed 24 bits": ([NUMBERS, FEW], "", "few[((q[x] & 0xffffff) * 3) >> 23]",
                                    {"q": 0xFFFFFF}),
    "a rounding shift that overflows": ([NUMBERS, FEW], "",
                                        "few[round_shift(q[x] & 0x7fffffff, 29)]",
                                        {"q": 0x7FFFFFFF}),
    "a class's product, limited": ([*PARAM, BLOCK], "", "b[min(u * 2, 7)]", {"u": 2**30 + 5}),
    "a class's row of a plane": (
        [*PARAM, 'z = k.plane("z", u8, rows=(0, 8), cols=(0, 16))'], "",
        "z[min(u * 2, 7), x]", {"u": 2**30 + 5}),
    "a class's product": ([*PARAM, FEW], "", "few[(u * 2) >> 29]", {"u": 2**30 + 5}),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_rules_make_otherwise_is_limited(tmp_path: Path, name: str) -> None:
    declared, in_temp, value, holds = OTHERWISE[name]
    temp = ['t = k.temp("t", (16,))', *STAGE, f"    t[x] = {in_temp}"] if in_temp else []
    lines = [*declared, DST, *temp, *STAGE, f"    d[0, x] = {value}"]
    kernel = kernel_of(tmp_path, HEAD + "\n".join("    " + line for line in lines))
    items = vectors.in_range(kernel, vectors.make_items(kernel, 1, 1, "hostile"))
    for what, number in holds.items():
        (items.buffers if what in items.buffers else items.params)[what][...] = number
    for class_name in kernel.class_names:
        for points in (1, 4, 16):
            options = options_of("qpu", points=points, class_name=class_name)
            outcome = trial(kernel, options, items, 1, lying=True, run=interpreted)
            assert outcome.items == 1 and not outcome.strayed, outcome


def test_a_limit_below_32_bits(tmp_path: Path) -> None:
    lines = ['n = k.param("n", i32, -(2**31), 2**31 - 1)', FEW, DST, *STAGE,
             "    d[0, x] = few[clip(n, -(2**32) + 3, 7)]"]  # fmt: skip
    kernel = kernel_of(tmp_path, HEAD + "\n".join("    " + line for line in lines))
    items = vectors.make_items(kernel, 64, 1)
    assert trial(kernel, options_of("qpu", points=16), items, 1, run=interpreted).good
