# SPDX-License-Identifier: BSD-2-Clause
"""Inverse transforms of blocks that are not square, as later codecs have them.

For `./daedalus scale` alone: nobody decodes by these kernels.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from daedalus.dsl.kernels.vp9.large import inverse_adst16, inverse_dct
from daedalus.dsl.kernels.vp9.small import Bound, Transform1, inverse_adst4, inverse_adst8
from daedalus.dsl.lang import KernelBuilder, clip_u8, i16, kernel, round_shift, u8

CHANGED = frozenset(json.loads(Path(__file__).with_name("changed.json").read_text()))
ADST = {4: inverse_adst4, 8: inverse_adst8, 16: inverse_adst16}


@dataclass(frozen=True)
class Shape:
    """A transform of rows of so many points, then of columns."""

    rows: str
    columns: str
    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.rows}{self.width}_{self.columns}{self.height}"

    def passes(self, fits: Bound) -> tuple[Transform1, Transform1]:
        made = [(ADST[n] if name == "adst" else inverse_dct)(fits, fits)
                for name, n in ((self.rows, self.width), (self.columns, self.height))]  # fmt: skip
        return made[0], made[1]


SIZES = ((4, 8), (8, 4), (8, 16), (16, 8), (4, 16), (16, 4))
TYPES = ("dct", "adst")
SHAPES = (
    *(Shape(a, b, *size) for size in SIZES for a in TYPES for b in TYPES),
    *(Shape("dct", "dct", *size) for size in ((16, 32), (32, 16), (8, 32), (32, 8))),
)


@kernel(id="scale_{shape}", axes={"shape": SHAPES}, clause="VP9 8.7.2, of two sizes")
def scale_inverse(k: KernelBuilder, shape: Shape) -> None:
    """Inverse {shape.rows} of rows of {shape.width}, {shape.columns} of {shape.height}, added."""
    w, h = shape.width, shape.height
    dst = k.plane("dst", u8, rows=(0, h), cols=(0, w), access="inout")
    coeffs = k.block("coeffs", i16, (w, h), note="coeffs[h][v], column-major")
    fits = k.assumption("t16", i16.lo, i16.hi, why="8.7.1.1: what T holds fits 8 + BitDepth bits")
    rows_of, columns_of = shape.passes(fits)
    rows = k.temp("rows", (h, w))
    extra = 1 if k.id in CHANGED else 0
    with k.stage(v=h) as v:
        rows[v, :] = rows_of(coeffs[:, v])
    with k.stage(x=w) as x:
        for y, residual in enumerate(columns_of(rows[:, x])):
            dst[y, x] = clip_u8(dst[y, x] + round_shift(residual + extra, 5))
