# SPDX-License-Identifier: BSD-2-Clause
"""VP9 loop filters; an item is an edge segment of 8 positions."""

from daedalus.dsl.lang import (
    KernelBuilder,
    absdiff,
    all_le,
    any_gt,
    clip_s8,
    clip_u8,
    kernel,
    min,
    round_shift,
    select,
    u8,
)  # fmt: skip


@kernel(
    clause="VP9 8.8.2 (edge loop filter), 8.8.4 (narrow filter), filterSize TX_4X4",
    axes=("v", "h"),
    bare="h",
    items="edges",
    decoders={"ffmpeg": "dst dst.stride E I H"},
)
def vp9_lpf4(k: KernelBuilder) -> None:
    """The 4-tap filter on an edge of 8 positions: changes up to two pixels on each side."""
    px = k.plane("dst", u8, across=(-4, 4), along=(0, 8), access="inout", owns="all")
    E = k.param("E", u8, 0, 254, why="blimit: 2 * (63 + 2) + 63 = 193; must stay below 255")
    I = k.param("I", u8, 0, 63, why="limit, 8.8.3")  # noqa: E741
    H = k.param("H", u8, 0, 15, why="thresh, level >> 4")
    with k.stage(i=8) as i:
        p3, p2, p1, p0, q0, q1, q2, q3 = px[-4:4, i]
        steps = [
            absdiff(a, b) for a, b in ((p3, p2), (p2, p1), (p1, p0), (q1, q0), (q2, q1), (q3, q2))
        ]
        fm = all_le(steps, I) & (2 * absdiff(p0, q0) + (absdiff(p1, q1) >> 1) <= E)
        hev = any_gt([absdiff(p1, p0), absdiff(q1, q0)], H)
        f = clip_s8(3 * (q0 - p0) + select(hev, clip_s8(p1 - q1), 0))
        f1 = min(f + 4, 127) >> 3
        f2 = min(f + 3, 127) >> 3
        g = round_shift(f1, 1)
        with k.when(fm):
            px[-1, i] = clip_u8(p0 + f2)
            px[0, i] = clip_u8(q0 - f1)
            with k.when(~hev):
                px[-2, i] = clip_u8(p1 + g)
                px[1, i] = clip_u8(q1 - g)


@kernel(
    clause="VP9 8.8.2 (edge loop filter), 8.8.4 and 8.8.5 (narrow and wide filter), TX_8X8",
    axes=("v", "h"),
    bare="h",
    items="edges",
    decoders={"ffmpeg": "dst dst.stride E I H"},
)
def vp9_lpf8(k: KernelBuilder) -> None:
    """The 8-tap filter where both sides are flat, else the 4-tap one; an edge of 8 positions."""
    px = k.plane("dst", u8, across=(-4, 4), along=(0, 8), access="inout", owns="all")
    E = k.param("E", u8, 0, 254, why="blimit: 2 * (63 + 2) + 63 = 193; must stay below 255")
    I = k.param("I", u8, 0, 63, why="limit, 8.8.3")  # noqa: E741
    H = k.param("H", u8, 0, 15, why="thresh, level >> 4")
    with k.stage(i=8) as i:
        p3, p2, p1, p0, q0, q1, q2, q3 = px[-4:4, i]
        steps = [
            absdiff(a, b) for a, b in ((p3, p2), (p2, p1), (p1, p0), (q1, q0), (q2, q1), (q3, q2))
        ]
        fm = all_le(steps, I) & (2 * absdiff(p0, q0) + (absdiff(p1, q1) >> 1) <= E)
        apart = ((p1, p0), (q1, q0), (p2, p0), (q2, q0), (p3, p0), (q3, q0))
        flat = all_le([absdiff(a, b) for a, b in apart], 1)
        hev = any_gt([absdiff(p1, p0), absdiff(q1, q0)], H)
        f = clip_s8(3 * (q0 - p0) + select(hev, clip_s8(p1 - q1), 0))
        f1 = min(f + 4, 127) >> 3
        f2 = min(f + 3, 127) >> 3
        g = select(hev, 0, round_shift(f1, 1))
        sums = [p3 + p3 + p3 + 2 * p2 + p1 + p0 + q0]
        taps = [p3, p3, p3, p2, p1, p0, q0, q1, q2, q3, q3, q3]
        for n in range(5):
            sums.append(sums[-1] + (taps[n + 4] + taps[n + 7] - taps[n] - taps[n + 3]))
        with k.when(fm):
            px[-3, i] = select(flat, round_shift(sums[0], 3), p2)
            px[-2, i] = select(flat, round_shift(sums[1], 3), clip_u8(p1 + g))
            px[-1, i] = select(flat, round_shift(sums[2], 3), clip_u8(p0 + f2))
            px[0, i] = select(flat, round_shift(sums[3], 3), clip_u8(q0 - f1))
            px[1, i] = select(flat, round_shift(sums[4], 3), clip_u8(q1 - g))
            px[2, i] = select(flat, round_shift(sums[5], 3), q2)
