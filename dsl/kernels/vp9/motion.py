# SPDX-License-Identifier: BSD-2-Clause
"""VP9 motion compensation: filtered predictions, and copies where no filter is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from daedalus.dsl.kernels.vp9.depth import DEPTHS, Bits, Depth
from daedalus.dsl.kernels.vp9.filters import SUBPEL_FILTERS
from daedalus.dsl.lang import (
    BufferRef,
    KernelBuilder,
    Value,
    dot,
    i16,
    kernel,
    round_shift,
    u8,
)  # fmt: skip

BANKS = ("smooth", "regular", "sharp", "bilinear")
MOST = 8  # rows of an item: lower blocks have fewer, higher ones are several items
BANK = "interp_filter: smooth, regular, sharp, bilinear"
PLACE = "position in sixteenths of a sample"
Bounds = tuple[int, int]
BEFORE, BEHIND = 3, 4  # samples that 8 taps take before and behind the one that is predicted


@dataclass(frozen=True)
class Way:
    """Along which axes samples are interpolated."""

    name: str
    filter: str
    says: str

    def __str__(self) -> str:
        return self.name

    @property
    def h(self) -> bool:
        return "h" in self.name

    @property
    def v(self) -> bool:
        return "v" in self.name


@dataclass(frozen=True)
class Op:
    """What becomes of a prediction."""

    name: str
    end: str
    clause: str
    says: str

    def __str__(self) -> str:
        return self.name

    @property
    def average(self) -> bool:
        return self.name == "avg"

    @property
    def put(self) -> str:
        """The decoder's word."""
        return "avg" if self.average else "put"


WAYS = (
    Way("h", "horizontal filter", "horizontal"),
    Way("v", "vertical filter", "vertical"),
    Way("hv", "horizontal filter, then vertical filter", "horizontal, then vertical"),
)
PUT = Op("put", "", "VP9 8.5.2.3 (motion vector scaling and block inter prediction)", "put")
AVG = Op(
    "avg", "_avg", "VP9 8.5.2.3 and 8.5.1 (rounding average of two predictions)",
    "averaged with what is there",
)  # fmt: skip
COPY = Op("copy", "", PUT.clause, "put")


def entries(width: int, way: Way, op: Op, depth: Depth) -> dict[str, dict[str, str]]:
    """FFmpeg has a function for each bank, and others where mx or my is 0."""
    at = f"{'mx' if way.h else '-'} {'my' if way.v else '-'}"
    return depth.entries(f"mc[{width}]", {
        bank: f"[{bank}][{op}][{int(way.h)}][{int(way.v)}]"
        f"(dst dst.stride src src.stride rows+ {at} filter={n} bits)"
        for n, bank in enumerate(BANKS)
    })  # fmt: skip


def stored(dst: BufferRef, y: object, x: object, op: Op, value: Value) -> None:
    dst[y, x] = round_shift(dst[y, x] + value, 1) if op.average else value


def planes(
    k: KernelBuilder, depth: Depth, op: Op, width: int, high: Bounds, wide: Bounds
) -> tuple[BufferRef, BufferRef]:
    """dst, and src with these rows and columns."""
    out = "inout" if op.average else "out"
    dst = k.plane("dst", depth.type, rows=(0, MOST), cols=(0, width), access=out, hi=depth.white)
    return dst, k.plane("src", depth.type, rows=high, cols=wide, hi=depth.white)


def count_rows(k: KernelBuilder) -> Value:
    return k.param("rows", u8, 1, MOST, why="height; higher blocks are several items")


def filters(
    k: KernelBuilder, bank: Value, limited: Callable[[Value], Value]
) -> Callable[[Value, list[Value]], Value]:
    """What makes a sample of eight, at a position in sixteenths."""
    taps = k.table("taps", i16, [t for b in SUBPEL_FILTERS for t in b])

    def filtered(place: Value, pixels: list[Value]) -> Value:
        return limited(round_shift(dot(taps, bank * 16 + place, pixels), 7))

    return filtered


