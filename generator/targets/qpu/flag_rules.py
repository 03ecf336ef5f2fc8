# SPDX-License-Identifier: BSD-2-Clause
"""Selection rules with flags, as rules.py says: comparisons, and what is done under a condition.

A difference beyond a limit is one of squares: a product, which the mul ALU makes, instead of an
absolute value.
"""

from daedalus.dsl.ir import Op
from daedalus.dsl.ranges import Interval
from daedalus.generator.targets.qpu.rules import INT, UINT, Case, Expression, Rule, Shape

_ROOT = (1 << 16) - 1  # what has a square of 32 bits, unsigned


def _under(name: str, on: Op, condition: Expression, of: tuple[Shape, ...]) -> Rule:
    """A sum with what is 0 where a condition does not hold: done where it holds."""
    made = ("if", condition, (str(on), "a", "b"), "a")
    return Rule(name, on, lambda c: True, lambda c: made, of)


def _have_squares(c: Case) -> bool:
    return c.inner.within(0, _ROOT) and c.c.within(0, _ROOT)


def _distance_squared(c: Case) -> Expression:
    return ("smul24", ("sub", "a", "b"), ("sub", "a", "b"))


def _limit_squared(c: Case) -> Expression:
    return ("smul24", "c", "c") if c.const is None else c.const * c.const


def _as_signed(x: Expression) -> Expression:
    """An unsigned value, no larger than signed ones get: comparisons with these stay."""
    return ("umin", x, INT[1])


FLAG_RULES: tuple[Rule, ...] = (
    _under("sum where", Op.ADD, "f", ("a", (Op.SELECT, "f", "b", 0))),
    _under("sum where not", Op.ADD, ("~", "f"), ("a", (Op.SELECT, "f", 0, "b"))),
    _under("sum where, before it", Op.ADD, "f", ((Op.SELECT, "f", "b", 0), "a")),
    _under("sum where not, before it", Op.ADD, ("~", "f"), ((Op.SELECT, "f", 0, "b"), "a")),
    _under("difference where", Op.SUB, "f", ("a", (Op.SELECT, "f", "b", 0))),
    _under("difference where not", Op.SUB, ("~", "f"), ("a", (Op.SELECT, "f", 0, "b"))),
    Rule(
        "selection", Op.SELECT, lambda c: True, lambda c: ("if", "f", ("mov", "a"), "b"),
        ("f", "a", "b"),
    ),
    Rule(
        "distance beyond a limit", Op.GT, _have_squares,
        lambda c: (
            "c", _distance_squared(c), ("sub", _limit_squared(c), _distance_squared(c)),
        ),
        ((Op.ABSDIFF, "a", "b"), "c"),
    ),
    Rule(
        "distance within a limit", Op.GT, _have_squares,
        lambda c: ("c", ("sub", _distance_squared(c), _limit_squared(c))),
        ("c", (Op.ABSDIFF, "a", "b")),
    ),
    Rule(
        "sign of a difference", Op.GT, lambda c: c.inner.within(*INT),
        lambda c: ("n", ("sub", "a", "b")), (0, (Op.SUB, "a", "b")), again=True,
    ),
    Rule(
        "greater of unsigned values", Op.GT, lambda c: (c.a | c.b).within(*UINT),
        lambda c: ("c", ("sub", "b", "a")),
    ),
    Rule(
        "greater, by the sign of a difference", Op.GT,
        lambda c: Interval(c.b.lo - c.a.hi, c.b.hi - c.a.lo).within(*INT),
        lambda c: ("n", ("sub", "b", "a")),
    ),
    Rule(
        "greater of signed values", Op.GT, lambda c: (c.a | c.b).within(*INT),
        lambda c: ("c", ("min", "a", "b")),
    ),
    Rule(
        "signed value greater than an unsigned one", Op.GT,
        lambda c: c.a.within(*INT) and c.b.within(*UINT),
        lambda c: ("c", _as_signed("b"), ("min", "a", _as_signed("b"))),
    ),
    Rule(
        "unsigned value greater than a signed one", Op.GT,
        lambda c: c.a.within(*UINT) and c.b.within(INT[0], INT[1] - 1),
        lambda c: ("c", _as_signed("a"), ("min", _as_signed("a"), "b")),
    ),
    Rule(
        "unsigned value greater than a signed one, by the carry", Op.GT,
        lambda c: c.a.within(1, UINT[1]) and c.b.within(*INT),
        lambda c: ("c", ("max", "b", 0), ("sub", ("max", "b", 0), "a")),
    ),
)  # fmt: skip
