# SPDX-License-Identifier: BSD-2-Clause
"""Transposes by zip1 and zip2 alone, for processors that weave registers and have no trn.

To weave registers n and n + half moves one bit of the row's number to the lane's, and one of the
column's to the register's; after as many times as rows have bits, lanes are rows.
"""

from collections.abc import Callable

Let = Callable[[str, str], str]  # wanted name, expression -> name


def transpose(
    let: Let, rows: list[str], cols: int, width: int, names: list[str], side_by_side: int
) -> list[list[str]]:
    """As vectors.transpose(); `let` declares a quad register of unsigned lanes of that width."""
    zip_ = _Zip(let, width)
    if side_by_side > 1:
        return [[let(n, x)] for n, x in zip(names, zip_.squares(rows), strict=True)]
    half_rows = cols * width == 64
    step = 2 * cols if half_rows and len(rows) > cols else cols
    columns: list[list[str]] = [[] for _ in range(cols)]
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        if half_rows:  # a row fills half a register: two of them fill one
            middle = len(block) // 2
            pairs = zip(block[:middle], block[middle:], strict=True)
            block = [let("z", zip_.text(1, a, b)) for a, b in pairs]
        for _ in range(len(block).bit_length() - 1):
            block = zip_.woven(block)
        if len(block) < cols:  # two columns a register
            low = [f"vget_low_u{width}({r})" for r in block]
            high = [f"vget_high_u{width}({r})" for r in block]
            block = [x for pair in zip(low, high, strict=True) for x in pair]
        for n, reg in enumerate(block):
            name = names[n] if len(rows) == step else f"{names[n]}_{start // step}"
            columns[n].append(let(name, reg))
    return columns


class _Zip:
    """Weaves registers of unsigned lanes of one width."""

    def __init__(self, let: Let, width: int) -> None:
        self._let, self._width = let, width

    def text(self, which: int, a: str, b: str) -> str:
        return f"vzip{which}q_u{self._width}({a}, {b})"

    def woven(self, regs: list[str]) -> list[str]:
        """Every register with the one half the list further on."""
        half = len(regs) // 2
        return [
            self._let("z", self.text(which, regs[n], regs[n + half]))
            for n in range(half)
            for which in (1, 2)
        ]

    def squares(self, regs: list[str]) -> list[str]:
        """Several matrices side by side, each transposed: expressions.

        Each of the 2**k squares is brought into registers of its own, then they are put together
        again.
        """
        count, w = len(regs), self._width
        if count * w != 64:
            raise AssertionError("squares fill half a register")
        half = count // 2
        pairs = [(regs[n], regs[n + half]) for n in range(half)]
        done = []
        for which in (1, 2):  # the left squares, then the right ones
            block = [self._let("z", self.text(which, a, b)) for a, b in pairs]
            for _ in range(count.bit_length() - 2):
                block = self.woven(block)
            done.append(block)
        out = []
        for a, b in zip(*done, strict=True):  # two columns each
            for part in ("low", "high"):
                x, y = (f"vget_{part}_u{w}({r})" for r in (a, b))
                out.append(f"vcombine_u{w}({x}, {y})")
        return out
