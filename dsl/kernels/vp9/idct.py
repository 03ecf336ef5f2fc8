# SPDX-License-Identifier: BSD-2-Clause
"""VP9 inverse transforms."""

from collections.abc import Callable

import numpy as np

from daedalus.dsl.kernels.vp9.cosines import COS64
from daedalus.dsl.lang import KernelBuilder, Value, clip_u8, i16, kernel, rotate, round_shift, u8

Bound = Callable[[Value], Value]


def inverse_dct8(fits: Bound, sums: Bound) -> Callable[[list[Value]], list[Value]]:
    """The transform of 8 values. fits states what T may hold, sums that of a + b before a
    multiplication by cos64(16)."""

    def turn(a: Value, b: Value, angle: int) -> tuple[Value, Value]:
        x, y = rotate(a, b, COS64[angle], COS64[32 - angle], 14)
        return fits(x), fits(y)

    def halves(a: Value, b: Value) -> tuple[Value, Value]:
        return (fits(round_shift(sums(a + b) * COS64[16], 14)),
                fits(round_shift(sums(a - b) * COS64[16], 14)))  # fmt: skip

    def butterfly(a: Value, b: Value) -> tuple[Value, Value]:
        return fits(a + b), fits(a - b)

    def idct8(x: list[Value]) -> list[Value]:
        s0, s1 = halves(x[0], x[4])
        s2, s3 = turn(x[2], x[6], 24)
        s4, s7 = turn(x[1], x[7], 28)
        s5, s6 = turn(x[5], x[3], 12)
        e0, e3 = butterfly(s0, s3)
        e1, e2 = butterfly(s1, s2)
        o4, o5 = butterfly(s4, s5)
        o7, o6 = butterfly(s7, s6)
        m6, m5 = halves(o6, o5)
        y0, y7 = butterfly(e0, o7)
        y1, y6 = butterfly(e1, m6)
        y2, y5 = butterfly(e2, m5)
        y3, y4 = butterfly(e3, o4)
        return [y0, y1, y2, y3, y4, y5, y6, y7]

    return idct8


@kernel(
    clause="VP9 8.7.1.2 and 8.7.1.3 (inverse DCT, n = 3), 8.7.2 (2D inverse transform)",
    decoders={"ffmpeg": "vp9dsp.itxfm_add[8][dct_dct](dst dst.stride coeffs! eob)"},
)
def vp9_idct8(k: KernelBuilder) -> None:
    """8x8 inverse DCT of both passes, rounded by 5 bits and added to the prediction.

    Coefficients are column-major: coeffs[h][v] has horizontal frequency h and vertical frequency v
    (the transpose of the standard's Dequant[v][h]).
    """
    dst = k.plane("dst", u8, rows=(0, 8), cols=(0, 8), access="inout")
    coeffs = k.block("coeffs", i16, (8, 8), note="coeffs[h][v], column-major")
    k.param("eob", u8, 1, 64, why="coefficients up to the last non-zero one, in scan order")
    k.item_class("dc", eob=(1, 1), nonzero={"coeffs": (1, 1)}, why="only the DC coefficient")
    k.item_class(
        "eob12", eob=(2, 12), nonzero={"coeffs": (4, 4)},
        why="the first 12 positions of the default 8x8 scan lie in the upper left 4x4",
    )  # fmt: skip
    fits = k.assumption(
        "t16", i16.lo, i16.hi, why="8.7.1.1: all values stored in T by this process are"
        " representable by a signed integer of 8 + BitDepth bits",
    )  # fmt: skip
    sums = k.assumption(
        "sum16", i16.lo, i16.hi, default=False, why="a + b before a multiplication by cos64(16)"
        " also fits: not in the standard, but decoders' own assembly takes it for granted",
    )  # fmt: skip
    idct8 = inverse_dct8(fits, sums)
    rows = k.temp("rows", (8, 8))
    with k.stage(v=8) as v:
        rows[v, :] = idct8(coeffs[:, v])
    with k.stage(x=8) as x:
        residuals = idct8(rows[:, x])
        for y in range(8):
            dst[y, x] = clip_u8(dst[y, x] + round_shift(residuals[y], 5))


# default_scan_8x8, VP9 10.4: positions v * 8 + h in the order they are coded
DEFAULT_SCAN_8X8 = (
    0, 8, 1, 16, 9, 2, 17, 24, 10, 3, 18, 25, 32, 11, 4, 26, 33, 19, 40, 12, 34, 27, 5, 41, 20, 48,
    13, 35, 42, 28, 21, 6, 49, 56, 36, 43, 29, 7, 14, 50, 57, 44, 22, 37, 15, 51, 58, 30, 45, 23,
    52, 59, 38, 31, 60, 53, 46, 39, 61, 54, 47, 62, 55, 63,
)  # fmt: skip


def residuals(rng: np.random.Generator, count: int, white: int = 255) -> dict[str, np.ndarray]:
    """Coefficients as an encoder makes them: forward DCTs of residuals within +-white, quantised.

    Coding stops at a random position of the scan; eob is where the last non-zero one stands.
    """
    n = np.arange(8)
    basis = np.cos((2 * n[None, :] + 1) * n[:, None] * np.pi / 16) * np.sqrt(2 / 8)
    basis[0] /= np.sqrt(2)
    scale = rng.choice([4, 32, white], (count, 1, 1))
    smooth = rng.choice([0.0, 1.0], (count, 1, 1))
    slope = np.add.outer(n - 3.5, n - 3.5)[None] * rng.uniform(-0.2, 0.2, (count, 1, 1))
    noise = rng.uniform(-1, 1, (count, 8, 8))
    residual = np.clip(scale * (slope * smooth + noise * (1 - 0.9 * smooth)), -white, white)
    step = rng.choice([1, 4, 16, 64, 256], (count, 1, 1))
    coded = np.rint(8 * np.einsum("hx,nxy,vy->nhv", basis, residual, basis) / step) * step
    place = np.empty(64, dtype=np.int64)
    place[list(DEFAULT_SCAN_8X8)] = np.arange(64)
    order = place.reshape(8, 8).T  # [h][v]
    stop = rng.choice([1, 2, 12, 13, 34, 64], count) - rng.integers(0, 2, count)
    coeffs = np.where(order < stop[:, None, None], coded, 0).astype(np.int64)
    eob = np.where(coeffs != 0, order + 1, 1).reshape(count, -1).max(axis=1)
    return {"coeffs": coeffs, "eob": eob}


vp9_idct8.inputs(residuals)
