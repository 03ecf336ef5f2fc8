# SPDX-License-Identifier: BSD-2-Clause
"""VP9 inverse transforms for more than 8 bits a sample."""

import numpy as np

from daedalus.dsl.kernels.vp9.idct import residuals
from daedalus.dsl.kernels.vp9.small import inverse_dct8
from daedalus.dsl.lang import KernelBuilder, clip, i32, kernel, round_shift, u16

DEPTH = 10  # bits a sample
WHITE = (1 << DEPTH) - 1
LO, HI = -(1 << (DEPTH + 7)), (1 << (DEPTH + 7)) - 1  # 8 + BitDepth bits


@kernel(
    clause="VP9 8.7.1.2 and 8.7.1.3 (inverse DCT, n = 3), 8.7.2 (2D inverse transform),"
    " BitDepth 10",
    wide=True,
)
def vp9_idct8_10(k: KernelBuilder) -> None:
    """8x8 inverse DCT of both passes, rounded by 5 bits and added to the prediction; 10 bit.

    Coefficients are column-major: coeffs[h][v] has horizontal frequency h and vertical frequency v
    (the transpose of the standard's Dequant[v][h]). Sums of products need 33 bits.
    """
    dst = k.plane("dst", u16, rows=(0, 8), cols=(0, 8), access="inout", hi=WHITE)
    coeffs = k.block("coeffs", i32, (8, 8), lo=LO, hi=HI, note="coeffs[h][v], column-major")
    fits = k.assumption(
        "t18", LO, HI, why="8.7.1.1: all values stored in T by this process are representable by a"
        " signed integer of 8 + BitDepth bits",
    )  # fmt: skip
    idct8 = inverse_dct8(fits, lambda x: x)
    rows = k.temp("rows", (8, 8))
    with k.stage(v=8) as v:
        rows[v, :] = idct8(coeffs[:, v])
    with k.stage(x=8) as x:
        for y, residual in enumerate(idct8(rows[:, x])):
            dst[y, x] = clip(dst[y, x] + round_shift(residual, 5), 0, WHITE)


@vp9_idct8_10.inputs
def _coefficients(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Those of vp9_idct8, for residuals of 10 bits; and some whose products need 33 bits.

    Where T is LO, the sum before its rounding may lie below -2**31, and only there: -185368 is the
    only sum of two coefficients for which it does after the multiplication by cos64(16).
    """
    coeffs = residuals(rng, count, WHITE)["coeffs"]
    edge = np.flatnonzero(rng.random(count) < 0.1)
    v, first = rng.integers(0, 8, len(edge)), rng.integers(LO, -185368 - LO + 1, len(edge))
    coeffs[edge] = 0
    coeffs[edge, 0, v], coeffs[edge, 4, v] = first, -185368 - first
    return {"coeffs": coeffs}
