# SPDX-License-Identifier: BSD-2-Clause
"""All of a kernel as text: what is made of two kernels that are described alike is the same."""

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import Kernel, Node

_LEFT_OUT = ("sampler",)  # draws items, and has no say in code
_IF_SAID = ("declared",)  # part of the text where there is one


def digest(kernel: Kernel, *, lines: bool = True) -> str:
    """The hash of the text, which the kernel keeps: all that is made of it asks for that."""
    kept: dict[bool, str] = vars(kernel).setdefault("_digests", {})
    if lines not in kept:
        kept[lines] = hashlib.sha256(described(kernel, lines=lines).encode()).hexdigest()
    return kept[lines]


def described(kernel: Kernel, *, lines: bool = True) -> str:
    """The text; `lines`: with places in the kernel's spec."""
    numbers: dict[Node, int] = {}
    out: list[str] = []

    def text(x: Any) -> str:
        if isinstance(x, Node):
            return f"#{numbers[x]}"
        if isinstance(x, Loc):
            return str(x) if lines else ""
        if is_dataclass(x) and not isinstance(x, type):
            said = [f.name for f in fields(x) if f.name not in _LEFT_OUT]
            said = [n for n in said if n not in _IF_SAID or getattr(x, n) is not None]
            inside = (text(getattr(x, n)) for n in said)
            return f"{type(x).__name__}({', '.join(inside)})"
        if isinstance(x, tuple | list):
            return f"({', '.join(map(text, x))})"
        return repr(x)

    for stage in kernel.stages:
        for node in stage.nodes():
            if node not in numbers:
                inside = [text(getattr(node, f.name)) for f in fields(node) if f.name != "seq"]
                numbers[node] = len(numbers)
                out.append(f"#{numbers[node]} {' '.join(inside)}")
    return "\n".join([*out, text(kernel)])
