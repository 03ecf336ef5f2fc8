# SPDX-License-Identifier: BSD-2-Clause
"""VP9 inverse transforms of 4 and 8 points: DCT, ADST, both mixed, and the Walsh-Hadamard one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from daedalus.dsl.kernels.vp9.cosines import COS64
from daedalus.dsl.lang import KernelBuilder, Value, clip_u8, i16, kernel, rotate, round_shift, u8

Bound = Callable[[Value], Value]
Transform1 = Callable[[list[Value]], list[Value]]

# sinpi_k_9, k = 1..4: VP9 8.7.1.6
SINPI = (0, 5283, 9929, 13377, 15212)


def inverse_dct8(fits: Bound, sums: Bound) -> Transform1:
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


def inverse_dct4(fits: Bound, sums: Bound) -> Transform1:
    """The transform of 4 values; fits and sums as of inverse_dct8."""

    def idct4(x: list[Value]) -> list[Value]:
        even = [
            fits(round_shift(sums(v) * COS64[16], 14)) for v in (x[0] + x[2], x[0] - x[2])
        ]  # fmt: skip
        low, high = map(fits, rotate(x[1], x[3], COS64[24], COS64[8], 14))
        s0, s1 = even
        return [fits(s0 + high), fits(s1 + low), fits(s1 - low), fits(s0 - high)]

    return idct4


def inverse_adst4(fits: Bound) -> Transform1:
    """The transform of 4 values; fits states what T may hold."""

    def iadst4(x: list[Value]) -> list[Value]:
        s0 = x[0] * SINPI[1] + x[2] * SINPI[4] + x[3] * SINPI[2]
        s1 = x[0] * SINPI[2] - x[2] * SINPI[1] - x[3] * SINPI[4]
        s2 = (x[0] - x[2] + x[3]) * SINPI[3]
        s3 = x[1] * SINPI[3]
        return [fits(round_shift(s, 14)) for s in (s0 + s3, s1 + s3, s2, s0 + s1 - s3)]

    return iadst4


def inverse_adst8(fits: Bound, sums: Bound) -> Transform1:
    """The transform of 8 values; fits and sums as of inverse_dct8."""

    def turn(a: Value, b: Value, angle: int) -> list[Value]:
        """The flipped rotation, unrounded (SB)."""
        cos, sin = COS64[angle], COS64[32 - angle]
        return [a * sin + b * cos, a * cos - b * sin]

    def merge(s: list[Value], apart: int) -> list[Value]:
        """Sums and differences of what lies `apart`, rounded (SH)."""
        pairs = list(zip(s[:apart], s[apart:], strict=True))
        return [fits(round_shift(a + b, 14)) for a, b in pairs] + [
            fits(round_shift(a - b, 14)) for a, b in pairs
        ]

    def half(v: Value) -> Value:
        return fits(round_shift(sums(v) * COS64[16], 14))

    def iadst8(x: list[Value]) -> list[Value]:
        t = merge([y for n in range(4) for y in turn(x[7 - 2 * n], x[2 * n], 30 - 8 * n)], 4)
        t0, t1 = fits(t[0] + t[2]), fits(t[1] + t[3])
        t2, t3 = fits(t[0] - t[2]), fits(t[1] - t[3])
        t4, t5, t6, t7 = merge([*turn(t[4], t[5], 24), *turn(t[7], t[6], 8)[::-1]], 2)
        return [t0, fits(-t4), half(t6 + t7), fits(-half(t2 + t3)),
                half(t2 - t3), fits(-half(t6 - t7)), t5, fits(-t1)]  # fmt: skip

    return iadst8


def inverse_wht4(fits: Bound, shift: int) -> Transform1:
    """The Walsh-Hadamard transform of 4 values, which are shifted first."""

    def iwht4(x: list[Value]) -> list[Value]:
        a, c, d, b = (v >> shift for v in x)
        a, d = a + c, d - b
        e = (a - d) >> 1
        b, c = e - b, e - c
        return [fits(v) for v in (a - b, b, c, d + c)]

    return iwht4


@dataclass(frozen=True)
class Transform:
    """A transform of both passes: of rows (along h), then of columns (along v)."""

    first: str
    second: str
    size: int

    def __str__(self) -> str:
        return "_".join(dict.fromkeys(f"{name}{self.size}" for name in (self.first, self.second)))

    @property
    def dct(self) -> bool:
        return (self.first, self.second) == ("idct", "idct")

    @property
    def wht(self) -> bool:
        return self.first == "iwht"

    @property
    def clause(self) -> str:
        if self.wht:
            return "8.7.1.10 (inverse WHT)"
        n = {4: 2, 8: 3}[self.size]
        adst = {4: "8.7.1.6", 8: "8.7.1.4, 8.7.1.5, 8.7.1.7"}[self.size]
        parts = {
            "idct": f"8.7.1.2 and 8.7.1.3 (inverse DCT, n = {n})",
            "iadst": f"{adst} and 8.7.1.9 (inverse ADST, n = {n})",
        }
        return ", ".join(dict.fromkeys(parts[name] for name in (self.first, self.second)))

    @property
    def says(self) -> str:
        words = {"idct": "DCT", "iadst": "ADST", "iwht": "Walsh-Hadamard transform"}
        first, second = words[self.first], words[self.second]
        both = f"{first} of both passes"
        if first != second:
            both = f"{first} of rows, then {second} of columns"
        rounded = f" rounded by {self.bits} bits and" if self.bits else ""
        return f"{self.size}x{self.size} inverse {both},{rounded}"

    @property
    def bits(self) -> int:
        """By which residuals are rounded."""
        return 0 if self.wht else {4: 4, 8: 5}[self.size]

    @property
    def entry(self) -> str:
        """Its place in FFmpeg's table, whose types are named after columns, then rows."""
        names = {"idct": "dct", "iadst": "adst"}
        index = "[lossless][*]"
        if not self.wht:
            index = f"[{self.size}][{names[self.second]}_{names[self.first]}]"
        return f"vp9dsp.itxfm_add{index}(dst dst.stride coeffs! {'eob' if self.dct else '-'})"

    def passes(self, fits: Bound, sums: Bound) -> list[Transform1]:
        if self.wht:
            return [inverse_wht4(fits, 2), inverse_wht4(fits, 0)]
        made: dict[str, Transform1] = (
            {"idct": inverse_dct4(fits, sums), "iadst": inverse_adst4(fits)}
            if self.size == 4
            else {"idct": inverse_dct8(fits, sums), "iadst": inverse_adst8(fits, sums)}
        )
        return [made[self.first], made[self.second]]


