# SPDX-License-Identifier: BSD-2-Clause
"""VP9's transforms and motion compensation as the standard words them, on many at once.

Written from the text of the bitstream specification, not from this project's specs: the arrays T
and S, and the steps of 8.7.1. An element is an array over the lines that are transformed.
"""

import numpy as np
from vp9_adst import InverseAdst16
from vp9_standard import cos64, sin64

Line = list[np.ndarray]


def round2(x: np.ndarray, n: int) -> np.ndarray:
    return (x + (1 << (n - 1))) >> n if n else x


class Process:
    """An array T; remembers which lines left so many bits."""

    def __init__(self, values: Line, bits: int) -> None:
        self.bits = bits
        self.t = list(values)
        self.overflow = np.zeros(values[0].shape, dtype=bool)
        for v in values:
            self.note(v)

    def note(self, value: np.ndarray) -> np.ndarray:
        self.overflow = self.overflow | (value < -1 << (self.bits - 1))
        self.overflow = self.overflow | (value >= 1 << (self.bits - 1))
        return value

    def b(self, a: int, b: int, angle: int, flip: bool = False) -> None:
        x, y = self.t[a], self.t[b]
        first = round2(x * cos64(angle) - y * sin64(angle), 14)
        second = round2(x * sin64(angle) + y * cos64(angle), 14)
        self.t[a], self.t[b] = (second, first) if flip else (first, second)
        self.note(first)
        self.note(second)

    def h(self, a: int, b: int, flip: int = 0) -> None:
        if flip:
            a, b = b, a
        x, y = self.t[a], self.t[b]
        self.t[a], self.t[b] = self.note(x + y), self.note(x - y)


def reversed_bits(bits: int, x: int) -> int:
    return int(format(x, f"0{bits}b")[::-1], 2)


def dct(line: Line, bits: int) -> tuple[Line, np.ndarray]:
    """8.7.1.2 and 8.7.1.3, n = 2 to 5: the steps in the order of AV1 7.13.2.3, which words the
    same process for all n, in angles of half the size."""
    n = len(line).bit_length() - 1
    p = Process([line[reversed_bits(n, k)] for k in range(1 << n)], bits)
    if n == 5:
        for i in range(8):
            p.b(16 + i, 31 - i, 3 + 4 * reversed_bits(3, 7 - i))
    if n >= 4:
        for i in range(4):
            p.b(8 + i, 15 - i, 6 + 8 * reversed_bits(2, 3 - i))
    if n == 5:
        for i in range(8):
            p.h(16 + 2 * i, 17 + 2 * i, i & 1)
    if n >= 3:
        for i in range(2):
            p.b(4 + i, 7 - i, 28 - 16 * i)
    if n >= 4:
        for i in range(4):
            p.h(8 + 2 * i, 9 + 2 * i, i & 1)
    if n == 5:
        for i in range(2):
            for j in range(2):
                p.b(30 - 4 * i - j, 17 + 4 * i + j, 12 + 32 * j + 16 * (1 - i), flip=True)
    p.b(0, 1, 16, flip=True)
    p.b(2, 3, 24)
    if n >= 3:
        for i in range(2):
            p.h(4 + 2 * i, 5 + 2 * i, i)
    if n >= 4:
        for i in range(2):
            p.b(14 - i, 9 + i, 24 + 32 * i, flip=True)
    if n == 5:
        for i in range(4):
            for j in range(2):
                p.h(16 + 4 * i + j, 19 + 4 * i - j, i & 1)
    for i in range(2):
        p.h(i, 3 - i)
    if n >= 3:
        p.b(6, 5, 16, flip=True)
    if n >= 4:
        for i in range(2):
            for j in range(2):
                p.h(8 + 4 * i + j, 11 + 4 * i - j, i)
    if n == 5:
        for i in range(4):
            p.b(29 - i, 18 + i, 24 + 32 * (i >> 1), flip=True)
    if n >= 3:
        for i in range(4):
            p.h(i, 7 - i)
    if n >= 4:
        for i in range(2):
            p.b(13 - i, 10 + i, 16, flip=True)
    if n == 5:
        for i in range(2):
            for j in range(4):
                p.h(16 + 8 * i + j, 23 + 8 * i - j, i)
    if n >= 4:
        for i in range(8):
            p.h(i, 15 - i)
    if n == 5:
        for i in range(4):
            p.b(27 - i, 20 + i, 16, flip=True)
        for i in range(16):
            p.h(i, 31 - i)
    return p.t, p.overflow


