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
from daedalus.generator.options import options_of
from daedalus.generator.passes.divide import divide_stages
from daedalus.generator.passes.loops import live_registers
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.passes.tails import tails_early
from daedalus.generator.targets.neon.emit import emit

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
    assert sum(t.extents[0] for t in made.temps) <= 20
    assert {t.extents[1] for t in made.temps} == {16}
    assert {s.buffer for s in made.stages[0].stores} == {t.name for t in made.temps}
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


# Values of several ranges cross: signed ones, and some that only unsigned 32 bits hold.
RANGES = """
c = k.block("c", i16, (40, 16), lo=-90, hi=90)
w = k.plane("w", u32, rows=(0, 8), cols=(0, 16))
b = k.plane("b", u8, rows=(0, 8), cols=(0, 16))
dst = k.plane("dst", i32, rows=(0, 52), cols=(0, 16), access="out")
part1 = k.param("part1", u8, 0, 100)
def mixed(x):
    total = sum(x)
    return [(total - a * 3) >> 4 for a in x]
with k.stage(x=16) as x:
    wide = [max(w[n, x], w[7 - n, x]) for n in range(4)]
    bytes_ = [absdiff(b[n, x], b[7 - n, x]) for n in range(4)]
    one = mixed([c[n, x] for n in range(20)])
    two = mixed([c[n, x] for n in range(20, 40)])
    for n in range(20):
        dst[n, x] = one[n] + two[n]
        dst[n + 20, x] = one[n] - two[n]
    for n in range(4):
        dst[n + 40, x] = wide[n] >> 3
        dst[n + 44, x] = (wide[n] >> 5) + part1
        dst[n + 48, x] = bytes_[n] * 100000
"""


def test_values_of_each_range_have_a_temp_that_holds_them(spec: Make) -> None:
    kernel = spec(RANGES)
    made = divide_stages(kernel)
    assert len(made.stages) == 2 and len(made.temps) > 1
    assert _same(kernel, made)
    lowered = lower(kernel, options_of("neon", "full"))
    emit(lowered)  # nothing is refused, or named twice


def test_values_that_decide_places_stay_where_they_are_limited(spec: Make) -> None:
    table = 'lut = k.plane("lut", i16, rows=(0, 1), cols=(0, 64))\nwith k.stage'
    body = HALVES.replace("with k.stage", table)
    kernel = spec(body.replace("one[n] + two[n]", "lut[0, clip(one[n] + two[n], 0, 63)]"))
    assert len(divide_stages(kernel).stages) == 1


def test_an_early_end_of_a_turn_ends_no_other(spec: Make) -> None:
    kernel = spec("""
c = k.block("c", i16, (40, 16), lo=-90, hi=90)
dst = k.plane("dst", i16, rows=(0, 40), cols=(0, 16), access="inout")
with k.stage(x=16) as x:
    with k.when(c[0, x] > 3):
        values = [c[n, x] * c[n, x] for n in range(40)]
        total = sum(values) >> 8
        for n in range(40):
            dst[n, x] = (values[n] >> 2) - total
""")
    lowered = lower(kernel, options_of("neon", "full", early_out=True))
    assert any(s.loops and s.guard is not None for s in lowered.stages)
    (body,) = emit(lowered)
    text = "\n".join(body.lines)
    assert "continue;" in text and "return;" not in text


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
