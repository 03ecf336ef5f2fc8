# SPDX-License-Identifier: BSD-2-Clause
"""Rules of elements of words, as data: how one is taken out, and how they are put together.

Expressions are as in rules.py. To be taken out: "a" is the word, "b" the bit where that is a value.
To be put together: "a" to "d" are the elements in order, of each of which the low bits count. Of
the rules of a table the first whose condition holds is taken.
"""

from collections.abc import Callable
from dataclasses import dataclass

from daedalus.dsl.ir import DType
from daedalus.generator.targets.qpu.rules import Expression, amount


@dataclass(frozen=True)
class Field:
    """An element of a word.

    type  its type
    bit   where it begins, a multiple of its size; None: known at run time
    most  the largest value, of an unsigned byte
    mode  whether v8dot takes its operands so; asked last, as who asks first decides
    """

    type: DType
    bit: int | None
    most: int
    mode: Callable[[str], bool]

    @property
    def at(self) -> int:
        assert self.bit is not None
        return self.bit


@dataclass(frozen=True)
class FieldRule:
    name: str
    when: Callable[[Field], bool]
    makes: Callable[[Field], Expression]


@dataclass(frozen=True)
class PackRule:
    """So many elements of so many bits: element k from bit k * `step` on, once all are there."""

    name: str
    count: int
    bits: int
    step: int
    makes: Expression


def _down(f: Field, x: Expression) -> Expression:
    """A field that ends a word, alone."""
    return ("asr" if f.type.signed else "shr", x, amount(32 - f.type.bits))


def _half(f: Field) -> Expression:
    return ("mov." + ("i" if f.type.signed else "u") + ("h" if f.bit else "l"), "a")


def _picked(f: Field) -> Expression:
    """A byte times one, the others times 0."""
    return ("v8dot", "a", 1 << f.at)


def _picks(f: Field) -> bool:
    """Whether v8dot takes bytes as unsigned, or these are the same with a sign."""
    return f.mode("uu") or f.most <= 127


FIELDS: tuple[FieldRule, ...] = (
    FieldRule(
        "element at a place known at run time", lambda f: f.bit is None,
        lambda f: _down(f, ("shl", "a", ("sub", ("mov", 32 - f.type.bits), "b"))),
    ),
    FieldRule("word", lambda f: f.type.bits == 32, lambda f: "a"),
    FieldRule("half", lambda f: f.type.bits == 16, _half),
    FieldRule(
        "highest byte, by either ALU", lambda f: f.bit == 24 and not f.type.signed and f.mode("uu"),
        lambda f: ("|", _down(f, "a"), _picked(f)),
    ),
    FieldRule("highest byte", lambda f: f.bit == 24, lambda f: _down(f, "a")),
    FieldRule(
        "signed byte", lambda f: f.type.signed,
        lambda f: _down(f, ("shl", "a", amount(24 - f.at))),
    ),
    FieldRule(
        "lowest byte, by either ALU", lambda f: f.bit == 0 and _picks(f),
        lambda f: ("|", ("and", "a", 255), _picked(f)),
    ),
    FieldRule("byte, by the mul ALU", _picks, _picked),
    FieldRule("lowest byte", lambda f: f.bit == 0, lambda f: ("and", "a", 255)),
    FieldRule("byte", lambda f: True, lambda f: ("and", ("shr", "a", f.at), 255)),
)  # fmt: skip

PACKS: tuple[PackRule, ...] = (
    PackRule("word", 1, 32, 32, "a"),
    PackRule("halves", 2, 16, 16, ("vpack", "a", "b")),
    PackRule("bytes, of which two more are to come", 2, 8, 16, ("vpack", "a", "b")),
    PackRule("bytes", 4, 8, 8, ("v8pack", ("vpack", "a", "b"), ("vpack", "c", "d"))),
)


def field_rule(f: Field) -> FieldRule:
    return next(r for r in FIELDS if r.when(f))


def pack_rule(count: int, bits: int) -> PackRule:
    return next(r for r in PACKS if (r.count, r.bits) == (count, bits))
