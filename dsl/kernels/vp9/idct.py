# SPDX-License-Identifier: BSD-2-Clause
"""VP9's inverse transforms: DCT and ADST of both passes, both mixed, and the Walsh-Hadamard one."""

from dataclasses import dataclass

import numpy as np

from daedalus.dsl.kernels.vp9.depth import DEPTHS, Bits, Depth
from daedalus.dsl.kernels.vp9.large import inverse_adst16, inverse_dct
from daedalus.dsl.kernels.vp9.small import (
    Bound,
    Transform1,
    inverse_adst4,
    inverse_adst8,
    inverse_wht4,
)  # fmt: skip
from daedalus.dsl.lang import KernelBuilder, i16, i32, kernel, round_shift, u8, u16

# Where decoders stop earlier in a square of so many points: the last position in the default scan,
# and the square at the upper left that holds all up to it.
CORNERS = {8: ((12, 4),), 16: ((10, 4), (38, 8)), 32: ((34, 8), (135, 16))}


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
        n = self.size.bit_length() - 1
        steps = {4: "8.7.1.6", 8: "8.7.1.4, 8.7.1.5, 8.7.1.7", 16: "8.7.1.4, 8.7.1.5, 8.7.1.8"}
        parts = []
        for name in dict.fromkeys((self.first, self.second)):
            where = "8.7.1.2 and 8.7.1.3" if name == "idct" else f"{steps[self.size]} and 8.7.1.9"
            parts.append(f"{where} (inverse {name[1:].upper()}, n = {n})")
        return ", ".join(parts)

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
        return 0 if self.wht else min(6, self.size.bit_length() + 1)

    @property
    def entry(self) -> str:
        """Its place in FFmpeg's table, whose types are named after columns, then rows. Of 32 all
        types are the one."""
        names = {"idct": "dct", "iadst": "adst"}
        index = "[lossless][*]"
        if self.size == 32:
            index = "[32][*]"
        elif not self.wht:
            index = f"[{self.size}][{names[self.second]}_{names[self.first]}]"
        return f"{index}(dst dst.stride coeffs! {'eob' if self.dct else '-'} bits)"

    def passes(self, fits: Bound, sums: Bound) -> list[Transform1]:
        if self.wht:
            return [inverse_wht4(fits, 2), inverse_wht4(fits, 0)]
        adst = {4: inverse_adst4, 8: inverse_adst8, 16: inverse_adst16}
        made = {
            name: (inverse_dct if name == "idct" else adst[self.size])(fits, sums)
            for name in dict.fromkeys((self.first, self.second))
        }
        return [made[self.first], made[self.second]]


TYPES = ("idct", "iadst")
TRANSFORMS = (
    *(Transform(first, second, n) for n in (4, 8, 16) for first in TYPES for second in TYPES),
    Transform("idct", "idct", 32),
    Transform("iwht", "iwht", 4),
)


@kernel(
    id="vp9_{transform}{depth.end}",
    axes={"transform": TRANSFORMS, "depth": DEPTHS},
    clause="VP9 {transform.clause}, 8.7.2 (2D inverse transform)",
    decoders=lambda transform, depth: depth.entries("itxfm_add", {"": transform.entry}),
    wide=lambda depth: depth.high,
)
def vp9_inverse(k: KernelBuilder, transform: Transform, depth: Depth) -> None:
    """{transform.says} added to the prediction{depth.end_says}.

    Coefficients are column-major: coeffs[h][v] has horizontal frequency h and vertical frequency v
    (the transpose of the standard's Dequant[v][h]).
    """
    n, hi = transform.size, (1 << (7 + depth.most)) - 1
    dst = k.plane("dst", depth.type, rows=(0, n), cols=(0, n), access="inout", hi=depth.white)
    coeffs = k.block(
        "coeffs", i32 if depth.high else i16, (n, n), lo=-hi - 1, hi=hi,
        note="coeffs[h][v], column-major",
    )  # fmt: skip
    if transform.dct:  # others have no cheaper class, and their functions do not look at it
        k.param(
            "eob", u8 if n < 16 else u16, 1, n * n,
            why="coefficients up to the last non-zero one, in scan order",
        )  # fmt: skip
        k.item_class("dc", eob=(1, 1), nonzero={"coeffs": (1, 1)}, why="only the DC coefficient")
        first = 2
        for last, corner in CORNERS.get(n, ()):
            k.item_class(
                f"eob{last}", eob=(first, last), nonzero={"coeffs": (corner, corner)},
                why=f"the first {last} positions of the default {n}x{n} scan lie in the upper left"
                f" {corner}x{corner}",
            )  # fmt: skip
            first = last + 1
    limited = Bits(k, depth).limited
    fits = k.assumption(
        f"t{8 + depth.most}", -hi - 1, hi,
        why=f"{'8.7.1.10' if transform.wht else '8.7.1.1'}: all values stored in T by this"
        " process are representable by a signed integer of 8 + BitDepth bits",
    )  # fmt: skip
    sums: Bound = lambda x: x  # noqa: E731
    if not depth.high and not transform.wht and str(transform) != "iadst4":
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
            dst[y, x] = limited(dst[y, x] + round_shift(residuals[y], transform.bits))


