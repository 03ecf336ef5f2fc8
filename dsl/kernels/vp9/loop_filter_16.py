# SPDX-License-Identifier: BSD-2-Clause
"""VP9's loop filter of 16 taps; an item is an edge segment of 8 positions."""

from dataclasses import dataclass

import numpy as np

from daedalus.dsl.kernels.vp9.loop_filter import FILTER, limits, masks, narrow_steps
from daedalus.dsl.lang import (
    KernelBuilder,
    absdiff,
    all_le,
    clip,
    kernel,
    round_shift,
    select,
    u8,
    u16,
)  # fmt: skip


@dataclass(frozen=True)
class Depth:
    """Bits a sample."""

    bits: int
    end: str

    def __str__(self) -> str:
        return str(self.bits)

    @property
    def more(self) -> int:
        return self.bits - 8

    @property
    def white(self) -> int:
        return (1 << self.bits) - 1


DEPTHS = (Depth(8, ""), Depth(10, "_10"))


def entries(depth: Depth, orientation: str) -> dict[str, str]:
    """Of 8 bits; the tables of more are in codecs/compared.toml."""
    return {} if depth.more else {"ffmpeg": FILTER.format(orientation=orientation) % 16}


@kernel(
    id="vp9_lpf16{depth.end}_{orientation}",
    clause="VP9 8.8.2 (edge loop filter process), with the filter mask, narrow and wide filter"
    " processes that it invokes for TX_16X16 and larger, BitDepth {depth.bits}",
    axes={"depth": DEPTHS, "orientation": ("v", "h")}, bare="h", items="edges", decoders=entries,
)  # fmt: skip
def vp9_lpf16(k: KernelBuilder, depth: Depth) -> None:
    """The 16-tap filter where both sides are flat far out, else the 8-tap or the 4-tap one.

    An edge of 8 positions, {depth.bits} bits a sample. The limits are those for 8
    bits: the filter scales them, and flatness.
    """
    px = k.plane(
        "dst", u16 if depth.more else u8, across=(-8, 8), along=(0, 8),
        access="inout", hi=depth.white, owns="all",
    )  # fmt: skip
    blimit, limit, thresh = (x << depth.more if depth.more else x for x in limits(k))
    with k.stage(i=8) as i:
        p, q = px[-8:0, i][::-1], px[0:8, i]
        fm, hev = masks(p, q, blimit, limit, thresh)
        flat, far = (
            all_le([absdiff(s[n], s[0]) for s in (p, q) for n in ns], 1 << depth.more)
            for ns in (range(1, 4), range(4, 8))
        )
        f1, f2 = narrow_steps(p, q, hev, depth.bits)
        g = select(hev, 0, round_shift(f1, 1))
        moved = [clip(x, 0, depth.white) for x in (p[1] + g, p[0] + f2, q[0] - f1, q[1] - g)]
        near = [p[2], *moved, q[2]]
        # Every wide sum is the one before, with two pixels leaving and two entering.
        row = [p[3]] * 3 + p[2::-1] + q[:3] + [q[3]] * 3
        sum8 = 3 * p[3] + 2 * p[2] + p[1] + p[0] + q[0]
        for n in range(6):
            near[n] = select(flat, round_shift(sum8, 3), near[n])
            if n < 5:
                sum8 = sum8 + (row[n + 4] + row[n + 7] - row[n] - row[n + 3])
        row = [p[7]] * 7 + p[6::-1] + q[:7] + [q[7]] * 7
        sum16 = 7 * p[7] + 2 * p[6] + p[5] + p[4] + p[3] + p[2] + p[1] + p[0] + q[0]
        for n in range(14):
            out = round_shift(sum16, 4)
            with k.when(fm if 4 <= n < 10 else fm & flat & far):
                px[n - 7, i] = select(flat & far, out, near[n - 4]) if 4 <= n < 10 else out
            if n < 13:
                sum16 = sum16 + (row[n + 8] + row[n + 15] - row[n] - row[n + 7])


@vp9_lpf16.inputs
def _steep(rng: np.random.Generator, count: int, depth: Depth) -> dict[str, np.ndarray]:
    """Slopes about as steep as the limits let through, with a jump at the edge: there the clips of
    the narrow filter bind."""
    limit, blimit = rng.integers(0, 64, count), rng.integers(0, 255, count)
    away = np.arange(16)[None, :, None] - 7.5
    slope = np.where(
        away < 0, *((rng.uniform(-5, 5, count) * limit)[:, None, None] for _ in range(2))
    )
    jump = (rng.uniform(-2, 2, count) * blimit)[:, None, None] * np.sign(away) / 2
    fifth = depth.white // 5
    base = rng.integers(fifth, 4 * fifth, (count, 1, 1)) + rng.normal(0, 3, (count, 16, 8))
    dst = np.rint(base + slope * (away - np.sign(away) / 2) + jump)
    return {"dst": np.clip(dst, 0, depth.white).astype(np.int64), "limit": limit, "blimit": blimit}
