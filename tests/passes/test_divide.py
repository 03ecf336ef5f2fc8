# SPDX-License-Identifier: BSD-2-Clause
"""Which stages become two, what lies in memory between them, and that they compute the same."""

import textwrap
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.divide import divide_stages
from daedalus.generator.passes.loops import live_registers
from daedalus.generator.passes.tails import tails_early

Make = Callable[[str], Kernel]

# Two sums and differences of twenty values each that need nothing of each other, and then sums of
# both: forty values are alive at once, and twenty where the first are in memory.
HALVES = """
c = k.block("c", i16, (40, 16), lo=-90, hi=90)
dst = k.plane("dst", i16, rows=(0, 40), cols=(0, 16), access="out")
def mixed(x):
    total = sum(x)
    return [(total - a * 3) >> 4 for a in x]
with k.stage(x=16) as x:
    one = mixed([c[n, x] for n in range(20)])
    two = mixed([c[n, x] for n in range(20, 40)])
    for n in range(20):
        dst[n, x] = one[n] + two[n]
        dst[n + 20, x] = one[n] - two[n]
"""

# All is alive until the last value is known, at any place.
NO_PLACE = """
c = k.block("c", i16, (40, 16), lo=-90, hi=90)
dst = k.plane("dst", i16, rows=(0, 40), cols=(0, 16), access="out")
with k.stage(x=16) as x:
    values = [c[n, x] * c[n, x] for n in range(40)]
    total = sum(values) >> 8
    for n in range(40):
        dst[n, x] = (values[n] >> 2) - total
"""


@pytest.fixture
def spec(tmp_path) -> Make:
    return lambda body: kernel_of(tmp_path, HEAD + textwrap.indent(body, "    "))


def _most(kernel: Kernel) -> int:
    ranges = Ranges(kernel)
    return max(live_registers(ranges, s.nodes(), 8) for s in kernel.stages)


def _same(kernel: Kernel, made: Kernel) -> bool:
    items = vectors.make_items(kernel, 100, 1)
    want, got = interp.run(kernel, items), interp.run(made, items)
    return np.array_equal(want.buffers["dst"], got.buffers["dst"])


def test_halves_that_need_nothing_of_each_other_are_two_stages(spec: Make) -> None:
    kernel = spec(HALVES)
    assert _most(kernel) > 32
    made = divide_stages(kernel)
    assert len(made.stages) == 2 and _most(made) <= 28
    (temp,) = made.temps
    (_, handed_over), columns = temp.shape
    assert handed_over <= 20 and columns == (0, 16)
    assert {s.buffer for s in made.stages[0].stores} == {temp.name}
    assert {s.buffer for s in made.stages[1].stores} == {"dst"}
    assert _same(kernel, made)


@pytest.mark.parametrize(
    "body",
    [
        NO_PLACE.replace("40", "8"),  # registers hold it
        HALVES.replace(", 16)", ", 8)").replace(
            "=16", "=8"
        ),  # one vector: no loop whose turns could be two
        HALVES.replace(", 16)", ", 20)").replace("=16", "=20"),  # no multiple of what a turn does
    ],
    ids=["few values", "one vector", "no multiple"],
)
def test_others_stay_one(spec: Make, body: str) -> None:
    kernel = spec(body)
    assert len(divide_stages(kernel).stages) == 1


def test_what_cannot_be_divided_to_fit_still_computes_the_same(spec: Make) -> None:
    kernel = spec(NO_PLACE)
    assert _same(kernel, divide_stages(kernel))


def test_what_a_store_makes_of_a_value_comes_right_behind_it(spec: Make) -> None:
    kernel = spec("""
c = k.block("c", i16, (2, 16), lo=-90, hi=90)
dst = k.plane("dst", u8, rows=(0, 2), cols=(0, 16), access="inout")
with k.stage(x=16) as x:
    a = c[0, x] + c[1, x]
    b = c[0, x] - c[1, x]
    dst[0, x] = clip_u8(dst[0, x] + (a >> 2))
    dst[1, x] = clip_u8(dst[1, x] + (b >> 2))
""")
    (stage,) = kernel.stages
    made = tails_early(kernel, stage)
    first, _ = (s.value for s in made.stores)
    difference = next(n for n in made.nodes() if n.op == "sub")
    assert first.seq < difference.seq  # all of the first store before the second's first value
    assert _same(kernel, replace(kernel, stages=(made,)))
