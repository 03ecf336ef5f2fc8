# SPDX-License-Identifier: BSD-2-Clause
"""Interpolation by other codecs' filters, at the sizes of their blocks.

For `./daedalus scale` alone: nobody decodes by these kernels.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daedalus.dsl.lang import (
    KernelBuilder,
    Value,
    clip,
    dot,
    i16,
    kernel,
    round_shift,
    u8,
    u16,
)  # fmt: skip

CHANGED = frozenset(json.loads(Path(__file__).with_name("changed.json").read_text()))


@dataclass(frozen=True)
class Filter:
    """A bank of taps for each position between samples, of which the sum is 2^shift."""

    name: str
    clause: str
    bank: tuple[tuple[int, ...], ...]
    shift: int
    depth: int = 8

    def __str__(self) -> str:
        return self.name

    @property
    def taps(self) -> int:
        return len(self.bank[0])


HEVC_LUMA = (
    (0, 0, 0, 64, 0, 0, 0, 0), (-1, 4, -10, 58, 17, -5, 1, 0), (-1, 4, -11, 40, 40, -11, 4, -1),
    (0, 1, -5, 17, 58, -10, 4, -1),
)  # fmt: skip
HEVC_CHROMA = (
    (0, 64, 0, 0), (-2, 58, 10, -2), (-4, 54, 16, -2), (-6, 46, 28, -4), (-4, 36, 36, -4),
    (-4, 28, 46, -6), (-2, 16, 54, -4), (-2, 10, 58, -2),
)  # fmt: skip
FILTERS = (
    Filter("chroma4", "HEVC 8.5.3.3.3.3 (chroma sample interpolation)", HEVC_CHROMA, 6),
    Filter("luma8", "HEVC 8.5.3.3.3.2 (luma sample interpolation)", HEVC_LUMA, 6),
    Filter("luma8_10", "HEVC 8.5.3.3.3.2, 10 bits", HEVC_LUMA, 6, depth=10),
)


@kernel(
    id="scale_{bank}_{width}{way}{op}",
    axes={
        "bank": FILTERS, "width": (4, 8, 16, 32), "way": ("h", "v", "hv"),
        "op": ("", "_avg"),
    },
    clause="{bank.clause}",
)  # fmt: skip
def scale_motion(k: KernelBuilder, bank: Filter, width: int, way: str, op: str) -> None:
    """Interpolation by the filter {bank}, along {way}, of a block {width} wide."""
    most = 16 if width >= 16 else 8
    white = (1 << bank.depth) - 1
    t = u8 if bank.depth == 8 else u16
    before = bank.taps // 2 - 1
    around = (-before, bank.taps - 1 - before)
    high, wide = (0, most), (0, width)
    if "v" in way:
        high = (around[0], most + around[1])
    if "h" in way:
        wide = (around[0], width + around[1])
    bounds: dict[str, Any] = {} if t is u8 else {"hi": white}
    dst = k.plane("dst", t, rows=(0, most), cols=(0, width), access="inout" if op else "out",
                  **bounds)  # fmt: skip
    src = k.plane("src", t, rows=high, cols=wide, **bounds)
    at = {n: k.param(f"m{n}", u8, 0, len(bank.bank) - 1, why="position") for n in ("x", "y")
          if {"x": "h", "y": "v"}[n] in way}  # fmt: skip
    rows = k.param("rows", u8, 1, most, why="height")
    k.item_class(f"rows{most}", rows=(most, most), why="an item with all of its rows")
    taps = k.table("taps", i16, [list(row) for row in bank.bank])
    extra = 1 if k.id in CHANGED else 0

    def filtered(place: Value, pixels: list[Value]) -> Value:
        found = dot(taps, place, pixels) + extra
        return clip(round_shift(found, bank.shift), 0, white)

    def stored(y: object, x: object, value: Value) -> None:
        dst[y, x] = round_shift(dst[y, x] + value, 1) if op else value

    near = range(around[0], around[1] + 1)
    if way == "hv":
        mid = k.temp("mid", (most + bank.taps - 1, width))
        reach = bank.taps - 1
        with k.stage(y=k.upto(rows + reach, most + reach), x=width) as (y, x):
            mid[y, x] = filtered(at["x"], [src[y - before, x + n] for n in near])
        with k.stage(y=k.upto(rows, most), x=width) as (y, x):
            stored(y, x, filtered(at["y"], [mid[y + n, x] for n in range(bank.taps)]))
        return
    with k.stage(y=k.upto(rows, most), x=width) as (y, x):
        if way == "h":
            stored(y, x, filtered(at["x"], [src[y, x + n] for n in near]))
        else:
            stored(y, x, filtered(at["y"], [src[y + n, x] for n in near]))
