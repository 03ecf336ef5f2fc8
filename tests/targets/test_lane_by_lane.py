# SPDX-License-Identifier: BSD-2-Clause
"""Accumulation, first values, lookups by the lane and stores under a condition of the lane's number:
as vectors and NEON, beside the interpreter; how they are written where there is a short form."""

import re
import textwrap
from pathlib import Path

import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.variants import make_variant
from daedalus.generator.options import options_of
from daedalus.generator.verify.fuzz.cpu import Cpu
from daedalus.generator.verify.fuzz.programs import Program

DECLARED = """
px = k.plane("px", u8, rows=(0, 8), cols=(0, 48), access=PX)
c = k.block("c", i16, (8, 8), lo=-2000, hi=2000)
p = k.param("p", u8, 0, 60)
d = k.block("d", u32, (2, 16))
"""

WIDE = """
wide = k.block("wide", i32, (48,), access="inout", lo=-9, hi=9)
"""

FIRST_VALUES = """
t = k.temp("t", (8, 8), init=-7)
u = k.temp("u", (8, 3), init=11)
with k.stage(y=8, x=8) as (y, x):
    with k.when(px[y, x] > 100):
        t[y, x] = px[y, x]
with k.stage(y=8) as y:
    with k.when(c[y, 0] > p):
        u[y, 1] = c[y, 1]
with k.stage(y=8, x=8) as (y, x):
    px[y, x] = clip_u8(t[x, y] + u[x, 1])
"""

ONE_SUM = """
total = k.temp("total", (3,), init=5)
with k.stage(y=8, x=16) as (y, x):
    total.accumulate(0, px[y, x])
    with k.when(px[y, x] > p):
        total.accumulate(1, px[y, x] - 300)
    total.accumulate(0, px[y, 17])
with k.stage(x=8) as x:
    wide[x] = total[0] - 2 * total[1] + total[2]
"""

EXTREMES = """
lo, hi = k.temp("lo", (4,), init=900), k.temp("hi", (4,), init=-900)
with k.stage(y=4, x=8) as (y, x):
    lo.accumulate(y, c[y, x], "min")
    with k.when(c[y, x] <= p):
        hi.accumulate(y, c[y + 4, x], "max")
with k.stage(y=4) as y:
    wide[y] = lo[y] - 3 * hi[y]
    wide[y + 4] = hi[y]
"""

DIAGONALS = """
s = k.temp("s", (16,), init=0)
rows = k.temp("rows", (8,), init=0)
with k.stage(y=8, x=8) as (y, x):
    s.accumulate(y + x, c[y, x])
    rows.accumulate(x, c[y, x])
with k.stage(n=16) as n:
    wide[n] = s[n]
with k.stage(n=8) as n:
    wide[n + 16] = rows[n]
"""

LIMITED_SUM = """
s = k.temp("s", (8,), init=0)
with k.stage(y=k.upto(p, 8), x=8, given=p > 2) as (y, x):
    s.accumulate(x, c[y, x])
with k.stage(x=k.upto(p, 48)) as x:
    s.accumulate(3, px[0, x])
with k.stage(n=8) as n:
    wide[n] = s[n]
"""

LOOKUPS = """
curve = k.table("curve", u8, [n * n % 251 for n in range(100)])
weights = k.table("weights", i16, [[n * 301 - 700, 9 - n, n << 11] for n in range(6)])
with k.stage(y=8, x=8) as (y, x):
    px[y, x] = curve[px[y, x] - 100]
    px[y, x + 8] = clip_u8(weights[k.lane(x) - 1, 1] + px[y, x + 8])
    px[y, x + 16] = clip_u8((weights[p, c[y, x]] >> 4) + curve[c[y, x] + px[y, x + 8]])
with k.stage(x=13) as x:
    wide[x] = weights[d[0, 0] >> 30, px[0, x]] * curve[px[1, x] * c[0, 1]]
"""

SIDES = """
with k.stage(y=8, x=8) as (y, x):
    at = k.lane(x)
    with k.when(at < p):
        px[y, x] = 255 - px[y, x]
    with k.when((at > 2) & (at < 7)):
        px[y, x + 8] = 255 - px[y, x + 8]
    with k.when((at == p) | (k.lane(y) + at > 9)):
        px[y, x + 16] = 255 - px[y, x + 16]
    with k.when((at < p) & (px[y, x + 24] > 7)):
        px[y, x + 24] = px[y, x + 24] >> 1
with k.stage(x=16) as x:
    wide[x] = 0
    with k.when(~(k.lane(x) == p)):
        wide[x + 16] = px[0, x]
    with k.when(k.lane(x) < 5):
        wide[x + 32] = px[0, x]
"""

