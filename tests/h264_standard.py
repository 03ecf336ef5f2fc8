# SPDX-License-Identifier: BSD-2-Clause
"""H.264's inverse transforms as the standard words them, an item at a time.

Written from the text of 8.5.12.2, 8.5.13 and 8.5.14, not from this project's specs: the arrays and
steps have the text's names, and are plain Python integers. d[i][j] is row i, column j, and `>>` is
the text's arithmetic shift.
"""

Matrix = list[list[int]]


def columns(m: Matrix) -> Matrix:
    """The transpose."""
    return [list(c) for c in zip(*m, strict=True)]


class Residual:
    """The transform of scaled coefficients; remembers what the standard bounds.

    middle  all values but the last pass's results: from -2**(7 + bitDepth) to 2**(7 + bitDepth) - 1
    last    those results: from -2**(7 + bitDepth) to 2**(7 + bitDepth) - 33
    """

    def __init__(self) -> None:
        self.middle: list[int] = []
        self.last: list[int] = []

    @property
    def conformant(self) -> bool:
        """Whether the bounds of 8 bits a sample hold."""
        return all(-32768 <= v <= 32767 for v in self.middle) and all(
            -32768 <= v <= 32735 for v in self.last
        )

    def transform(self, d: Matrix) -> Matrix:
        """r of a 4x4 or 8x8 array: each row, then each column of the result, then the rounding."""
        line = self._four if len(d) == 4 else self._eight
        rows = [line(row) for row in d]
        self.middle += [v for row in (*d, *rows) for v in row]
        h = columns([line(column) for column in columns(rows)])
        self.last += [v for row in h for v in row]
        return [[(v + 32) >> 6 for v in row] for row in h]

    def _four(self, d: list[int]) -> list[int]:
        e0 = d[0] + d[2]
        e1 = d[0] - d[2]
        e2 = (d[1] >> 1) - d[3]
        e3 = d[1] + (d[3] >> 1)
        self.middle += [e0, e1, e2, e3]
        return [e0 + e3, e1 + e2, e1 - e2, e0 - e3]

    def _eight(self, d: list[int]) -> list[int]:
        e0 = d[0] + d[4]
        e1 = -d[3] + d[5] - d[7] - (d[7] >> 1)
        e2 = d[0] - d[4]
        e3 = d[1] + d[7] - d[3] - (d[3] >> 1)
        e4 = (d[2] >> 1) - d[6]
        e5 = -d[1] + d[7] + d[5] + (d[5] >> 1)
        e6 = d[2] + (d[6] >> 1)
        e7 = d[3] + d[5] + d[1] + (d[1] >> 1)
        f0 = e0 + e6
        f1 = e1 + (e7 >> 2)
        f2 = e2 + e4
        f3 = e3 + (e5 >> 2)
        f4 = e2 - e4
        f5 = (e3 >> 2) - e5
        f6 = e0 - e6
        f7 = e7 - (e1 >> 2)
        self.middle += [e0, e1, e2, e3, e4, e5, e6, e7, f0, f1, f2, f3, f4, f5, f6, f7]
        return [f0 + f7, f2 + f5, f4 + f3, f6 + f1, f6 - f1, f4 - f3, f2 - f5, f0 - f7]


def construct(prediction: Matrix, r: Matrix) -> Matrix:
    """8.5.14: u = Clip1(pred + r), 8 bits."""
    return [
        [min(max(p + x, 0), 255) for p, x in zip(row, residual, strict=True)]
        for row, residual in zip(prediction, r, strict=True)
    ]


# The transforms' basis functions, a row each, where no shift loses anything.
FOUR = [[2, 2, 2, 2], [2, 1, -1, -2], [2, -2, -2, 2], [1, -2, 2, -1]]  # halves
EIGHT = [
    [8, 8, 8, 8, 8, 8, 8, 8],
    [12, 10, 6, 3, -3, -6, -10, -12],
    [8, 4, -4, -8, -8, -4, 4, 8],
    [10, -3, -12, -6, 6, 12, 3, -10],
    [8, -8, -8, 8, 8, -8, -8, 8],
    [6, -12, 3, 10, -10, -3, 12, -6],
    [4, -8, 8, -4, -4, 8, -8, 4],
    [3, -6, 10, -12, 12, -10, 6, -3],
]  # eighths
