# SPDX-License-Identifier: BSD-2-Clause
"""Makes of an executed trace what llvm-mca is to repeat.

The trace is a straight line already; what is mended here is what the model of the core, or that a
line is repeated, would else count wrong.  For ours and for hand-written functions alike.
"""

import re
from collections.abc import Callable
from functools import cache

from daedalus.generator.measure.neon.text import Line, arguments, mentioned

_MULTIPLIES = r"mul|mla|mls|sqr?dmulh|sqrdml[as]h"
_BY_ELEMENT = re.compile(rf"({_MULTIPLIES})\t(v\d+)\.(\w+), (v\d+)\.\w+, (v\d+)\.[hs]\[\d\]")
_STORE_QUAD = re.compile(r"(?:str|stur)\tq(\d+), \[(x\d+|sp)(?:, [^\]]+)?\](!|, #-?\d+)?")
_STORE_PAIR = re.compile(r"st(?:n?)p\tq(\d+), q(\d+), \[(x\d+|sp)(?:, [^\]]+)?\](!|, #-?\d+)?")


def _calls(text: str) -> list[str]:
    """A call within the trace is a branch: the model takes 100 cycles for what it does not see."""
    name, _, operands = text.partition("\t")
    return [{"bl": "b", "blr": "br"}.get(name, name) + "\t" + operands] if operands else [text]


def _by_element(text: str) -> list[str]:
    """Multiplications by a lane cost what those by a vector do; the model has no entry for them."""
    found = _BY_ELEMENT.fullmatch(text)
    if not found:
        return [text]
    name, to, lanes, left, right = found.groups()
    return [f"{name}\t{to}.{lanes}, {left}.{lanes}, {right}.{lanes}"]


def _stores(text: str) -> list[str]:
    """Stores of 128 bits cost what st1 of one does; the model has them at twice that."""
    if found := _STORE_QUAD.fullmatch(text):
        register, base, moves = found.groups()
        return [f"st1\t{{ v{register}.16b }}, [{base}]{', #16' if moves else ''}"]
    if found := _STORE_PAIR.fullmatch(text):
        first, second, base, moves = found.groups()
        return [
            f"st1\t{{ v{first}.16b }}, [{base}]",
            f"st1\t{{ v{second}.16b }}, [{base}]{', #16' if moves else ''}",
        ]
    return [text]


CORRECTIONS: tuple[Callable[[str], list[str]], ...] = (_calls, _by_element, _stores)


@cache
def _mended(line: str) -> tuple[str, ...]:
    lines = [line]
    for correction in CORRECTIONS:
        lines = [new for line in lines for new in correction(line)]
    return tuple(lines)


def corrected(trace: list[str]) -> list[str]:
    """The lines of one call, mended, its arguments set anew.

    Where a function moves its pointers along, one repetition would wait for the one before, which
    calls with arguments of their own do not.
    """
    lines = [new for line in trace for new in _mended(line)]
    read = [Line(text) for text in trace]
    free = next((n for n in range(28, 8, -1) if n not in mentioned(read)), None)
    source = "xzr" if free is None else f"x{free}"
    return [*(f"mov\tx{n}, {source}" for n in arguments(read)), *lines]
