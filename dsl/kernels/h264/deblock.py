# SPDX-License-Identifier: BSD-2-Clause
"""H.264 deblocking, 8 bit; an item is an edge of 16 positions."""

import numpy as np

from daedalus.dsl.lang import (
    KernelBuilder,
    Value,
    absdiff,
    clip_u8,
    i8,
    kernel,
    max,
    min,
    select,
    u8,
)  # fmt: skip


@kernel(
    clause="H.264 8.7.2.2 and 8.7.2.3 (filtering of samples, bS < 4), luma",
    items="edges",
    decoders={"ffmpeg": "h264dsp.v_loop_filter_luma(dst dst.stride alpha beta tc0)"},
)
def h264_deblock_luma_v(k: KernelBuilder) -> None:
    """Filters across a horizontal edge of 16 pixels; tc0 < 0 switches a quarter of it off."""
    px = k.plane("dst", u8, rows=(-3, 3), cols=(0, 16), access="inout", owns="all")
    alpha = k.param("alpha", u8, 0, 255, why="table 8-16")
    beta = k.param("beta", u8, 0, 18, why="table 8-16")
    tc0s = k.params("tc0", i8, 4, -1, 25, why="table 8-17 for each quarter; -1: not filtered")

    def limited(x: Value, most: Value) -> Value:
        return max(min(x, most), 0 - most)

    with k.stage(s=4, i=4) as (s, i):
        p2, p1, p0, q0, q1, q2 = px[-3:3, 4 * s + i]
        tc0 = tc0s[s]
        fm = (absdiff(p0, q0) < alpha) & (absdiff(p1, p0) < beta) & (absdiff(q1, q0) < beta)
        fm = fm & (tc0 >= 0)
        ap, aq = absdiff(p2, p0) < beta, absdiff(q2, q0) < beta
        tc = tc0 + select(ap, 1, 0) + select(aq, 1, 0)
        delta = limited((4 * (q0 - p0) + (p1 - q1) + 4) >> 3, tc)
        middle = (p0 + q0 + 1) >> 1
        with k.when(fm):
            px[-1, 4 * s + i] = clip_u8(p0 + delta)
            px[0, 4 * s + i] = clip_u8(q0 - delta)
            with k.when(ap):
                px[-2, 4 * s + i] = clip_u8(p1 + limited((p2 + middle - 2 * p1) >> 1, tc0))
            with k.when(aq):
                px[1, 4 * s + i] = clip_u8(q1 + limited((q2 + middle - 2 * q1) >> 1, tc0))


@h264_deblock_luma_v.inputs
def _thresholds(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Table 8-16 from index 16 on: below, alpha and beta are 0 and decoders do not filter."""
    return {"alpha": rng.integers(4, 256, count), "beta": rng.integers(2, 19, count)}
