# SPDX-License-Identifier: BSD-2-Clause
"""AV1 constrained directional enhancement filter, 8 bit."""

import numpy as np

from daedalus.dsl.lang import (
    KernelBuilder,
    Value,
    absdiff,
    clip,
    entry,
    i8,
    kernel,
    low_bits,
    max,
    min,
    part,
    select,
    u8,
)  # fmt: skip

# Cdef_Directions, AV1 7.15.3: for each direction, (y, x) of the two taps on one side
DIRECTIONS = (
    ((-1, 1), (-2, 2)), ((0, 1), (-1, 2)), ((0, 1), (0, 2)), ((0, 1), (1, 2)),
    ((1, 1), (2, 2)), ((1, 0), (2, 1)), ((1, 0), (2, 0)), ((1, 0), (2, -1)),
)  # fmt: skip
# Stands for a pixel that is not available: its difference is constrained to 0, it is never the
# smallest, and its low bits, as 0, never the largest.
FAR = 1 << 14
LEFT, RIGHT, TOP, BOTTOM = 1, 2, 4, 8  # bits of edges

# dav1d filters in place: what was left of the block, above and below it is kept elsewhere.
DAV1D = entry(
    "cdef.fb[8x8](dst dst.stride left top bottom pri sec dir damping edges)",
    src=[
        part((0, 8), (0, 8), "dst", stride="dst.stride"),
        part((0, 8), (8, 10), "dst", stride="dst.stride", given=("edges", RIGHT)),
        part((0, 8), (-2, 0), "left", stride=2, at=(0, -2), given=("edges", LEFT)),
        *(
            part((y, y + 2), cols, name, stride="dst.stride", at=(y, 0), given=("edges", bits))
            for name, y, edge in (("top", -2, TOP), ("bottom", 8, BOTTOM))
            for cols, bits in (((0, 8), edge), ((-2, 0), edge | LEFT), ((8, 10), edge | RIGHT))
        ),
    ],
)


@kernel(
    clause="AV1 7.15.3 (CDEF filter process), luma, 8 bit",
    decoders={"dav1d": DAV1D},
)
def av1_cdef8(k: KernelBuilder) -> None:
    """Filters an 8x8 block along a direction and beside it; edges tell what is available.

    Strengths and damping are what the decoder's filter gets (luma-adjusted); edges: 1 left,
    2 right, 4 top, 8 bottom.
    """
    dst = k.plane("dst", u8, rows=(0, 8), cols=(0, 8), access="out")
    src = k.plane("src", u8, rows=(-2, 10), cols=(-2, 10))
    pri = k.param("pri", u8, 0, 15, why="cdef_y_pri_strength, adjusted by variance")
    sec = k.param("sec", u8, 0, 4, why="cdef_y_sec_strength: 0, 1, 2 or 4")
    damping = k.param("damping", u8, 2, 6, why="cdef_damping")
    direction = k.param("dir", u8, 0, 7, why="7.15.2")
    edges = k.param("edges", u8, 0, 15)
    k.item_class("inpri", edges=(15, 15), sec=(0, 0))
    k.item_class("insec", edges=(15, 15), pri=(0, 0))
    k.item_class("inside", edges=(15, 15), why="no picture edge: no sentinels, 8 bits do")
    k.item_class("pri", sec=(0, 0))
    k.item_class("sec", pri=(0, 0))
    dy = k.table("dy", i8, [[t[0] for t in d] for d in DIRECTIONS])
    dx = k.table("dx", i8, [[t[1] for t in d] for d in DIRECTIONS])
    log2 = k.table("log2", u8, [0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3])
    wrapped = k.table("next", u8, [n % 8 for n in range(14)])

    left, right = (edges - ((edges >> 1) << 1)) > 0, ((edges >> 1) - ((edges >> 2) << 1)) > 0
    top, bottom = ((edges >> 2) - ((edges >> 3) << 1)) > 0, (edges >> 3) > 0
    tile = k.temp("tile", (12, 12))

    def fill(rows: tuple[int, int], cols: tuple[int, int], there: Value | None) -> None:
        n, m = rows[1] - rows[0], cols[1] - cols[0]
        with k.stage(y=n, x=m, given=there) as (y, x):
            tile[y + rows[0] + 2, x + cols[0] + 2] = src[y + rows[0], x + cols[0]]
        if there is not None:
            with k.stage(y=n, x=m, given=~there) as (y, x):
                tile[y + rows[0] + 2, x + cols[0] + 2] = FAR

    fill((0, 8), (0, 8), None)
    for rows, vertical in (((-2, 0), top), ((0, 8), None), ((8, 10), bottom)):
        for cols, horizontal in (((-2, 0), left), ((0, 8), None), ((8, 10), right)):
            if vertical is None and horizontal is None:
                continue
            both = vertical if horizontal is None else horizontal
            if vertical is not None and horizontal is not None:
                both = vertical & horizontal
            fill(rows, cols, both)

    pri_shift = max(damping - log2[pri], 0)
    sec_shift = max(damping - log2[sec], 0)
    even = (pri - ((pri >> 1) << 1)) <= 0

    def constrain(diff: Value, size: Value, strength: Value, shift: Value) -> Value:
        limit = max(strength - (size >> shift), 0)
        amount = min(size, limit)
        return select(diff < 0, 0 - amount, amount)

    with k.stage(y=8, x=8) as (y, x):
        px = tile[y + 2, x + 2]
        parts: list[Value] = []
        low, high = px, px
        taps: list[tuple[Value, int, Value, Value, Value | int]] = [
            (direction, n, pri, pri_shift, select(even, w, 3)) for n, w in ((0, 4), (1, 2))
        ]
        beside = [wrapped[direction + turn] for turn in (2, 6)]
        taps += [(way, n, sec, sec_shift, 2 - n) for way in beside for n in (0, 1)]
        for way, n, strength, shift, weight in taps:
            for sign in (1, -1):
                p = tile[y + 2 + dy[way, n] * sign, x + 2 + dx[way, n] * sign]
                diff = p - px
                size = absdiff(p, px)
                parts.append(constrain(diff, size, strength, shift) * weight)
                low = min(low, p)
                high = max(high, low_bits(p, 8))
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        rounded = (8 + total - select(total < 0, 1, 0)) >> 4
        # One kind of taps alone weighs at most 12/16: its sum stays between the pixels it joins.
        both = (pri > 0) & (sec > 0)
        limited = min(max(px + rounded, select(both, low, 0)), select(both, high, 255))
        dst[y, x] = clip(limited, 0, 255)


@av1_cdef8.inputs
def _strengths(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Primary, secondary or both, equally often; decoders do not filter where both are 0."""
    kind = rng.integers(0, 3, count)
    pri = np.where(kind == 0, 0, rng.integers(1, 16, count))
    return {"pri": pri, "sec": np.where(kind == 1, 0, rng.choice([1, 2, 4], count))}
