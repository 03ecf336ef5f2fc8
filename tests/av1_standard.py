# SPDX-License-Identifier: BSD-2-Clause
"""AV1's direction search and self guided filter as the standard words them, in 8 bits.

Written from the text of the bitstream specification, not from this project's specs: the standard's
arrays and loops; an element is an array over the items, so that many items run at once.
"""

import numpy as np

DIV_TABLE = (0, 840, 420, 280, 210, 168, 140, 120, 105)
SGR_PARAMS = (
    (2, 12, 1, 4), (2, 15, 1, 6), (2, 18, 1, 8), (2, 21, 1, 9), (2, 24, 1, 10), (2, 29, 1, 11),
    (2, 36, 1, 12), (2, 45, 1, 13), (2, 56, 1, 14), (2, 68, 1, 15), (0, 0, 1, 5), (0, 0, 1, 8),
    (0, 0, 1, 11), (0, 0, 1, 14), (2, 30, 0, 0), (2, 75, 0, 0),
)  # fmt: skip
MTABLE_BITS, RECIP_BITS, SGR_BITS, RST_BITS, PRJ_BITS = 20, 12, 8, 4, 7


def round2(x: np.ndarray, n: int) -> np.ndarray:
    return (x + (1 << (n - 1))) >> n


def cdef_direction(frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The CDEF direction process on blocks [items, 8, 8]: yDir and var of each."""
    count = len(frame)
    cost = np.zeros((8, count), dtype=np.int64)
    partial = np.zeros((8, 15, count), dtype=np.int64)
    for i in range(8):
        for j in range(8):
            x = frame[:, i, j].astype(np.int64) - 128
            partial[0][i + j] += x
            partial[1][i + j // 2] += x
            partial[2][i] += x
            partial[3][3 + i - j // 2] += x
            partial[4][7 + i - j] += x
            partial[5][3 - i // 2 + j] += x
            partial[6][j] += x
            partial[7][i // 2 + j] += x
    for i in range(8):
        cost[2] += partial[2][i] * partial[2][i]
        cost[6] += partial[6][i] * partial[6][i]
    cost[2] *= DIV_TABLE[8]
    cost[6] *= DIV_TABLE[8]
    for i in range(7):
        for d in (0, 4):
            both = partial[d][i] * partial[d][i] + partial[d][14 - i] * partial[d][14 - i]
            cost[d] += both * DIV_TABLE[i + 1]
    for d in (0, 4):
        cost[d] += partial[d][7] * partial[d][7] * DIV_TABLE[8]
    for i in range(1, 8, 2):
        for j in range(5):
            cost[i] += partial[i][3 + j] * partial[i][3 + j]
        cost[i] *= DIV_TABLE[8]
        for j in range(3):
            both = partial[i][j] * partial[i][j] + partial[i][10 - j] * partial[i][10 - j]
            cost[i] += both * DIV_TABLE[2 * j + 2]
    best_cost, y_dir = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for d in range(8):
        better = cost[d] > best_cost
        best_cost, y_dir = np.where(better, cost[d], best_cost), np.where(better, d, y_dir)
    return y_dir, (best_cost - cost[(y_dir + 4) & 7, np.arange(count)]) >> 10


def box_filter(area: np.ndarray, border: int, chosen: int, number: int) -> np.ndarray:
    """The box filter process of a pass on items [items, rows, cols], as F [items, 8, 8].

    The unit of 8x8 begins at [border, border] of an item's area.
    """
    r, eps = SGR_PARAMS[chosen][2 * number : 2 * number + 2]
    n = (2 * r + 1) * (2 * r + 1)
    n2e = n * n * eps
    s = ((1 << MTABLE_BITS) + n2e // 2) // n2e
    one_by_n = ((1 << RECIP_BITS) + n // 2) // n
    a_, b_ = {}, {}
    for i in range(-1, 9):
        if number == 0 and not i & 1:
            continue  # weighted by 0 below
        for j in range(-1, 9):
            a = np.zeros(len(area), dtype=np.int64)
            b = np.zeros(len(area), dtype=np.int64)
            for dy in range(-r, r + 1):
                for dx in range(-r, r + 1):
                    c = area[:, border + i + dy, border + j + dx].astype(np.int64)
                    a += c * c
                    b += c
            p = np.maximum(0, a * n - b * b)
            z = round2(p * s, MTABLE_BITS)
            a2 = ((z << SGR_BITS) + z // 2) // (z + 1)
            a2 = np.where(z >= 255, 256, np.where(z == 0, 1, a2))
            b2 = ((1 << SGR_BITS) - a2) * b * one_by_n
            a_[i, j] = a2
            b_[i, j] = round2(b2, RECIP_BITS)
    f = np.zeros((len(area), 8, 8), dtype=np.int64)
    for i in range(8):
        shift = 4 if number == 0 and i & 1 else 5
        for j in range(8):
            a = np.zeros(len(area), dtype=np.int64)
            b = np.zeros(len(area), dtype=np.int64)
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if number == 0:
                        weight = (6 if dx == 0 else 5) if (i + dy) & 1 else 0
                    else:
                        weight = 4 if dx == 0 or dy == 0 else 3
                    if weight:
                        a += weight * a_[i + dy, j + dx]
                        b += weight * b_[i + dy, j + dx]
            v = a * area[:, border + i, border + j] + b
            f[:, i, j] = round2(v, SGR_BITS + shift - RST_BITS)
    return f


def self_guided(
    area: np.ndarray, border: int, chosen: int, xqd: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """The self guided filter process on items of one set: the restored pixels [items, 8, 8]."""
    w0, w1 = (w[:, None, None] for w in xqd)
    w2 = (1 << PRJ_BITS) - w0 - w1
    u = area[:, border : border + 8, border : border + 8].astype(np.int64) << RST_BITS
    r0, r1 = SGR_PARAMS[chosen][0], SGR_PARAMS[chosen][2]
    v = w1 * u
    v = v + w0 * (box_filter(area, border, chosen, 0) if r0 else u)
    v = v + w2 * (box_filter(area, border, chosen, 1) if r1 else u)
    return np.clip(round2(v, RST_BITS + PRJ_BITS), 0, 255)