# default_scan_8x8, VP9 10.4: positions v * 8 + h in the order they are coded
DEFAULT_SCAN_8X8 = (
    0, 8, 1, 16, 9, 2, 17, 24, 10, 3, 18, 25, 32, 11, 4, 26, 33, 19, 40, 12, 34, 27, 5, 41, 20, 48,
    13, 35, 42, 28, 21, 6, 49, 56, 36, 43, 29, 7, 14, 50, 57, 44, 22, 37, 15, 51, 58, 30, 45, 23,
    52, 59, 38, 31, 60, 53, 46, 39, 61, 54, 47, 62, 55, 63,
)  # fmt: skip


def residuals(rng: np.random.Generator, count: int, white: int) -> dict[str, np.ndarray]:
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
        return np.asarray(np.sin((at + 1) * (2 * k + 1) * np.pi / 9) * 2 / 3)
    return np.asarray(np.sin((2 * at + 1) * (2 * k + 1) * np.pi / (4 * n)) * np.sqrt(2 / n))


@vp9_inverse.inputs
def _typical(
    rng: np.random.Generator, count: int, transform: Transform, depth: Depth
) -> dict[str, np.ndarray]:
    """Coefficients as an encoder makes them, of each transform."""
    n, white = transform.size, depth.white
    if transform.dct and n == 8:
        return residuals(rng, count, white)
    if transform.wht:  # lossless: four times what adds up to residuals
        coeffs = 4 * rng.integers(-60, 61, (count, n, n)) * (rng.random((count, 1, 1)) < 0.9)
        return {"coeffs": coeffs * (1 << (depth.most - 8))}
    scale = rng.choice([4, 32, white], (count, 1, 1))
    smooth = rng.choice([0.0, 1.0], (count, 1, 1))
    slope = np.add.outer(np.arange(n), np.arange(n))[None] * rng.uniform(-1, 1, (count, 1, 1)) / n
    noise = rng.uniform(-1, 1, (count, n, n))
    residual = np.clip(scale * (slope * smooth + noise * (1 - 0.9 * smooth)), -white, white)
    step = rng.choice([1, 4, 16, 64, 256], (count, 1, 1))
    first, second = (_basis(name, n) for name in (transform.first, transform.second))
    gain = 8 if n < 32 else 4  # of what decoders take, over an orthonormal transform
    coded = np.rint(gain * (first @ residual @ second.T) / step) * step
    order = np.add.outer(np.arange(n), np.arange(n))  # about that of a scan: by frequency
    corners = [n // 4 - 1, n // 2 - 1] if n >= 16 else []
    stop = rng.choice([1, 2, *corners, n, 2 * n - 1], (count, 1, 1))
    hi = (1 << (7 + depth.most)) - 1
    coeffs = np.clip(np.where(order < stop, coded, 0), -hi - 1, hi).astype(np.int64)
    found = {"coeffs": coeffs}
    if transform.dct:
        last = np.where(coeffs != 0, order, 0).reshape(count, -1).max(axis=1)
        found["eob"] = np.where(last == 0, 1, np.minimum((last + 1) * (last + 2) // 2, n * n))
    return found