FAR_SIDES = """
with k.stage(x=k.upto(p, 48)) as x:
    at = k.lane(x)
    with k.when((at == p - 3) | (at < 7)):
        px[0, x] = 255 - px[0, x]
    with k.when(at + 2 < p):
        px[1, x] = 255 - px[1, x]
with k.stage(x=48) as x:
    with k.when((k.lane(x) > p) & (k.lane(x) != 40)):
        px[2, x] = px[2, x] >> 1
    wide[x] = px[3, x]
"""

ROWS = """
with k.stage(y=8) as y:
    for n in range(4):
        with k.when(k.lane(y) > p):
            px[y, n] = 255 - px[y, n]
        px[y, n + 4] = 255 - px[y, n + 4]
"""

TWO_SIGNS = """
with k.stage(x=8) as x:
    small = c[0, x] * c[1, x]
    at = select(d[0, x] > 900, d[0, x], px[1, x])
    wide[x] = min(at, small)
    wide[x + 8] = max(d[1, x], small) >> 1
    px[0, x] = clip_u8(select(at > small, px[0, x], 3) + select(small <= d[0, 3], 1, 0))
"""

BODIES = {
    "first_values": FIRST_VALUES,
    "one_sum": ONE_SUM,
    "extremes": EXTREMES,
    "diagonals": DIAGONALS,
    "limited_sum": LIMITED_SUM,
    "lookups": LOOKUPS,
    "sides": SIDES,
    "far_sides": FAR_SIDES,
    "rows": ROWS,
    "two_signs": TWO_SIGNS,
}
STRAIGHT = {"first_values", "one_sum", "extremes", "diagonals", "lookups", "rows", "two_signs"}


def _kernel(folder: Path, body: str, name: str = "test_it") -> Kernel:
    px = '"inout"' if re.search(r"px\[.*\] = ", body) else '"in"'
    wide = WIDE if "wide[" in body else ""
    declared = DECLARED.replace("PX", px) + wide
    text = textwrap.indent((declared + body).strip("\n"), "    ")
    return kernel_of(folder, HEAD.replace("test_it", name) + text)


@pytest.mark.parametrize("target", ["vector", "neon"])
def test_they_compute_what_the_interpreter_does(target: str, tmp_path: Path) -> None:
    programs = []
    for n, (name, body) in enumerate(BODIES.items()):
        kernel = _kernel(tmp_path / name, body, f"by_{name}")
        listed = [options_of("c"), options_of(target), options_of(target, rows=2)]
        if name in STRAIGHT:
            listed += [options_of(target, items=items) for items in (2, 4)]
        programs.append(Program(1, n, kernel, tuple(listed)))
    tally = Cpu(("c", target)).run(programs, 96)
    assert [f.text for f in tally.failures] == []
    assert not tally.refused and not tally.illegal and tally.without_conformant == 0
    assert tally.variants == sum(len(p.listed) for p in programs)


def _text(folder: Path, body: str) -> str:
    kernel = _kernel(folder, body)
    options = options_of("neon")
    return make_variant(environment(), kernel, options, prod=True, rank=0, spec="a test").text


def test_a_sum_of_all_lanes_is_reduced_once(tmp_path: Path) -> None:
    text = _text(tmp_path, ONE_SUM)
    assert text.count("vaddvq_") == 2  # an element each, whatever merges into it


def test_neighbours_are_merged_at_once(tmp_path: Path) -> None:
    text = _text(tmp_path, DIAGONALS)
    assert "vst1q_s16(&rows[0], merged" in text or "vst1q_s32(&rows[0], merged" in text
    assert "vaddv" not in text


def test_lanes_that_are_known_not_to_store_are_left_out(tmp_path: Path) -> None:
    text = _text(tmp_path, SIDES)
    assert text.count("wide[32] = ") == 1 and "wide[36] = " in text and "wide[37] = " not in text


def test_all_lanes_store_at_once_where_their_ends_may(tmp_path: Path) -> None:
    text = _text(tmp_path, SIDES)
    assert "if ((0 < p) && (7 < p)) {" in text or "if ((p > 0) && (p > 7)) {" in text
