# SPDX-License-Identifier: BSD-2-Clause
"""Lines of an initialiser in C, in little text: a library has millions of numbers."""

from collections.abc import Iterable

_WIDTH = 96  # of a line


def decimal(words: Iterable[int]) -> list[str]:
    """In decimal."""
    return lines(map(str, words))


def lines(elements: Iterable[str]) -> list[str]:
    """As many elements a line as there is room for."""
    found, line = [], ""
    for element in elements:
        if len(line) + len(element) >= _WIDTH:
            found.append(line)
            line = ""
        line += f"{element},"
    return [*found, line] if line else found
