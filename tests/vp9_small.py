# SPDX-License-Identifier: BSD-2-Clause
"""VP9's small transforms and motion compensation as the standard words them, on many at once.

Written from the text of the bitstream specification, not from this project's specs: the arrays T
and S, and the steps of 8.7.1. An element is an array over the lines that are transformed.
"""

import numpy as np
from vp9_standard import cos64, sin64

Line = list[np.ndarray]


def round2(x: np.ndarray, n: int) -> np.ndarray:
    return (x + (1 << (n - 1))) >> n if n else x


class Process:
    """An array T; remembers which lines left 16 bits."""

    def __init__(self, values: Line) -> None:
        self.t = list(values)
        self.overflow = np.zeros(values[0].shape, dtype=bool)
        for v in values:
            self.note(v)

    def note(self, value: np.ndarray) -> np.ndarray:
        self.overflow = self.overflow | (value < -32768) | (value > 32767)
        return value

    def b(self, a: int, b: int, angle: int) -> None:
        x, y = self.t[a], self.t[b]
        self.t[a] = self.note(round2(x * cos64(angle) - y * sin64(angle), 14))
        self.t[b] = self.note(round2(x * sin64(angle) + y * cos64(angle), 14))

    def h(self, a: int, b: int, flip: bool = False) -> None:
        if flip:
            a, b = b, a
        x, y = self.t[a], self.t[b]
        self.t[a], self.t[b] = self.note(x + y), self.note(x - y)


def dct(line: Line) -> tuple[Line, np.ndarray]:
    """8.7.1.2 and 8.7.1.3, by the recursion that the standard has over n."""
    n = len(line).bit_length() - 1
    order = [int(f"{k:0{n}b}"[::-1], 2) for k in range(1 << n)]
    p = Process([line[k] for k in order])
    _dct(p, n)
    return p.t, p.overflow


def _dct(p: Process, n: int) -> None:
    if n == 1:
        x, y = p.t[0], p.t[1]
        p.t[0] = p.note(round2((x + y) * cos64(16), 14))
        p.t[1] = p.note(round2((x - y) * cos64(16), 14))
        return
    _dct(p, n - 1)
    if n == 2:
        p.b(2, 3, 24)
        x, y = p.t[2], p.t[3]
        p.h(0, 3)
        p.h(1, 2)
        return
    p.b(4, 7, 28)
    p.b(5, 6, 12)
    p.h(4, 5)
    p.h(7, 6)
    x, y = p.t[6], p.t[5]
    p.t[6] = p.note(round2((x + y) * cos64(16), 14))
    p.t[5] = p.note(round2((x - y) * cos64(16), 14))
    for i in range(4):
        p.h(i, 7 - i)


def adst4(line: Line) -> tuple[Line, np.ndarray]:
    """8.7.1.6."""
    sinpi = (0, 5283, 9929, 13377, 15212)
    t = line
    s = [sinpi[1] * t[0], sinpi[2] * t[0], sinpi[3] * t[1], sinpi[4] * t[2], sinpi[1] * t[2],
         sinpi[2] * t[3], sinpi[4] * t[3]]  # fmt: skip
    x = s[0] + s[3] + s[5]
    y = s[1] - s[4] - s[6]
    z = sinpi[3] * (t[0] - t[2] + t[3])
    p = Process(line)
    out = [p.note(round2(v, 14)) for v in (x + s[2], y + s[2], z, x + y - s[2])]
    return out, p.overflow


def adst8(line: Line) -> tuple[Line, np.ndarray]:
    """8.7.1.7, between the permutations of 8.7.1.4 and 8.7.1.5."""
    p = Process([line[i - 1] if i & 1 else line[7 - i] for i in range(8)])
    s: Line = [line[0]] * 8

    def sb(a: int, b: int, angle: int) -> None:
        x, y = p.t[a], p.t[b]
        s[a] = x * sin64(angle) + y * cos64(angle)
        s[b] = x * cos64(angle) - y * sin64(angle)

    def sh(a: int, b: int) -> None:
        p.t[a] = p.note(round2(s[a] + s[b], 14))
        p.t[b] = p.note(round2(s[a] - s[b], 14))

    for i in range(4):
        sb(2 * i, 2 * i + 1, 30 - 8 * i)
    for i in range(4):
        sh(i, 4 + i)
    sb(4, 5, 24)
    sb(7, 6, 8)
    for i in range(2):
        sh(4 + i, 6 + i)
    for i in range(2):
        p.h(i, 2 + i)
    half = cos64(16)
    for i in (2, 6):
        x, y = p.t[i], p.t[i + 1]
        p.t[i] = p.note(round2((x + y) * half, 14))
        p.t[i + 1] = p.note(round2((x - y) * half, 14))
    t = p.t
    out = [t[0], -t[4], t[6], -t[2], t[3], -t[7], t[5], -t[1]]
    for v in out:
        p.note(v)
    return out, p.overflow


def wht(line: Line, shift: int) -> tuple[Line, np.ndarray]:
    """8.7.1.10."""
    a, c, d, b = (v >> shift for v in line)
    a = a + c
    d = d - b
    e = (a - d) >> 1
    b = e - b
    c = e - c
    a = a - b
    d = d + c
    p = Process([a, b, c, d])
    return p.t, p.overflow


def inverse(name: str, coeffs: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """8.7.2 of blocks [items, h, v]: the pixels, and the items that leave 16 bits on the way."""
    words = name.split("_")
    size = int(words[0][-1])
    kinds = [w.rstrip("48") for w in (words[0], words[-1])]

    def one(kind: str, line: Line, second: bool) -> tuple[Line, np.ndarray]:
        if kind == "iwht":
            return wht(line, 0 if second else 2)
        return {("idct", 4): dct, ("idct", 8): dct, ("iadst", 4): adst4, ("iadst", 8): adst8}[
            kind, size
        ](line)

    rows, over = one(kinds[0], [coeffs[:, h, :] for h in range(size)], False)  # [items, v]
    placed = np.stack(rows, axis=2)  # [items, v, x]
    columns, over2 = one(kinds[1], [placed[:, v, :] for v in range(size)], True)
    shift = 0 if kinds[0] == "iwht" else {4: 4, 8: 5}[size]
    residual = round2(np.stack(columns, axis=1), shift)
    return np.clip(dst + residual, 0, 255), over.any(axis=1) | over2.any(axis=1)


def predicted(src: np.ndarray, taps: np.ndarray, axis: int) -> np.ndarray:
    """Eight taps an item along an axis, rounded and limited to samples."""
    n = src.shape[axis] - 7
    parts = [np.take(src, np.arange(k, k + n), axis=axis) for k in range(8)]
    total = sum(taps[:, k, None, None] * p for k, p in enumerate(parts))
    return np.clip(round2(np.asarray(total), 7), 0, 255)
