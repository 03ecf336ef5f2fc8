# SPDX-License-Identifier: BSD-2-Clause
"""VP9 motion compensation: filtered predictions, and copies where no filter is asked for."""

from dataclasses import dataclass
from typing import Any

from daedalus.dsl.kernels.vp9.filters import SUBPEL_FILTERS
from daedalus.dsl.lang import (
    BufferRef,
    KernelBuilder,
    Value,
    clip_u8,
    dot,
    i16,
    kernel,
    round_shift,
    u8,
)  # fmt: skip

BANKS = ("smooth", "regular", "sharp", "bilinear")
MOST = 8  # rows of an item: lower blocks have fewer, higher ones are several items
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


def entries(width: int, way: Way, op: Op) -> dict[str, dict[str, str]]:
    """FFmpeg has a function for each bank, and others where mx or my is 0."""
    asked = f"[{int(way.h)}][{int(way.v)}]"
    at = f"{'mx' if way.h else '-'} {'my' if way.v else '-'}"
    return {
        "ffmpeg": {
            bank: f"vp9dsp.mc[{width}][{bank}][{op}]{asked}"
            f"(dst dst.stride src src.stride rows+ {at} filter={n})"
            for n, bank in enumerate(BANKS)
        }
    }


def stored(dst: BufferRef, y: object, x: object, op: Op, value: Value) -> None:
    dst[y, x] = round_shift(dst[y, x] + value, 1) if op.average else value


@kernel(
    id="vp9_mc_{width}{way}{op.end}",
    axes={"width": (4, 8, 16, 32, 64), "way": WAYS, "op": (PUT, AVG)},
    clause="{op.clause}, {way.filter}",
    decoders=entries,
)
def vp9_mc(k: KernelBuilder, width: int, way: Way, op: Op) -> None:
    """8-tap {way.says} interpolation of a block {width} wide, {op.says}."""
    # What the taps reach beyond the block, along each axis that they filter.
    around = (-BEFORE, BEHIND)
    high, wide = ((0, MOST), (0, width))
    if way.v:
        high = (high[0] + around[0], high[1] + around[1])
    if way.h:
        wide = (wide[0] + around[0], wide[1] + around[1])
    dst = k.plane(
        "dst", u8, rows=(0, MOST), cols=(0, width), access="inout" if op.average else "out"
    )
    src = k.plane("src", u8, rows=high, cols=wide)
    bank = k.param("filter", u8, 0, 3, why="interp_filter: smooth, regular, sharp, bilinear")
    at = {
        name: k.param(name, u8, 0, 15, why="position in sixteenths of a sample")
        for name, asked in (("mx", way.h), ("my", way.v))
        if asked
    }
    rows = k.param("rows", u8, 1, MOST, why="height; higher blocks are several items")
    between: dict[str, Any] = dict.fromkeys(at, (1, 15))
    k.item_class(
        f"sub{MOST}", rows=(MOST, MOST), **between,
        why="taps of 8 bits: only the copy's needs more",
    )  # fmt: skip
    k.item_class(f"rows{MOST}", rows=(MOST, MOST), why="an item with all of its rows")
    if width < 16:
        k.item_class("sub4", rows=(4, 4), **between, why="blocks of four rows")
    taps = k.table("taps", i16, [t for b in SUBPEL_FILTERS for t in b])

    def filtered(place: Value, pixels: list[Value]) -> Value:
        return clip_u8(round_shift(dot(taps, bank * 16 + place, pixels), 7))

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
    id="vp9_{op}{width}",
    axes={"op": (COPY, AVG), "width": (4, 8, 16, 32, 64)},
    clause="{op.clause}, at whole samples",
    decoders={
        "ffmpeg": "vp9dsp.mc[{width}][*][{op.put}][0][0](dst dst.stride src src.stride rows+ - -)"
    },
)
def vp9_whole(k: KernelBuilder, op: Op, width: int) -> None:
    """A block {width} wide as it stands in the reference, {op.says}."""
    dst = k.plane(
        "dst", u8, rows=(0, MOST), cols=(0, width), access="inout" if op.average else "out"
    )
    src = k.plane("src", u8, rows=(0, MOST), cols=(0, width))
    rows = k.param("rows", u8, 1, MOST, why="height; higher blocks are several items")
    k.item_class(f"rows{MOST}", rows=(MOST, MOST), why="an item with all of its rows")
    if width < 16:
        k.item_class("rows4", rows=(4, 4), why="blocks of four rows")
    with k.stage(y=k.upto(rows, MOST), x=width) as (y, x):
        stored(dst, y, x, op, src[y, x])