@kernel(
    id="vp9_mc_{width}{way}{op.end}{depth.end}",
    axes={"width": (4, 8, 16, 32, 64), "way": WAYS, "op": (PUT, AVG), "depth": DEPTHS},
    clause="{op.clause}, {way.filter}",
    decoders=entries,
)
def vp9_mc(k: KernelBuilder, width: int, way: Way, op: Op, depth: Depth) -> None:
    """8-tap {way.says} interpolation of a block {width} wide, {op.says}{depth.end_says}."""
    # What the taps reach beyond the block, along each axis that they filter.
    high, wide = ((0, MOST), (0, width))
    if way.v:
        high = (-BEFORE, MOST + BEHIND)
    if way.h:
        wide = (-BEFORE, width + BEHIND)
    dst, src = planes(k, depth, op, width, high, wide)
    bank = k.param("filter", u8, 0, 3, why=BANK)
    at = {
        name: k.param(name, u8, 0, 15, why=PLACE)
        for name, asked in (("mx", way.h), ("my", way.v))
        if asked
    }
    rows = count_rows(k)
    between: dict[str, Any] = {} if depth.high else dict.fromkeys(at, (1, 15))
    if between:
        k.item_class(
            f"sub{MOST}", rows=(MOST, MOST), **between,
            why="taps of 8 bits: only the copy's needs more",
        )  # fmt: skip
    k.item_class(f"rows{MOST}", rows=(MOST, MOST), why="an item with all of its rows")
    if width < 16:
        name = "sub4" if between else "rows4"
        k.item_class(name, rows=(4, 4), **between, why="blocks of four rows")
    filtered = filters(k, bank, Bits(k, depth).limited)
    near = range(-BEFORE, BEHIND + 1)
    if way.h and way.v:
        # Intermediate rows are limited to samples, as all decoders do it.
        mid = k.temp("mid", (MOST + 7, width))
        with k.stage(y=k.upto(rows + 7, MOST + 7), x=width) as (y, x):
            mid[y, x] = filtered(at["mx"], [src[y - BEFORE, x + n] for n in near])
        with k.stage(y=k.upto(rows, MOST), x=width) as (y, x):
            out = filtered(at["my"], [mid[y + n, x] for n in range(8)])
            stored(dst, y, x, op, out)
        return
    with k.stage(y=k.upto(rows, MOST), x=width) as (y, x):
        if way.h:
            out = filtered(at["mx"], [src[y, x + n] for n in near])
        else:
            out = filtered(at["my"], [src[y + n, x] for n in near])
        stored(dst, y, x, op, out)


@kernel(
    id="vp9_{op}{width}{depth.end}",
    axes={"op": (COPY, AVG), "width": (4, 8, 16, 32, 64), "depth": DEPTHS},
    clause="{op.clause}, at whole samples",
    decoders=lambda op, width, depth: depth.entries(
        f"mc[{width}]", {"": f"[*][{op.put}][0][0](dst dst.stride src src.stride rows+ - -)"}
    ),
)
def vp9_whole(k: KernelBuilder, op: Op, width: int, depth: Depth) -> None:
    """A block {width} wide as it stands in the reference, {op.says}{depth.end_says}."""
    dst, src = planes(k, depth, op, width, (0, MOST), (0, width))
    rows = count_rows(k)
    k.item_class(f"rows{MOST}", rows=(MOST, MOST), why="an item with all of its rows")
    if width < 16:
        k.item_class("rows4", rows=(4, 4), why="blocks of four rows")
    with k.stage(y=k.upto(rows, MOST), x=width) as (y, x):
        stored(dst, y, x, op, src[y, x])


FAR = ((MOST - 1) * 32 + 15) >> 4  # rows that the last one of an item can be below the first


def scaled_entries(width: int, op: Op, depth: Depth) -> dict[str, dict[str, str]]:
    return depth.entries(f"scaled_mc[{width}]", {
        bank: f"[{bank}][{op}](dst dst.stride src src.stride rows+ mx my+dy@src/16 dx dy"
        f" filter={n} bits)"
        for n, bank in enumerate(BANKS)
    })  # fmt: skip


@kernel(
    id="vp9_scaled_{width}{op.end}{depth.end}",
    axes={"width": (4, 8, 16, 32, 64), "op": (PUT, AVG), "depth": DEPTHS},
    clause="{op.clause}, scaled references",
    decoders=scaled_entries,
)
def vp9_scaled(k: KernelBuilder, width: int, op: Op, depth: Depth) -> None:
    """8-tap interpolation of a block {width} wide out of a reference of another size,
    {op.says}{depth.end_says}."""
    last = ((width - 1) * 32 + 15) >> 4
    dst, src = planes(
        k, depth, op, width, (-BEFORE, FAR + BEHIND + 1), (-BEFORE, last + BEHIND + 1)
    )
    bank = k.param("filter", u8, 0, 3, why=BANK)
    mx, my = (k.param(name, u8, 0, 15, why=PLACE) for name in ("mx", "my"))
    dx, dy = (
        k.param(name, u8, 1, 32, why="from sample to sample, in sixteenths")
        for name in ("dx", "dy")
    )
    rows = count_rows(k)
    k.item_class(
        "bilinear", filter=(3, 3), why="two taps of eight: the others of this bank are zero"
    )
    bits = Bits(k, depth)

    def limited(value: Value) -> Value:
        return bits.limited(value)

    filtered = filters(k, bank, limited)
    mid = k.temp("mid", (FAR + 8, width), init=0)
    with k.stage(y=k.upto((((rows - 1) * dy + my) >> 4) + 8, FAR + 8), x=width) as (y, x):
        at = mx + k.lane(x) * dx
        near = [src[y - BEFORE, (at >> 4) + n] for n in range(-BEFORE, BEHIND + 1)]
        mid[y, x] = filtered(at & 15, near)
    with k.stage(y=k.upto(rows, MOST), x=width) as (y, x):
        at = my + k.lane(y) * dy
        out = filtered(at & 15, [mid[(at >> 4) + n, x] for n in range(8)])
        stored(dst, y, x, op, out)
