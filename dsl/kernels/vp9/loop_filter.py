# SPDX-License-Identifier: BSD-2-Clause
"""VP9 loop filters; an item is an edge segment of 8 positions."""

from daedalus.dsl.lang import (
    BufferRef,
    KernelBuilder,
    Value,
    absdiff,
    all_le,
    any_gt,
    clip,
    clip_u8,
    kernel,
    min,
    round_shift,
    select,
    u8,
)  # fmt: skip

FILTER = "vp9dsp.loop_filter_8[%d][{orientation}](dst dst.stride blimit limit thresh)"


def limits(k: KernelBuilder) -> tuple[Value, Value, Value]:
    """blimit, limit and thresh, as they are for 8 bits."""
    blimit = k.param("blimit", u8, 0, 254, why="2 * (63 + 2) + 63 = 193; must stay below 255")
    limit = k.param("limit", u8, 0, 63, why="from the filter level and sharpness")
    thresh = k.param("thresh", u8, 0, 15, why="level >> 4")
    return blimit, limit, thresh


def _edge(k: KernelBuilder) -> tuple[BufferRef, Value, Value, Value]:
    """The pixels beside the edge, blimit, limit and thresh."""
    px = k.plane("dst", u8, across=(-4, 4), along=(0, 8), access="inout", owns="all")
    return px, *limits(k)


def masks(
    p: list[Value], q: list[Value], blimit: Value, limit: Value, thresh: Value
) -> tuple[Value, Value]:
    """Filter mask and high edge variance; p and q run away from the edge."""
    steps = [absdiff(s[n + 1], s[n]) for s in (p, q) for n in range(3)]
    fm = all_le(steps, limit) & (2 * absdiff(p[0], q[0]) + (absdiff(p[1], q[1]) >> 1) <= blimit)
    return fm, any_gt([absdiff(p[1], p[0]), absdiff(q[1], q[0])], thresh)


def narrow_steps(p: list[Value], q: list[Value], hev: Value, depth: int = 8) -> tuple[Value, Value]:
    """What the narrow filter takes from q0 and adds to p0; pixels are of `depth` bits."""
    lo, hi = -(1 << (depth - 1)), (1 << (depth - 1)) - 1
    f = clip(3 * (q[0] - p[0]) + select(hev, clip(p[1] - q[1], lo, hi), 0), lo, hi)
    return min(f + 4, hi) >> 3, min(f + 3, hi) >> 3


@kernel(
    clause="VP9 8.8.2 (edge loop filter process), with the filter mask and narrow filter"
    " processes that it invokes for TX_4X4",
    axes={"orientation": ("v", "h")}, bare="h", items="edges", decoders={"ffmpeg": FILTER % 4},
)  # fmt: skip
def vp9_lpf4(k: KernelBuilder) -> None:
    """The 4-tap filter on an edge of 8 positions: changes up to two pixels on each side."""
    px, blimit, limit, thresh = _edge(k)
    with k.stage(i=8) as i:
        p, q = px[-4:0, i][::-1], px[0:4, i]
        fm, hev = masks(p, q, blimit, limit, thresh)
        f1, f2 = narrow_steps(p, q, hev)
        g = round_shift(f1, 1)
        with k.when(fm):
            px[-1, i] = clip_u8(p[0] + f2)
            px[0, i] = clip_u8(q[0] - f1)
            with k.when(~hev):
                px[-2, i] = clip_u8(p[1] + g)
                px[1, i] = clip_u8(q[1] - g)


@kernel(
    clause="VP9 8.8.2 (edge loop filter process), with the filter mask, narrow and wide filter"
    " processes that it invokes for TX_8X8",
    axes={"orientation": ("v", "h")}, bare="h", items="edges", decoders={"ffmpeg": FILTER % 8},
)  # fmt: skip
def vp9_lpf8(k: KernelBuilder) -> None:
    """The 8-tap filter where both sides are flat, else the 4-tap one; an edge of 8 positions."""
    px, blimit, limit, thresh = _edge(k)
    with k.stage(i=8) as i:
        p, q = px[-4:0, i][::-1], px[0:4, i]
        fm, hev = masks(p, q, blimit, limit, thresh)
        flat = all_le([absdiff(s[n], s[0]) for s in (p, q) for n in (1, 2, 3)], 1)
        f1, f2 = narrow_steps(p, q, hev)
        g = select(hev, 0, round_shift(f1, 1))
        narrow = [
            p[2], clip_u8(p[1] + g), clip_u8(p[0] + f2),
            clip_u8(q[0] - f1), clip_u8(q[1] - g), q[2],
        ]  # fmt: skip
        # Every wide sum is the one before, with two pixels leaving and two entering.
        row = [p[3], p[3], p[3], p[2], p[1], p[0], q[0], q[1], q[2], q[3], q[3], q[3]]
        wide = 3 * p[3] + 2 * p[2] + p[1] + p[0] + q[0]
        with k.when(fm):
            for n in range(6):
                px[n - 3, i] = select(flat, round_shift(wide, 3), narrow[n])
                if n < 5:
                    wide = wide + (row[n + 4] + row[n + 7] - row[n] - row[n + 3])
