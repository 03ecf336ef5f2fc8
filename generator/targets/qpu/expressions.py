# SPDX-License-Identifier: BSD-2-Clause
"""Writes the expressions of rules (rules.py) as virtual instructions."""

from collections.abc import Callable

from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, Test
from daedalus.generator.targets.qpu.emitter import Emitter, Form
from daedalus.generator.targets.qpu.rules import Expression

Operands = Callable[[str], Argument]  # by name, asked for as the expression is gone through


def made(x: Expression, operands: Operands, e: Emitter) -> Argument:
    """An expression, computed."""
    if isinstance(x, int):
        return x
    if isinstance(x, str):
        return operands(x)
    if x[0] == "|":
        return e.either(*(_form(y, operands, e) for y in x[1:]))
    return e.either(_form(x, operands, e))


def operation(x: Expression, operands: Operands, e: Emitter) -> tuple[str, list[Argument]]:
    """An operation, with its operands computed, of which one at most is a number."""
    name, _, modifier = x[0].partition(".")
    sources = [made(y, operands, e) for y in x[1:]]
    if modifier:
        sources[0] = e.value(sources[0]).unpacked(modifier)
    if len(sources) == 2 and all(isinstance(s, int) for s in sources):
        sources[0] = e.value(sources[0])
    return name, sources


def _form(x: Expression, operands: Operands, e: Emitter) -> Form:
    name, sources = operation(x, operands, e)
    return (name, *sources)


def tested(x: Expression, operands: Operands, e: Emitter) -> Condition:
    """A bit of an operation, of operands that are computed."""
    bit, *parts, last = x
    for part in parts:
        made(part, operands, e)
    name, sources = operation(last, operands, e)
    return Condition(Test(name, tuple(sources), bit))
