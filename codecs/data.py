# SPDX-License-Identifier: BSD-2-Clause
"""Reads the tables of this folder."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def data(name: str) -> dict[str, Any]:
    """The content of `name`, a TOML file of this folder."""
    return tomllib.loads(_text(name))


def line_in(name: str, header: str, number: int, key: str) -> int:
    """Where a key of the nth table with this header stands in `name`."""
    return line_of(_text(name), header, number, key)


def line_of(text: str, header: str, number: int = 0, key: str = "") -> int:
    """In a TOML file, of the nth table with this header, or of a key in it."""
    lines = text.splitlines()
    at = [n for n, line in enumerate(lines) if line.strip() == header] or [0]
    first = at[min(number, len(at) - 1)] if header else 0
    for n in range(first + bool(header), len(lines)):
        if header and lines[n].startswith("[") and not lines[n].startswith("[["):
            break
        if key and re.match(rf"{re.escape(key)}\s*=", lines[n]):
            return n + 1
    return first + 1


def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text()
