# SPDX-License-Identifier: BSD-2-Clause
"""AV1 loop restoration: the self guided filter, 8 bit."""

import numpy as np

from daedalus.dsl.lang import (
    BufferRef,
    KernelBuilder,
    LaneIndex,
    Value,
    clip_u8,
    i8,
    kernel,
    round_shift,
    u8,
    u16,
)  # fmt: skip

Weights = tuple[tuple[int, int], ...]

# Sgr_Params: radius and eps of the two passes; radius 0 leaves the pass out
SGR_PARAMS = (
    (2, 12, 1, 4), (2, 15, 1, 6), (2, 18, 1, 8), (2, 21, 1, 9),
    (2, 24, 1, 10), (2, 29, 1, 11), (2, 36, 1, 12), (2, 45, 1, 13),
    (2, 56, 1, 14), (2, 68, 1, 15), (0, 0, 1, 5), (0, 0, 1, 8),
    (0, 0, 1, 11), (0, 0, 1, 14), (2, 30, 0, 0), (2, 75, 0, 0),
)  # fmt: skip
# Radius of each pass and, for the rows of a step, which row of boxes they begin at, the weights of
# boxes straight above or below and beside that, row by row, and the bits of the rounding. The first
# pass has boxes around every other row only: even rows lie between two, odd ones on one.
PASSES: tuple[tuple[int, tuple[tuple[int, Weights, int], ...]], ...] = (
    (2, ((0, ((6, 5), (6, 5)), 9), (1, ((6, 5),), 8))),
    (1, ((0, ((4, 3), (4, 4), (4, 3)), 9),)),
)
# a2 by z, which is limited to 255: about 256 * z / (z + 1)
A2 = (1, *(((z << 8) + z // 2) // (z + 1) for z in range(1, 255)), 256)


def _scale(radius: int, eps: int) -> int:
    """s of the box filter process: 2**20 / (n * n * eps), n the pixels of the box."""
    divisor = (2 * radius + 1) ** 4 * eps
    return ((1 << 20) + divisor // 2) // divisor if radius else 0


def _sum(values: list[Value]) -> Value:
    total = values[0]
    for v in values[1:]:
        total = total + v
    return total


def _around(t: BufferRef, y: LaneIndex, x: LaneIndex, weights: Weights) -> Value:
    """The weighted sum of three boxes of each row from y on, the middle ones at x."""
    return _sum([t[y + n, x + dx] * w[abs(dx)] for n, w in enumerate(weights) for dx in (-1, 0, 1)])


@kernel(clause="AV1 7.17.3 (self guided filter process, box filter process), 8 bit", items="units")
def av1_sgr8(k: KernelBuilder) -> None:
    """Self-guided restoration of an 8x8 unit whose first row is even in its stripe.

    The source has the border that the standard's source sample process gives. w0 and w1 are
    LrSgrXqd; the third weight is what they leave of 128.
    """
    dst = k.plane("dst", u8, rows=(0, 8), cols=(0, 8), access="out")
    src = k.plane("src", u8, rows=(-3, 10), cols=(-3, 11))
    chosen = k.param("set", u8, 0, 15, why="lr_sgr_set")
    w0 = k.param("w0", i8, -96, 31, why="LrSgrXqd[0]")
    w1 = k.param("w1", i8, -32, 95, why="LrSgrXqd[1]")
    shrink = k.table("shrink", u16, A2)

    def box_filter(number: int) -> BufferRef:
        """A pass: the local mean and the pixel, weighted by the local variance."""
        r, steps = PASSES[number]
        n, step, count = (2 * r + 1) ** 2, len(steps), 9 // len(steps) + 1
        scales = [_scale(*p[2 * number : 2 * number + 2]) for p in SGR_PARAMS]
        scale = k.table(f"scale{number}", u16, scales)[chosen]
        variance = k.assumption(
            f"variance{n}", 0, (n // 2) * (n - n // 2) * 255**2, why="follows: n times the sum of"
            " squares less the square of the sum is largest with half the pixels 0, half 255",
        )  # fmt: skip
        tall = step * (count - 1) + 2 * r + 1
        sums, squares = (k.temp(f"{name}{number}", (tall, 10)) for name in ("sums", "squares"))
        a, b = (k.temp(f"{name}{number}", (count, 10)) for name in ("a", "b"))
        flt = k.temp(f"flt{number}", (8, 8))
        with k.stage(y=tall, x=10, given=scale > 0) as (y, x):
            row = [src[y - 1 - r, x - 1 + dx] for dx in range(-r, r + 1)]
            sums[y, x] = _sum(row)
            squares[y, x] = _sum([p * p for p in row])
        with k.stage(y=count, x=10, given=scale > 0) as (y, x):
            total, square = (
                _sum([t[step * y + dy, x] for dy in range(2 * r + 1)]) for t in (sums, squares)
            )
            a2 = shrink[round_shift(variance(square * n - total * total) * scale, 20)]
            a[y, x] = a2
            b[y, x] = round_shift((256 - a2) * total * (((1 << 12) + n // 2) // n), 12)
        with k.stage(y=8 // step, x=8, given=scale > 0) as (y, x):
            for m, (first, weights, bits) in enumerate(steps):
                v = _around(a, y + first, x + 1, weights) * src[step * y + m, x]
                flt[step * y + m, x] = round_shift(v + _around(b, y + first, x + 1, weights), bits)
        with k.stage(y=8, x=8, given=scale <= 0) as (y, x):
            flt[y, x] = src[y, x] << 4
        return flt

    flt0, flt1 = box_filter(0), box_filter(1)
    with k.stage(y=8, x=8) as (y, x):
        v = w1 * (src[y, x] << 4) + w0 * flt0[y, x] + (128 - w0 - w1) * flt1[y, x]
        dst[y, x] = clip_u8(round_shift(v, 11))


@av1_sgr8.inputs
def _stripes(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Units at the top of a stripe: of what is beyond it two rows are kept, the third is the same
    as the second. From flat to steep, as weights that depend on the variance want it."""
    spread = np.exp(rng.uniform(0, np.log(100), (count, 1, 1)))
    src = rng.integers(0, 256, (count, 1, 1)) + rng.normal(0, 1, (count, 13, 14)) * spread
    src = np.clip(np.rint(src), 0, 255).astype(np.int64)
    src[:, 0] = src[:, 1]
    return {"src": src}
