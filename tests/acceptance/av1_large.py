# SPDX-License-Identifier: BSD-2-Clause
"""AV1's inverse DCT of blocks of 64 rows, 8 bit: the largest transform that a decoder has.

Of 64 frequencies the decoder reads the lower 32. A transform of 64 values is made in three stages:
of the even frequencies, of the odd ones, and what joins them. So no stage has many more than 32
values alive.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi

import numpy as np

from daedalus.dsl.lang import (
    KernelBuilder,
    LaneIndex,
    Value,
    clip,
    clip_u8,
    i16,
    kernel,
    round_shift,
    u8,
    u16,
)  # fmt: skip

Bound = Callable[[Value], Value]
Place = int | LaneIndex
Source = Callable[[int, LaneIndex], Value]  # by frequency and row or column
Store = Callable[[Place, LaneIndex, Value], None]  # by place, row or column, and value
COS128 = [round(4096 * cos(n * pi / 128)) for n in range(65)]  # Cos128_Lookup, 7.13.2.1
CODED = 32  # frequencies of a side, at most


def cos128(angle: int) -> int:
    """7.13.2.1"""
    angle %= 256
    if angle > 128:
        angle = 256 - angle
    return COS128[angle] if angle <= 64 else -COS128[128 - angle]


def brev(bits: int, x: int) -> int:
    """The lowest bits in reverse order."""
    return sum((x >> n & 1) << (bits - 1 - n) for n in range(bits))


@dataclass
class Array:
    """T of 7.13.2; a place without a value is 0. `fits` states what values it may hold."""

    t: dict[int, Value]
    fits: Bound

    def times(self, place: int, factor: int) -> Value | None:
        value = self.t.get(place)
        return None if value is None or factor == 0 else value * factor

    def b(self, a: int, b: int, angle: int, flip: int) -> None:
        """B: a rotation, and with flip an exchange."""
        c, s = cos128(angle), cos128(angle - 64)
        x = self.joined(self.times(a, c), self.times(b, -s), 12)
        y = self.joined(self.times(a, s), self.times(b, c), 12)
        self.put(a, y if flip else x)
        self.put(b, x if flip else y)

    def h(self, a: int, b: int, flip: int) -> None:
        """H: the sum and the difference."""
        a, b = (b, a) if flip else (a, b)
        x, y = self.t.get(a), self.t.get(b)
        self.put(a, self.joined(x, y))
        self.put(b, self.joined(x, None if y is None else -y))

    def joined(self, x: Value | None, y: Value | None, shift: int = 0) -> Value | None:
        """The sum of what there is, rounded."""
        there = [value for value in (x, y) if value is not None]
        if not there:
            return None
        found = there[0] if len(there) == 1 else there[0] + there[1]
        return round_shift(found, shift) if shift else found

    def put(self, place: int, value: Value | None) -> None:
        if value is None:
            self.t.pop(place, None)
        else:
            self.t[place] = self.fits(value)


def dct32(t: Array, n: int) -> None:
    """7.13.2.3 for n of 4 or 5, of the places below 32, behind the permutation."""
    five = range(n >= 5)
    for i in (i for _ in five for i in range(8)):
        t.b(16 + i, 31 - i, 6 + (brev(3, 7 - i) << 3), 0)
    for i in range(4):
        t.b(8 + i, 15 - i, 12 + (brev(2, 3 - i) << 4), 0)
    for i in (i for _ in five for i in range(8)):
        t.h(16 + 2 * i, 17 + 2 * i, i & 1)
    for i in range(2):
        t.b(4 + i, 7 - i, 56 - 32 * i, 0)
    for i in range(4):
        t.h(8 + 2 * i, 9 + 2 * i, i & 1)
    for i, j in ((i, j) for _ in five for i in range(2) for j in range(2)):
        t.b(30 - 4 * i - j, 17 + 4 * i + j, 24 + (j << 6) + ((1 - i) << 5), 1)
    for i in range(2):
        t.b(2 * i, 2 * i + 1, 32 + 16 * i, 1 - i)
    for i in range(2):
        t.h(4 + 2 * i, 5 + 2 * i, i)
    for i in range(2):
        t.b(14 - i, 9 + i, 48 + 64 * i, 1)
    for i, j in ((i, j) for _ in five for i in range(4) for j in range(2)):
        t.h(16 + 4 * i + j, 19 + 4 * i - j, i & 1)
    for i in range(2):
        t.h(i, 3 - i, 0)
    t.b(6, 5, 32, 1)
    for i, j in ((i, j) for i in range(2) for j in range(2)):
        t.h(8 + 4 * i + j, 11 + 4 * i - j, i)
    for i in (i for _ in five for i in range(4)):
        t.b(29 - i, 18 + i, 48 + (i >> 1) * 64, 1)
    for i in range(4):
        t.h(i, 7 - i, 0)
    for i in range(2):
        t.b(13 - i, 10 + i, 32, 1)
    for i, j in ((i, j) for _ in five for i in range(2) for j in range(4)):
        t.h(16 + i * 8 + j, 23 + i * 8 - j, i)
    for i in range(8):
        t.h(i, 15 - i, 0)
    for i in (i for _ in five for i in range(4)):
        t.b(27 - i, 20 + i, 32, 1)
    for i in (i for _ in five for i in range(16)):
        t.h(i, 31 - i, 0)


def odd64(t: Array) -> None:
    """7.13.2.3 for n = 6, of the places from 32 on: they meet the others in the last step alone."""
    for i in range(16):
        t.b(32 + i, 63 - i, 63 - 4 * brev(4, i), 0)
    for i in range(16):
        t.h(32 + 2 * i, 33 + 2 * i, i & 1)
    for i, j in ((i, j) for i in range(4) for j in range(2)):
        t.b(62 - i * 4 - j, 33 + i * 4 + j, 60 - 16 * brev(2, i) + 64 * j, 1)
    for i, j in ((i, j) for i in range(8) for j in range(2)):
        t.h(32 + i * 4 + j, 35 + i * 4 - j, i & 1)
    for i, j in ((i, j) for i in range(2) for j in range(4)):
        t.b(61 - i * 8 - j, 34 + i * 8 + j, 56 - i * 32 + (j >> 1) * 64, 1)
    for i, j in ((i, j) for i in range(4) for j in range(4)):
        t.h(32 + 8 * i + j, 39 + 8 * i - j, i & 1)
    for i in range(8):
        t.b(59 - i, 36 + i, 48 if i < 4 else 112, 1)
    for i in range(8):
        t.h(32 + i, 47 - i, 0)
    for i in range(8):
        t.h(48 + i, 63 - i, 1)
    for i in range(8):
        t.b(55 - i, 40 + i, 32, 1)


@kernel(
    id="av1_idct{width}x64",
    axes={"width": (16, 64)},
    clause="AV1 7.13.2.3 and 7.13.3 (inverse DCT, 2D inverse transform), 8 bit",
    decoders={"dav1d": "itx.itxfm_add[{width}x64][dct_dct](dst dst.stride coeffs! eob)"},
)
def av1_inverse(k: KernelBuilder, width: int) -> None:
    """{width}x64 inverse DCT, rounded, added to the prediction.

    Coefficients are column-major, as dav1d has them: coeffs[h][v], of the lower 32 of each side.
    """
    wide = min(width, CODED)
    dst = k.plane("dst", u8, rows=(0, 64), cols=(0, width), access="inout")
    coeffs = k.block("coeffs", i16, (wide, CODED), note="coeffs[h][v], column-major")
    last = CODED * wide - 1
    k.param("eob", u16, last, last, why="dav1d's: all coefficients may be other than 0")
    fits = k.assumption(
        "t16", i16.lo, i16.hi,
        why="7.13.2.3: values stored in T are representable by a signed integer of r bits, 16",
    )  # fmt: skip
    rows = k.temp("rows", (CODED, width))

    def both_halves(count: int, source: Source, store: Store) -> None:
        """The transform of 64 values, of so many rows or columns; `source` of a frequency."""
        even, odd = (k.temp(f"{name}{count}", (32, count)) for name in ("even", "odd"))
        with k.stage(n=count) as n:
            t = Array({2 * i: source(2 * brev(4, i), n) for i in range(16)}, fits)
            dct32(t, 5)
            for place in range(32):
                even[place, n] = t.t[place]
        with k.stage(n=count) as n:
            t = Array({32 + 2 * i: source(2 * brev(4, i) + 1, n) for i in range(16)}, fits)
            odd64(t)
            for place in range(32):
                odd[place, n] = t.t[32 + place]
        with k.stage(j=4, n=count) as (j, n):
            for i in (8 * j + r for r in range(8)):
                store(i, n, fits(even[i, n] + odd[31 - i, n]))
                store(63 - i, n, fits(even[i, n] - odd[31 - i, n]))

    def row(place: Place, v: LaneIndex, value: Value) -> None:
        rows[v, place] = clip(round_shift(value, 2), i16.lo, i16.hi)

    def pixel(y: Place, x: LaneIndex, value: Value) -> None:
        dst[y, x] = clip_u8(dst[y, x] + round_shift(value, 4))

    if width == 64:
        both_halves(CODED, lambda h, v: coeffs[h, v], row)
    else:
        with k.stage(v=CODED) as v:
            t = Array({i: coeffs[brev(4, i), v] for i in range(16)}, fits)
            dct32(t, 4)
            for place in range(16):
                row(place, v, t.t[place])
    both_halves(width, lambda v, x: rows[v, x], pixel)


@av1_inverse.inputs
def _typical(rng: np.random.Generator, count: int, width: int) -> dict[str, np.ndarray]:
    """Coefficients as an encoder makes them: fewer and smaller ones towards high frequencies."""
    wide = min(width, CODED)
    order = np.add.outer(np.arange(wide), np.arange(CODED))
    stop = rng.choice([1, 3, 8, 20, 64], (count, 1, 1))
    size = rng.choice([8, 64, 700, 3000], (count, 1, 1)) / (1 + order / 2)
    coded = np.rint(rng.laplace(0, size, (count, wide, CODED)))
    return {"coeffs": np.where(order < stop, np.clip(coded, i16.lo, i16.hi), 0).astype(np.int64)}
