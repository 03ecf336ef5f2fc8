# SPDX-License-Identifier: BSD-2-Clause
"""Plain tables: aligned, never folded, fit for a terminal and for a pipe."""

from collections.abc import Sequence


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints rows below headings; columns of numbers are aligned right."""
    for line in table_lines(headings, rows):
        print(line)


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a table, headings first; columns of numbers are aligned right."""
    cells = [[str(c) for c in row] for row in rows]
    right = [
        bool(rows) and all(isinstance(r[i], int | float) for r in rows)
        for i in range(len(headings))
    ]
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    lines = []
    for line in (list(headings), *cells):
        padded = (
            c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    return lines