TYPES = ("idct", "iadst")
TRANSFORMS = (
    *(Transform(first, second, n) for n in (4, 8) for first in TYPES for second in TYPES),
    Transform("iwht", "iwht", 4),
)


@kernel(
    id="vp9_{transform}",
    axes={"transform": TRANSFORMS},
    clause="VP9 {transform.clause}, 8.7.2 (2D inverse transform)",
    decoders={"ffmpeg": "{transform.entry}"},
)
def vp9_inverse(k: KernelBuilder, transform: Transform) -> None:
    """{transform.says} added to the prediction.

    Coefficients are column-major: coeffs[h][v] has horizontal frequency h and vertical frequency v
    (the transpose of the standard's Dequant[v][h]).
    """
    n = transform.size
    dst = k.plane("dst", u8, rows=(0, n), cols=(0, n), access="inout")
    coeffs = k.block("coeffs", i16, (n, n), note="coeffs[h][v], column-major")
    if transform.dct:  # others have no cheaper class, and their functions do not look at it
        k.param(
            "eob", u8, 1, n * n, why="coefficients up to the last non-zero one, in scan order"
        )  # fmt: skip
        k.item_class("dc", eob=(1, 1), nonzero={"coeffs": (1, 1)}, why="only the DC coefficient")
    if transform.dct and n == 8:
        k.item_class(
            "eob12", eob=(2, 12), nonzero={"coeffs": (4, 4)},
            why="the first 12 positions of the default 8x8 scan lie in the upper left 4x4",
        )  # fmt: skip
    fits = k.assumption(
        "t16", i16.lo, i16.hi, why=f"{'8.7.1.10' if transform.wht else '8.7.1.1'}: all values"
        " stored in T by this process are representable by a signed integer of 8 + BitDepth bits",
    )  # fmt: skip
    sums: Bound = fits  # of those that multiply no sum by cos64(16)
    if not transform.wht and str(transform) != "iadst4":
        sums = k.assumption(
            "sum16", i16.lo, i16.hi, default=False, why="a + b before a multiplication by cos64(16)"
            " also fits: not in the standard, but decoders' own assembly takes it for granted",
        )  # fmt: skip
    rows_of, columns_of = transform.passes(fits, sums)
    rows = k.temp("rows", (n, n))
    with k.stage(v=n) as v:
        rows[v, :] = rows_of(coeffs[:, v])
    with k.stage(x=n) as x:
        residuals = columns_of(rows[:, x])
        for y in range(n):
            dst[y, x] = clip_u8(dst[y, x] + round_shift(residuals[y], transform.bits))


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
    coded = np.rint(8 * (basis @ residual @ basis.T) / step) * step
    place = np.empty(64, dtype=np.int64)
    place[list(DEFAULT_SCAN_8X8)] = np.arange(64)
    order = place.reshape(8, 8).T  # [h][v]
    stop = rng.choice([1, 2, 12, 13, 34, 64], count) - rng.integers(0, 2, count)
    coeffs = np.where(order < stop[:, None, None], coded, 0).astype(np.int64)
    eob = np.where(coeffs != 0, order + 1, 1).reshape(count, -1).max(axis=1)
    return {"coeffs": coeffs, "eob": eob}


