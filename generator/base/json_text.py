# SPDX-License-Identifier: BSD-2-Clause
"""JSON for people and for version control: what is short stands on one line."""

import json
from typing import Any

_SHORT = 500  # characters of a line


def json_text(data: Any) -> str:
    """The data as JSON: an object or a list on one line if that is short, else a line a member."""
    return f"{_text(data, 0)}\n"


def _text(data: Any, depth: int) -> str:
    line = json.dumps(data)
    if len(line) + depth <= _SHORT or not data or not isinstance(data, dict | list):
        return line
    inner = " " * (depth + 1)
    if isinstance(data, dict):
        members = [f"{json.dumps(k)}: {_text(v, depth + 1)}" for k, v in data.items()]
    else:
        members = [_text(v, depth + 1) for v in data]
    begin, end = ("{", "}") if isinstance(data, dict) else ("[", "]")
    body = ",\n".join(inner + m for m in members)
    return f"{begin}\n{body}\n{' ' * depth}{end}"
