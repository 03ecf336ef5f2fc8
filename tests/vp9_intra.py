# SPDX-License-Identifier: BSD-2-Clause
"""VP9's intra prediction as 8.5.1.1 has it, sample by sample, over aboveRow and leftCol."""

from collections.abc import Callable

import numpy as np

Row = Callable[[int], int]
MODES = (
    "vert", "hor", "dc", "tm", "down_left", "down_right", "vert_right", "hor_down", "vert_left",
    "hor_up",
)  # fmt: skip


def _round2(x: int, n: int) -> int:
    return (x + (1 << n >> 1)) >> n


def _two(a: int, b: int) -> int:
    return _round2(a + b, 1)


def _three(a: int, b: int, c: int) -> int:
    return _round2(a + 2 * b + c, 2)


def predict(mode: str, size: int, given: dict[str, list[int]], depth: int) -> np.ndarray:
    """pred[i][j] of row i and column j.

    `given` has the edges as the kernel takes them: top from the corner on where the mode has one;
    left from the lowest sample upwards, but for hor_up.
    """
    top, left = given.get("top", []), given.get("left", [])
    corner = 1 if mode in ("tm", "down_right", "vert_right", "hor_down") else 0

    def above(i: int) -> int:  # aboveRow, which goes on with the last sample
        return top[min(i + corner, len(top) - 1)]

    def beside(i: int) -> int:  # leftCol
        return left[i] if mode == "hor_up" else left[size - 1 - i]

    def down_right(i: int, j: int) -> int:
        if i == j:
            return _three(beside(0), above(-1), above(0))
        if j > i:
            return _three(above(j - i - 2), above(j - i - 1), above(j - i))
        last = above(-1) if i - j == 1 else beside(i - j - 2)
        return _three(last, beside(i - j - 1), beside(i - j))

    def vert_right(i: int, j: int) -> int:
        i2 = i // 2
        if i % 2 == 0 and j - i2 >= 0:
            return _two(above(j - i2 - 1), above(j - i2))
        if j - i2 > 0:
            return _three(above(j - i2 - 2), above(j - i2 - 1), above(j - i2))
        if j - i2 == 0:
            return _three(beside(0), above(-1), above(0))
        at = i - 2 * j - 1  # 2 and more rows below the corner's diagonal
        return _three(above(-1) if at == 1 else beside(at - 2), beside(at - 1), beside(at))

    def hor_down(i: int, j: int) -> int:
        j2 = j // 2
        if j % 2 == 0 and i - j2 >= 0:
            return _two(above(-1) if i == j2 else beside(i - j2 - 1), beside(i - j2))
        if i - j2 > 0:
            last = above(-1) if i - j2 == 1 else beside(i - j2 - 2)
            return _three(last, beside(i - j2 - 1), beside(i - j2))
        if i - j2 == 0:
            return _three(beside(0), above(-1), above(0))
        at = j - 2 * i - 1
        return _three(above(at - 2), above(at - 1), above(at))

    def down_left(i: int, j: int) -> int:
        if i + j + 2 < 2 * size:
            return _three(above(i + j), above(i + j + 1), above(i + j + 2))
        return above(2 * size - 1)

    def vert_left(i: int, j: int) -> int:
        at = i // 2 + j
        if i % 2:
            return _three(above(at), above(at + 1), above(at + 2))
        return _two(above(at), above(at + 1))

    def hor_up(i: int, j: int) -> int:
        at = 2 * i + j
        if at > 2 * size - 3:
            return beside(size - 1)
        if at == 2 * size - 3:
            return _round2(beside(size - 2) + 3 * beside(size - 1), 2)
        if at % 2:
            return _three(beside(at // 2), beside(at // 2 + 1), beside(at // 2 + 2))
        return _two(beside(at // 2), beside(at // 2 + 1))

    def dc(i: int, j: int) -> int:
        return _round2(sum(top[:size]) + sum(left), size.bit_length())

    def tm(i: int, j: int) -> int:
        return min(max(above(j) + beside(i) - above(-1), 0), (1 << depth) - 1)

    of = {
        "vert": lambda i, j: above(j), "hor": lambda i, j: beside(i), "dc": dc, "tm": tm,
        "down_left": down_left, "down_right": down_right, "vert_right": vert_right,
        "hor_down": hor_down, "vert_left": vert_left, "hor_up": hor_up,
    }[mode]  # fmt: skip
    return np.array([[of(i, j) for j in range(size)] for i in range(size)])