def _basis(name: str, n: int) -> np.ndarray:
    """The forward transform that a name is the inverse of: [frequency, place]."""
    at, k = np.arange(n), np.arange(n)[:, None]
    if name == "idct":
        basis = np.cos((2 * at + 1) * k * np.pi / (2 * n)) * np.sqrt(2 / n)
        basis[0] /= np.sqrt(2)
        return np.asarray(basis)
    if n == 4:
        return np.asarray(np.sin((at + 1) * (2 * k + 1) * np.pi / 9) * np.sqrt(8 / 9))
    return np.asarray(np.sin((2 * at + 1) * (2 * k + 1) * np.pi / (4 * n)) * np.sqrt(2 / n))


@vp9_inverse.inputs
def _typical(rng: np.random.Generator, count: int, transform: Transform) -> dict[str, np.ndarray]:
    """Coefficients as an encoder makes them, of each transform."""
    n = transform.size
    if transform.dct and n == 8:
        return residuals(rng, count)
    if transform.wht:  # lossless: four times what adds up to residuals
        return {
            "coeffs": 4 * rng.integers(-60, 61, (count, n, n)) * (rng.random((count, 1, 1)) < 0.9)
        }
    scale = rng.choice([4, 32, 255], (count, 1, 1))
    smooth = rng.choice([0.0, 1.0], (count, 1, 1))
    slope = np.add.outer(np.arange(n), np.arange(n))[None] * rng.uniform(-1, 1, (count, 1, 1)) / n
    noise = rng.uniform(-1, 1, (count, n, n))
    residual = np.clip(scale * (slope * smooth + noise * (1 - 0.9 * smooth)), -255, 255)
    step = rng.choice([1, 4, 16, 64, 256], (count, 1, 1))
    first, second = (_basis(name, n) for name in (transform.first, transform.second))
    coded = np.rint(8 * (first @ residual @ second.T) / step) * step
    order = np.add.outer(np.arange(n), np.arange(n))  # about that of a scan: by frequency
    stop = rng.choice([1, 2, n, 2 * n - 1], (count, 1, 1))
    coeffs = np.clip(np.where(order < stop, coded, 0), -32768, 32767).astype(np.int64)
    found = {"coeffs": coeffs}
    if transform.dct:
        last = np.where(coeffs != 0, order, 0).reshape(count, -1).max(axis=1)
        found["eob"] = np.where(last == 0, 1, np.minimum((last + 1) * (last + 2) // 2, n * n))
    return found
