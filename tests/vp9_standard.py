# SPDX-License-Identifier: BSD-2-Clause
"""VP9's inverse DCT and loop filters as the standard words them, an item at a time.

Written from the text of the bitstream specification, not from this project's specs: arrays, named
steps, plain Python integers. 8.7.1.1: B is a butterfly rotation, H a Hadamard rotation.
"""

import math


def brev(bits: int, x: int) -> int:
    """The bit reversal of x."""
    return int(format(x, f"0{bits}b")[::-1], 2)


def round2(x: int, n: int) -> int:
    return x if n == 0 else (x + 2 ** (n - 1)) // 2**n


def cos64(angle: int) -> int:
    return math.floor(16384 * math.cos(angle * math.pi / 64) + 0.5)


def sin64(angle: int) -> int:
    return cos64(angle - 32)


class InverseDct:
    """The process on an array T of 8 values; remembers what was stored in T."""

    def __init__(self) -> None:
        self.t: list[int] = []
        self.stored: list[int] = []
        self.sums: list[int] = []  # a + b and a - b ahead of a rotation by a quarter

    def _set(self, at: int, value: int) -> None:
        self.t[at] = value
        self.stored.append(value)

    def b(self, a: int, b: int, angle: int, flip: int) -> None:
        ta, tb = self.t[a], self.t[b]
        if angle == 16:
            self.sums += [ta + tb, ta - tb]
        x = round2(ta * cos64(angle) - tb * sin64(angle), 14)
        y = round2(ta * sin64(angle) + tb * cos64(angle), 14)
        self._set(a, y if flip else x)
        self._set(b, x if flip else y)

    def h(self, a: int, b: int, swap: int) -> None:
        if swap:
            a, b = b, a
        x, y = self.t[a], self.t[b]
        self._set(a, x + y)
        self._set(b, x - y)

    def run(self, values: list[int]) -> list[int]:
        self.t = [values[brev(3, i)] for i in range(8)]
        for i in range(2):
            self.b(4 + i, 7 - i, 28 - 16 * i, 0)
        for i in range(2):
            self.b(2 * i, 2 * i + 1, 16 + 8 * i, 1 - i)
        for i in range(2):
            self.h(4 + 2 * i, 5 + 2 * i, i)
        for i in range(2):
            self.h(i, 3 - i, 0)
        self.b(6, 5, 16, 1)
        for i in range(4):
            self.h(i, 7 - i, 0)
        return list(self.t)


def reconstruct(
    dequant: list[list[int]], current: list[list[int]], depth: int = 8
) -> tuple[list, InverseDct]:
    """8.7.2 for an 8x8 block: rows, columns, rounding, sum; and what went through T."""
    white = (1 << depth) - 1
    process = InverseDct()
    rows = [process.run(row) for row in dequant]
    columns = [process.run([rows[i][j] for i in range(8)]) for j in range(8)]
    out = [
        [min(max(current[i][j] + round2(columns[j][i], 5), 0), white) for j in range(8)]
        for i in range(8)
    ]
    return out, process


def real_idct(dequant: list[list[int]]) -> list[list[float]]:
    """The residual by the cosine formula, unrounded."""

    def basis(k: int, n: int) -> float:
        return (math.sqrt(0.5) if k == 0 else 1.0) * math.cos((2 * n + 1) * k * math.pi / 16)

    return [
        [
            sum(dequant[v][h] * basis(v, i) * basis(h, j) for v in range(8) for h in range(8)) / 32
            for j in range(8)
        ]
        for i in range(8)
    ]


def filter_mask(line: list[int], blimit: int, limit: int, depth: int) -> bool:
    """8.8.3 on p3..q3: whether anything is filtered. The limits are those for 8 bits."""
    p3, p2, p1, p0, q0, q1, q2, q3 = line
    steps = [(p3, p2), (p2, p1), (p1, p0), (q1, q0), (q2, q1), (q3, q2)]
    if any(abs(a - b) > limit << (depth - 8) for a, b in steps):
        return False
    return abs(p0 - q0) * 2 + abs(p1 - q1) // 2 <= blimit << (depth - 8)


def narrow_filter(
    line: list[int], blimit: int, limit: int, thresh: int, depth: int = 8
) -> list[int]:
    """8.8.4 on p3..q3, with the masks of 8.8.3."""

    def filter4_clamp(x: int) -> int:
        return max(-(1 << (depth - 1)), min((1 << (depth - 1)) - 1, x))

    if not filter_mask(line, blimit, limit, depth):
        return line
    p3, p2, p1, p0, q0, q1, q2, q3 = line
    middle = 0x80 << (depth - 8)
    hev = any(abs(a - b) > thresh << (depth - 8) for a, b in ((p1, p0), (q1, q0)))
    ps1, ps0, qs0, qs1 = (v - middle for v in (p1, p0, q0, q1))
    filt = filter4_clamp(ps1 - qs1) if hev else 0
    filt = filter4_clamp(filt + 3 * (qs0 - ps0))
    filter1 = filter4_clamp(filt + 4) >> 3
    filter2 = filter4_clamp(filt + 3) >> 3
    q0 = filter4_clamp(qs0 - filter1) + middle
    p0 = filter4_clamp(ps0 + filter2) + middle
    if not hev:
        filt = round2(filter1, 1)
        q1 = filter4_clamp(qs1 - filt) + middle
        p1 = filter4_clamp(ps1 + filt) + middle
    return [p3, p2, p1, p0, q0, q1, q2, q3]


def wide_filter(line: list[int], log2_size: int) -> list[int]:
    """8.8.5 on as many pixels beside the edge as it looks at: all but the outermost change."""
    n = len(line) // 2 - 1

    def pixel(i: int) -> int:
        return line[max(-(n + 1), min(n, i)) + n + 1]

    filtered = [
        round2(sum(pixel(i + j) * (2 if j == 0 else 1) for j in range(-n, n + 1)), log2_size)
        for i in range(-n, n)
    ]
    return [line[0], *filtered, line[-1]]


def edge_filter_16(
    line: list[int], blimit: int, limit: int, thresh: int, depth: int
) -> tuple[list[int], str]:
    """8.8.2 on p7..q7 for TX_16X16: the samples after, and which filter ran."""
    if not filter_mask(line[4:12], blimit, limit, depth):
        return line, "none"
    p, q = line[7::-1], line[8:]
    one = 1 << (depth - 8)
    flat = all(abs(s[i] - s[0]) <= one for s in (p, q) for i in (1, 2, 3))
    flat2 = all(abs(s[i] - s[0]) <= one for s in (p, q) for i in (4, 5, 6, 7))
    if flat and flat2:
        return wide_filter(line, 4), "16"
    near = line[4:12]
    near = wide_filter(near, 3) if flat else narrow_filter(near, blimit, limit, thresh, depth)
    return [*line[:4], *near, *line[12:]], "8" if flat else "4"
