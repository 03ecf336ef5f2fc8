# SPDX-License-Identifier: BSD-2-Clause
"""VP9's inverse ADST of 16 points as the standard words it, on many blocks at once.

Written from the text of the bitstream specification, not from this project's specs: the arrays T
and S, and the steps of 8.7.1.8. An element is an array over the lines that are transformed.
"""

import numpy as np
from vp9_standard import cos64, sin64


def round2(x: np.ndarray, n: int) -> np.ndarray:
    return (x + (1 << (n - 1))) >> n


class InverseAdst16:
    """The process on an array T of 16 values; remembers which lines left so many bits."""

    def __init__(self, values: np.ndarray, bits: int = 16) -> None:
        """values: [lines, 16]."""
        self.bits = bits
        self.overflow = self._beyond(values).any(axis=1)
        # 8.7.1.4: the input permutation
        self.t = [values[:, i - 1 if i & 1 else 15 - i] for i in range(16)]
        self.s = [np.zeros(0, dtype=np.int64)] * 16

    def _beyond(self, value: np.ndarray) -> np.ndarray:
        return (value < -1 << (self.bits - 1)) | (value >= 1 << (self.bits - 1))

    def _set(self, at: int, value: np.ndarray) -> None:
        self.t[at] = value
        self.overflow |= self._beyond(value)

    def _rotated(self, a: int, b: int, angle: int) -> tuple[np.ndarray, np.ndarray]:
        x = self.t[a] * cos64(angle) - self.t[b] * sin64(angle)
        y = self.t[a] * sin64(angle) + self.t[b] * cos64(angle)
        return x, y

    def sb(self, a: int, b: int, angle: int) -> None:
        """The flipped butterfly into S, at full precision."""
        self.s[b], self.s[a] = self._rotated(a, b, angle)
        for s in (self.s[a], self.s[b]):
            assert ((np.abs(s) < 1 << (self.bits + 15)) | self.overflow).all()  # 24 + BitDepth bits

    def sh(self, a: int, b: int) -> None:
        """The Hadamard rotation of S into T, rounded."""
        x, y = self.s[a], self.s[b]
        self._set(a, round2(x + y, 14))
        self._set(b, round2(x - y, 14))

    def b(self, a: int, b: int, angle: int) -> None:
        x, y = self._rotated(a, b, angle)
        self._set(a, round2(x, 14))
        self._set(b, round2(y, 14))

    def h(self, a: int, b: int) -> None:
        x, y = self.t[a], self.t[b]
        self._set(a, x + y)
        self._set(b, x - y)

    def run(self) -> np.ndarray:
        """8.7.1.8, with the output permutation of 8.7.1.5: [lines, 16]."""
        for i in range(8):
            self.sb(2 * i, 2 * i + 1, 31 - 4 * i)
        for i in range(8):
            self.sh(i, 8 + i)
        for i in range(2):
            self.sb(8 + 2 * i, 9 + 2 * i, 28 - 16 * i)
            self.sb(13 + 2 * i, 12 + 2 * i, 4 + 16 * i)
        for i in range(4):
            self.h(i, 4 + i)
            self.sh(8 + i, 12 + i)
        for i in range(2):
            self.sb(4 + 8 * i, 5 + 8 * i, 24)
            self.sb(7 + 8 * i, 6 + 8 * i, 8)
            for j in range(2):
                self.h(8 * i + j, 2 + 8 * i + j)
                self.sh(4 + 8 * i + j, 6 + 8 * i + j)
        for i in range(2):
            for j in range(2):
                self.b(2 + 4 * j + 8 * i, 3 + 4 * j + 8 * i, 48 + 64 * (i ^ j))
        permuted = list(self.t)
        for i in range(16):
            gray = i ^ (i >> 1)
            self.t[i] = permuted[int(f"{gray:04b}"[::-1], 2)]
        for i in (1, 3, 13, 15):
            self._set(i, -self.t[i])
        return np.stack(self.t, axis=1)


def reconstruct(dequant: np.ndarray, current: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """8.7.2 for 16x16 ADST_ADST blocks in 8 bits, [items, 16, 16]: the samples after, and which
    items left the 16 bits of T on the way."""
    count = len(dequant)
    rows = InverseAdst16(dequant.reshape(-1, 16))
    after_rows = rows.run().reshape(count, 16, 16)
    columns = InverseAdst16(after_rows.swapaxes(1, 2).reshape(-1, 16))
    residual = columns.run().reshape(count, 16, 16).swapaxes(1, 2)
    overflow = (rows.overflow | columns.overflow).reshape(count, 16).any(axis=1)
    return np.clip(current + round2(residual, 6), 0, 255), overflow


def real_iadst(dequant: np.ndarray) -> np.ndarray:
    """The residual by the sine formula, unrounded: [items, 16, 16]."""
    n = np.arange(16)
    basis = np.sin((2 * n[:, None] + 1) * (2 * n[None, :] + 1) * np.pi / 64)  # [frequency, place]
    return np.einsum("nvh,vi,hj->nij", dequant, basis, basis) / 64
