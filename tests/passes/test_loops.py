# SPDX-License-Identifier: BSD-2-Clause
"""Which stages do their lanes in turns, and that they compute the same; what a NEON body makes of
a temp between such stages."""

import textwrap
from collections.abc import Callable

import numpy as np
import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.dsl.ranges import Ranges
from daedalus.generator.compile.registry import load
from daedalus.generator.options import options_of
from daedalus.generator.passes.loops import live_registers, loop_lanes
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.neon.emit import emit

Make = Callable[[str], Kernel]

# A sum and differences of all that a lane reads: everything is alive at once.
TRANSFORM = """
c = k.block("c", i16, ({n}, {n}), lo=-500, hi=500)
dst = k.plane("dst", u8, rows=(0, {n}), cols=(0, {n}), access="inout")
rows = k.temp("rows", ({n}, {n}))
def mixed(x):
    total = sum(x)
    return [(total - a * 3) >> 4 for a in x]
with k.stage(v={n}) as v:
    rows[v, :] = mixed(c[:, v])
with k.stage(x={n}) as x:
    for y, value in enumerate(mixed(rows[:, x])):
        dst[y, x] = clip_u8(dst[y, x] + value)
"""


@pytest.fixture
def spec(tmp_path) -> Make:
    return lambda body: kernel_of(tmp_path, HEAD + textwrap.indent(body, "    "))


def test_sixteen_lanes_of_many_values_are_two_turns(spec: Make) -> None:
    kernel = spec(TRANSFORM.format(n=16))
    ranges = Ranges(kernel)
    assert all(live_registers(ranges, s.nodes(), 16) > 32 for s in kernel.stages)
    made = loop_lanes(kernel)
    assert [s.dims for s in made.stages] == [
        (("v", 2), ("v_in", 8)), (("x", 2), ("x_in", 8)),
    ]  # fmt: skip
    assert [s.loops for s in made.stages] == [("v",), ("x",)]
    items = vectors.make_items(kernel, 100, 1)
    want, got = interp.run(kernel, items), interp.run(made, items)
    assert np.array_equal(want.buffers["dst"], got.buffers["dst"])


@pytest.mark.parametrize(
    "body",
    [
        TRANSFORM.format(n=8),
        TRANSFORM.format(n=20),  # no multiple of what a turn does
        """
src = k.plane("src", u8, rows=(0, 4), cols=(0, 16))
dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 16), access="inout")
with k.stage(y=4, x=16) as (y, x):
    dst[y, x] = clip_u8(dst[y, x] + src[y, x] * 3)
""",
    ],
    ids=["a vector", "no multiple", "few values"],
)
def test_others_stay_as_they_are(spec: Make, body: str) -> None:
    kernel = spec(body)
    assert loop_lanes(kernel) == kernel


def test_kernels_of_the_library_of_8_lanes_have_no_such_loops() -> None:
    for entry in load():
        if entry.kernel.id in ("vp9_idct8", "vp9_iadst8", "h264_idct8"):
            assert not any(s.loops for s in lower(entry.kernel, options_of("neon", "full")).stages)


def test_a_temp_in_memory_is_written_by_rows(spec: Make) -> None:
    """Eight lanes that lie a row apart are transposed, and read as they lie."""
    kernel = lower(spec(TRANSFORM.format(n=16)), options_of("neon", "full"))
    (body,) = emit(kernel)
    text = "\n".join(body.lines)
    assert "for (int v = 0; v < 2; v++) {" in text and "for (int x = 0; x < 2; x++) {" in text
    for row in range(8):
        at = "8*v" if row == 0 else f"8*v + {row}"
        for first in (0, 8):
            assert f"&rows[{at}][{first}]" in text
    assert all(f"(&rows[{row}][8*x])" in text for row in range(16))


def test_what_rows_share_goes_around_them(spec: Make) -> None:
    """Where lanes keep values from row to row, eight columns are done row by row."""
    kernel = spec("""
dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 32), access="out")
src = k.plane("src", u8, rows=(0, 4), cols=(0, 78))
step = k.param("step", u8, 1, 32)
rows = k.param("rows", u8, 1, 4)
with k.stage(y=k.upto(rows, 4), x=32) as (y, x):
    at = k.lane(x) * step
    near = [src[y, (at >> 4) + n] for n in range(16)]
    dst[y, x] = (sum(near) + (at & 15)) >> 5
""")
    (stage,) = loop_lanes(kernel).stages
    assert stage.dims == (("x", 4), ("y", 4), ("x_in", 8)) and stage.loops == ("x",)
    items = vectors.make_items(kernel, 100, 1)
    want, got = interp.run(kernel, items), interp.run(loop_lanes(kernel), items)
    assert np.array_equal(want.buffers["dst"], got.buffers["dst"])
