# SPDX-License-Identifier: BSD-2-Clause
"""Places that differ by lane, made relative to what lanes share: which, that it computes the same,
and what a NEON body looks up then."""

import textwrap
from collections.abc import Callable

import numpy as np
import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.generator.options import options_of
from daedalus.generator.passes.nearby import place_nearby
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.neon.emit import emit

Make = Callable[[str], Kernel]

# As far apart as a parameter says; of each place the next {more} as well.
SPREAD = """
dst = k.plane("dst", u8, rows=(0, 4), cols=(0, {width}), access="out")
src = k.plane("src", u8, rows=(0, 4), cols=(0, {cols}))
start = k.param("start", u8, 0, 15)
step = k.param("step", u8, 1, 32)
rows = k.param("rows", u8, 1, 4)
with k.stage(y=k.upto(rows, 4), x={width}) as (y, x):
    at = start + k.lane(x) * step
    near = [src[y, (at >> 4) + n] for n in range({more})]
    dst[y, x] = clip_u8((sum(near) + (at & 15)) >> 3)
"""

# A row of a band of eight, which the lanes choose in a band that they share.
BANDS = """
dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 8), access="out")
band = k.param("band", u8, 0, {last})
start = k.param("start", u8, 0, 7)
rows = k.param("rows", u8, 1, 4)
taps = k.table("taps", u8, [[n, n + 100] for n in range(32)])
with k.stage(y=k.upto(rows, 4), x=8) as (y, x):
    at = band * {by} + ((start + k.lane(x)) & 7)
    dst[y, x] = taps[at, {column}]
"""


@pytest.fixture
def spec(tmp_path) -> Make:
    return lambda body: kernel_of(tmp_path, HEAD + textwrap.indent(body, "    "))


def _same(kernel: Kernel, made: Kernel) -> bool:
    items = vectors.make_items(kernel, 200, 1)
    want, got = interp.run(kernel, items), interp.run(made, items)
    return bool(np.array_equal(want.buffers["dst"], got.buffers["dst"]))


def _nodes(kernel: Kernel, op: Op) -> list[Node]:
    return [n for s in kernel.stages for n in s.nodes() if n.op is op]


def _lowered(kernel: Kernel) -> Kernel:
    return lower(kernel, options_of("neon", "full"))


def _text(kernel: Kernel) -> str:
    return "\n".join(line for b in emit(_lowered(kernel)) for line in b.lines)


def test_elements_lie_about_a_place_that_lanes_share(spec: Make) -> None:
    kernel = spec(SPREAD.format(width=8, cols=15 + 8, more=8))
    made = place_nearby(kernel)
    assert made is not kernel and _same(kernel, made)
    loads = _nodes(made, Op.LOAD)
    assert {tuple(a.op for a in n.args) for n in loads} == {(Op.SHR, Op.SHR)}
    assert len({n.args for n in loads}) == 1, "they differ in a constant alone"
    assert sorted(n.index[-1].const for n in loads) == [*range(8)]


def test_lanes_of_a_wide_row_are_found_in_few_registers(spec: Make) -> None:
    text = _text(spec(SPREAD.format(width=64, cols=127 + 8, more=8)))
    assert text.count("vqtbl1_u8(") == 8 and "vget_lane" not in text
    # Eight windows of 16 bytes would read a byte more than all eight lanes' do: two share one.
    assert text.count("daedalus_bytes(") == 7


def test_a_window_reads_nothing_that_no_lane_can_name(spec: Make) -> None:
    """Fifteen elements are less than a register, and nothing lies near them."""
    text = _text(spec(SPREAD.format(width=8, cols=15, more=1)))
    assert ", 0, 15)" in text and ", 0, 16)" not in text


def test_a_table_is_turned_where_lanes_choose_in_a_band(spec: Make) -> None:
    kernel = spec(BANDS.format(by=8, last=3, column=1))
    made = place_nearby(kernel)
    assert _same(kernel, made)
    (entry,) = _nodes(made, Op.TABLE)
    assert entry.attr == ("taps_by_column_of_8",)
    turned = made.table("taps_by_column_of_8").rows
    assert [len(turned), turned[0], turned[5]] == [
        8, tuple(range(8)), tuple(range(108, 116)),
    ]  # fmt: skip


def test_bands_of_two_sizes_are_two_tables(spec: Make) -> None:
    """In one variant, and in the file where two classes have their variants."""
    kernel = spec("""
dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 8), access="out")
mode = k.param("mode", u8, 0, 1)
band = k.param("band", u8, 0, 1)
start = k.param("start", u8, 0, 7)
rows = k.param("rows", u8, 1, 4)
taps = k.table("taps", u8, [[n, n + 100] for n in range(32)])
k.item_class("eights", mode=(0, 0), why="bands of eight")
k.item_class("sixteens", mode=(1, 1), why="bands of sixteen")
with k.stage(y=k.upto(rows, 4), x=8) as (y, x):
    place = start + k.lane(x)
    eighth, sixteenth = band * 8 + (place & 7), band * 16 + (place & 15)
    dst[y, x] = select(mode <= 0, taps[eighth, 0], taps[sixteenth, 1])
""")
    names = {"full": {"taps_by_column", "taps_by_column_of_8"},
             "eights": {"taps_by_column_of_8"}, "sixteens": {"taps_by_column"}}  # fmt: skip
    for of, wanted in names.items():
        made = lower(kernel, options_of("neon", of))
        assert {n.attr[0] for n in _nodes(made, Op.TABLE)} == wanted
    made = place_nearby(kernel)
    assert _same(kernel, made)
    assert len(made.table("taps_by_column").rows[0]) == 16
    assert len(made.table("taps_by_column_of_8").rows[0]) == 8


@pytest.mark.parametrize(
    "how",
    [
        {"by": 4, "last": 3, "column": 1},  # lanes may leave the band
        {"by": 8, "last": 4, "column": 1},  # the last band is none: it is limited to the last row
        {"by": 8, "last": 3, "column": "band"},  # all lanes share the column, and it varies
    ],
)
def test_others_stay(spec: Make, how: dict[str, object]) -> None:
    kernel = spec(BANDS.format(**how))
    made = place_nearby(kernel)
    assert _same(kernel, made)
    assert {n.attr[0] for n in _nodes(made, Op.TABLE)} == {"taps"}


def test_what_rows_share_is_looked_up_in_front_of_them(spec: Make) -> None:
    text = _text(spec(BANDS.format(by=8, last=3, column=1)))
    front, _, loop = text.partition("for (")
    assert "vqtbl1_u8(" in front and "vqtbl1_u8(" not in loop


def test_a_band_may_be_known(spec: Make) -> None:
    body = BANDS.format(by=8, last=3, column=0).replace("band * 8", "16")
    kernel = spec(body.replace('band = k.param("band", u8, 0, 3)\n', ""))
    made = place_nearby(kernel)
    assert _same(kernel, made)
    (entry,) = _nodes(made, Op.TABLE)
    assert entry.attr == ("taps_by_column_of_8",) and entry.args[0].value == 2
