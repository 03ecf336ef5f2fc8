# SPDX-License-Identifier: BSD-2-Clause
"""Reads the tables of this folder."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def data(name: str) -> dict[str, Any]:
    """The content of `name`, a TOML file of this folder."""
    return tomllib.loads((Path(__file__).parent / name).read_text())
