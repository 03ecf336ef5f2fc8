# SPDX-License-Identifier: BSD-2-Clause
"""VP9 inverse asymmetric discrete sine transforms."""

import numpy as np

from daedalus.dsl.kernels.vp9.cosines import COS64
from daedalus.dsl.lang import KernelBuilder, Value, clip_u8, i16, kernel, round_shift, u8

# Which T comes out at each place: the output permutation of 8.7.1.5 for n = 4. Then 8.7.1.8
# negates some places.
OUTPUT = (0, 8, 12, 4, 6, 14, 10, 2, 3, 11, 15, 7, 5, 13, 9, 1)
NEGATED = (1, 3, 13, 15)


@kernel(
    clause="VP9 8.7.1.4, 8.7.1.5, 8.7.1.8 and 8.7.1.9 (inverse ADST, n = 4), 8.7.2 (2D inverse"
    " transform, ADST_ADST)"
)
def vp9_iadst16(k: KernelBuilder) -> None:
    """16x16 inverse ADST of both passes, rounded by 6 bits and added to the prediction.

    Coefficients are column-major: coeffs[h][v] has horizontal frequency h and vertical frequency v
    (the transpose of the standard's Dequant[v][h]).
    """
    dst = k.plane("dst", u8, rows=(0, 16), cols=(0, 16), access="inout")
    coeffs = k.block("coeffs", i16, (16, 16), note="coeffs[h][v], column-major")
    in_t = k.assumption(
        "t16", i16.lo, i16.hi, why="8.7.1.1: all values stored in T by this process are"
        " representable by a signed integer of 8 + BitDepth bits",
    )  # fmt: skip

    def turn(a: Value, b: Value, angle: int) -> tuple[Value, Value]:
        """The flipped rotation, unrounded (SB); S needs its 24 + BitDepth bits here, no more."""
        cos, sin = COS64[angle], COS64[32 - angle]
        return a * sin + b * cos, a * cos - b * sin

    def merge(s: list[Value], apart: int) -> list[Value]:
        """Sums and differences of what lies `apart`, rounded (SH)."""
        pairs = list(zip(s[:apart], s[apart:], strict=True))
        return [in_t(round_shift(a + b, 14)) for a, b in pairs] + [
            in_t(round_shift(a - b, 14)) for a, b in pairs
        ]

    def add(t: list[Value], apart: int) -> list[Value]:
        """Sums and differences of what lies `apart` (H)."""
        pairs = list(zip(t[:apart], t[apart:], strict=True))
        return [in_t(a + b) for a, b in pairs] + [in_t(a - b) for a, b in pairs]

    def last(a: Value, b: Value, negative: bool) -> list[Value]:
        """The rotation by 48 (negative), or by 112."""
        c = COS64[16]
        x, y = (-(a + b), a - b) if negative else (a + b, b - a)
        return [in_t(round_shift(x * c, 14)), in_t(round_shift(y * c, 14))]

    def iadst16(x: list[Value]) -> list[Value]:
        s = [y for n in range(8) for y in turn(x[15 - 2 * n], x[2 * n], 31 - 4 * n)]
        t = merge(s, 8)
        low = add(t[:8], 4)
        s = [*turn(t[8], t[9], 28), *turn(t[10], t[11], 12),
             *turn(t[13], t[12], 4)[::-1], *turn(t[15], t[14], 20)[::-1]]  # fmt: skip
        t = low + merge(s, 4)
        for half in (0, 8):
            a, b, c, d = t[half + 4 : half + 8]
            s = [*turn(a, b, 24), *turn(d, c, 8)[::-1]]
            t[half : half + 8] = add(t[half : half + 4], 2) + merge(s, 2)
        for at, negative in ((2, True), (6, False), (10, False), (14, True)):
            t[at : at + 2] = last(t[at], t[at + 1], negative)
        return [in_t(-t[n]) if at in NEGATED else t[n] for at, n in enumerate(OUTPUT)]

    rows = k.temp("rows", (16, 16))
    with k.stage(v=16) as v:
        rows[v, :] = iadst16(coeffs[:, v])
    with k.stage(x=16) as x:
        residuals = iadst16(rows[:, x])
        for y in range(16):
            dst[y, x] = clip_u8(dst[y, x] + round_shift(residuals[y], 6))


@vp9_iadst16.inputs
def _residuals(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Coefficients as an encoder makes them: forward ADSTs of residuals within +-255, quantised.

    Residuals grow away from the predicted edges, as those that encoders choose an ADST for.
    """
    n = np.arange(16)
    basis = np.sin((2 * n[None, :] + 1) * (2 * n[:, None] + 1) * np.pi / 64) * np.sqrt(2 / 16)
    scale = rng.choice([4, 32, 255], (count, 1, 1))
    smooth = rng.choice([0.0, 1.0], (count, 1, 1))
    slope = np.add.outer(n, n)[None] * rng.uniform(-1, 1, (count, 1, 1)) / 30
    noise = rng.uniform(-1, 1, (count, 16, 16))
    residual = np.clip(scale * (slope * smooth + noise * (1 - 0.9 * smooth)), -255, 255)
    step = rng.choice([1, 4, 16, 64, 256], (count, 1, 1))
    coded = np.rint(8 * np.einsum("hx,nxy,vy->nhv", basis, residual, basis) / step) * step
    order = np.add.outer(n, n)  # about that of a scan: by frequency
    stop = rng.choice([1, 2, 4, 8, 16, 31], (count, 1, 1))
    coeffs = np.where(order < stop, coded, 0)
    return {"coeffs": np.clip(coeffs, -32768, 32767).astype(np.int64)}