def adst4(line: Line, bits: int) -> tuple[Line, np.ndarray]:
    """8.7.1.6."""
    sinpi = (0, 5283, 9929, 13377, 15212)
    t = line
    s = [sinpi[1] * t[0], sinpi[2] * t[0], sinpi[3] * t[1], sinpi[4] * t[2], sinpi[1] * t[2],
         sinpi[2] * t[3], sinpi[4] * t[3]]  # fmt: skip
    x = s[0] + s[3] + s[5]
    y = s[1] - s[4] - s[6]
    z = sinpi[3] * (t[0] - t[2] + t[3])
    p = Process(line, bits)
    out = [p.note(round2(v, 14)) for v in (x + s[2], y + s[2], z, x + y - s[2])]
    return out, p.overflow


def adst8(line: Line, bits: int) -> tuple[Line, np.ndarray]:
    """8.7.1.7, between the permutations of 8.7.1.4 and 8.7.1.5."""
    p = Process([line[i - 1] if i & 1 else line[7 - i] for i in range(8)], bits)
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


def adst16(line: Line, bits: int) -> tuple[Line, np.ndarray]:
    """8.7.1.8, with both permutations."""
    items = line[0].shape
    process = InverseAdst16(np.stack([v.reshape(-1) for v in line], axis=1), bits)
    out = process.run()
    return [out[:, k].reshape(items) for k in range(16)], process.overflow.reshape(items)


def wht(line: Line, shift: int, bits: int) -> tuple[Line, np.ndarray]:
    """8.7.1.10."""
    a, c, d, b = (v >> shift for v in line)
    a = a + c
    d = d - b
    e = (a - d) >> 1
    b = e - b
    c = e - c
    a = a - b
    d = d + c
    p = Process([a, b, c, d], bits)
    return p.t, p.overflow


def inverse(
    name: str, coeffs: np.ndarray, dst: np.ndarray, white: np.ndarray, bits: int
) -> tuple[np.ndarray, np.ndarray]:
    """8.7.2 of blocks [items, h, v], with each item's largest sample.

    The pixels, and the items that leave so many bits on the way.
    """
    words = name.split("_")
    size = int(words[0].lstrip("adctiswh"))
    kinds = [w.removesuffix(str(size)) for w in (words[0], words[-1])]

    def one(kind: str, line: Line, second: bool) -> tuple[Line, np.ndarray]:
        if kind == "iwht":
            return wht(line, 0 if second else 2, bits)
        process = dct if kind == "idct" else {4: adst4, 8: adst8, 16: adst16}[size]
        return process(line, bits)

    rows, over = one(kinds[0], [coeffs[:, h, :] for h in range(size)], False)  # [items, v]
    placed = np.stack(rows, axis=2)  # [items, v, x]
    columns, over2 = one(kinds[1], [placed[:, v, :] for v in range(size)], True)
    shift = 0 if kinds[0] == "iwht" else {4: 4, 8: 5, 16: 6, 32: 6}[size]
    residual = round2(np.stack(columns, axis=1), shift)
    return np.clip(dst + residual, 0, white[:, None, None]), over.any(axis=1) | over2.any(axis=1)


def predicted(src: np.ndarray, taps: np.ndarray, axis: int, white: np.ndarray) -> np.ndarray:
    """Eight taps an item along an axis, rounded and limited to each item's samples."""
    n = src.shape[axis] - 7
    parts = [np.take(src, np.arange(k, k + n), axis=axis) for k in range(8)]
    total = sum(taps[:, k, None, None] * p for k, p in enumerate(parts))
    return np.clip(round2(np.asarray(total), 7), 0, white[:, None, None])
