# SPDX-License-Identifier: BSD-2-Clause
"""Selection rules as data: what a node becomes, and when that is right.

A rule says: node operation `on` of operands `of`, where `when` holds of their ranges and its
numbers, is `makes`. Operands are names of values, numbers, or operations themselves: (Op, x, ..).
`makes` is an expression:
  "a", "b", "c"   operands by name, congruent to their values modulo 2**32
  an int          itself
  (op, x, ..)     an operation of the machine on expressions; "op.ul" reads its first operand, which
                  is a name, with that modifier
  ("|", x, y)     x or y, which compute the same whatever the operands are: the scheduler takes
                  whichever fits. Each is one operation on names and ints.
  "f"             an operand that is a condition
  ("z", (op, ..)) a condition: a bit of an operation's result, z (it is 0), n (bit 31) or c (see
                  semantics.carry); parts of the operation that stand before it are computed first
  ("~", x)        the inverse of a condition
  ("if", x, (op, y, ..), z)   the operation where the condition x holds, else z
Of a node's rules the first whose condition holds is taken. Values lie in 32 bits: of a node whose
range fits them as a signed or as an unsigned number the result is the value modulo 2**32.

Here stands arithmetic; flag_rules.py has what needs flags, field_rules.py elements of words,
dot_rules.py sums of bytes.
"""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import Any

from daedalus.dsl.ir import Node, Op
from daedalus.dsl.ranges import Interval

Expression = Any  # str | int | tuple, as above
Shape = Any  # str | int | tuple
INT = (-(2**31), 2**31 - 1)
UINT = (0, 2**32 - 1)
_NONE = Interval(0, 0)


@dataclass(frozen=True)
class Case:
    """What a rule may ask: ranges of the operands, the attribute, and constants among them.

    a, b, c  what conformant items reach
    const    the value of the last operand where it is a constant
    kept     whether the limits of a CLIP must hold for any item, since it decides a place
    inner    what the operand reaches that is an operation itself
    """

    a: Interval
    b: Interval
    attr: tuple[Any, ...] = ()
    const: int | None = None
    kept: bool = False
    c: Interval = _NONE
    inner: Interval = _NONE


@dataclass(frozen=True)
class Rule:
    """`again`: also where the operand that is an operation is there already, and is done again."""

    name: str
    on: Op
    when: Callable[[Case], bool]
    makes: Callable[[Case], Expression]
    of: tuple[Shape, ...] = ("a", "b")
    again: bool = False


def amount(n: int) -> int:
    """The amount of a shift as a number that an instruction can hold: only 5 bits count."""
    return n if n < 16 else n - 32


def _always(c: Case) -> bool:
    return True


def _signed24(*x: Interval) -> bool:
    return all(r.within(-(2**23), 2**23 - 1) for r in x)


def _unsigned24(*x: Interval) -> bool:
    return all(r.within(0, 2**24 - 1) for r in x)


def _int(*x: Interval) -> bool:
    return all(r.within(*INT) for r in x)


def _uint(*x: Interval) -> bool:
    return all(r.within(*UINT) for r in x)


def _power(c: Case) -> bool:
    return c.const is not None and c.const > 0 and c.const & (c.const - 1) == 0


def _shifted_up(c: Case) -> Expression:
    """A multiplication by a power of two."""
    assert c.const is not None
    n = c.const.bit_length() - 1
    shl = ("shl", "a", amount(n))
    if n == 1:
        return ("|", ("add", "a", "a"), shl)
    return shl


def _wide(c: Case) -> Expression:
    """A product modulo 2**32 of what 24 bits do not hold, by halves of 16."""
    low = ("umul24", ("mov.ul", "a"), ("mov.ul", "b"))
    cross = ("add", ("umul24", ("mov.uh", "a"), ("mov.ul", "b")),
             ("umul24", ("mov.ul", "a"), ("mov.uh", "b")))  # fmt: skip
    return ("add", low, ("shl", cross, -16))


def _right(x: Expression, n: int, signed: bool) -> Expression:
    """A shift to the right of an expression."""
    if n == 16 and isinstance(x, str):
        return ("mov.ih" if signed else "mov.uh", x)
    return ("asr" if signed else "shr", x, amount(n))


def _half(c: Case) -> int:
    return 1 << (int(c.attr[0]) - 1)


def _limits(c: Case) -> Expression:
    """A CLIP of a signed value."""
    lo, hi = max(c.attr[0], INT[0]), min(c.attr[1], INT[1])
    x: Expression = "a"
    if c.kept or c.a.lo < lo:
        x = ("max", x, lo)
    if c.kept or c.a.hi > hi:
        x = ("min", x, hi)
    return x


def _wrapped(c: Case) -> Expression:
    t = c.attr[0]
    if t.bits == 32:
        return "a"
    if t.bits == 16:
        return ("mov.il" if t.signed else "mov.ul", "a")
    if not t.signed:
        return ("and", "a", (1 << t.bits) - 1)
    by = amount(32 - t.bits)
    return ("asr", ("shl", "a", by), by)


def _of_two_signs(
    name: str, on: Op, makes: Callable[[Expression, Expression], Expression]
) -> tuple[Rule, Rule]:  # fmt: skip
    """Rules for a value that fits unsigned numbers and one that fits signed ones."""
    return (
        Rule(f"{name} of two signs", on, lambda c: _uint(c.a) and _int(c.b),
             lambda c: makes("a", "b")),
        Rule(f"{name} of two signs, the other way", on, lambda c: _int(c.a) and _uint(c.b),
             lambda c: makes("b", "a")),
    )  # fmt: skip


RULES: tuple[Rule, ...] = (
    Rule("add", Op.ADD, _always, lambda c: ("add", "a", "b")),
    Rule("sub", Op.SUB, _always, lambda c: ("sub", "a", "b")),
    Rule("power of two", Op.MUL, _power, _shifted_up),
    Rule(
        "product of signed 24 bits", Op.MUL, lambda c: _signed24(c.a, c.b),
        lambda c: ("smul24", "a", "b"),
    ),
    Rule(
        "product of unsigned 24 bits", Op.MUL, lambda c: _unsigned24(c.a, c.b),
        lambda c: ("umul24", "a", "b"),
    ),
    Rule("product by halves", Op.MUL, _always, _wide),
    Rule(
        "shift of a signed value", Op.SHR, lambda c: _int(c.a),
        lambda c: _right("a", c.attr[0], True),
    ),
    Rule(
        "shift of an unsigned value", Op.SHR, lambda c: _uint(c.a),
        lambda c: _right("a", c.attr[0], False),
    ),
    Rule(
        "rounding shift of a signed value", Op.RSHR,
        lambda c: _int(c.a) and c.a.hi + _half(c) <= INT[1],
        lambda c: _right(("add", "a", _half(c)), c.attr[0], True),
    ),
    Rule(
        "rounding shift of an unsigned value", Op.RSHR,
        lambda c: _uint(c.a) and c.a.hi + _half(c) <= UINT[1],
        lambda c: _right(("add", "a", _half(c)), c.attr[0], False),
    ),
    Rule(
        "rounding shift that may overflow", Op.RSHR, lambda c: _int(c.a),
        lambda c: (
            "add", _right("a", c.attr[0], True),
            ("and", _right("a", c.attr[0] - 1, True) if c.attr[0] > 1 else "a", 1),
        ),
    ),
    Rule(
        "rounding shift that may overflow, unsigned", Op.RSHR, lambda c: _uint(c.a),
        lambda c: (
            "add", _right("a", c.attr[0], False),
            ("and", _right("a", c.attr[0] - 1, False) if c.attr[0] > 1 else "a", 1),
        ),
    ),
    Rule(
        "variable shift", Op.SHRV, lambda c: _int(c.a) and c.b.within(0, 31),
        lambda c: ("asr", "a", "b"),
    ),
    Rule(
        "variable shift, unsigned", Op.SHRV, lambda c: _uint(c.a) and c.b.within(0, 31),
        lambda c: ("shr", "a", "b"),
    ),
    Rule(
        "variable shift of a signed value by any amount", Op.SHRV,
        lambda c: _int(c.a, c.b), lambda c: ("asr", "a", ("min", ("max", "b", 0), -1 & 31)),
    ),
    Rule(
        "variable shift of an unsigned value by any amount", Op.SHRV,
        lambda c: _uint(c.a) and _int(c.b),
        lambda c: ("shr", "a", ("min", ("max", "b", 0), 31)),
    ),
    Rule(
        "variable shift to the left", Op.SHLV, lambda c: c.b.within(0, 31) and not c.kept,
        lambda c: ("shl", "a", "b"),
    ),
    Rule(
        "variable shift to the left that decides a place", Op.SHLV, lambda c: _int(c.b),
        lambda c: ("shl", "a", ("min", ("max", "b", 0), 31)),
    ),
    Rule("and, bit by bit", Op.BITAND, _always, lambda c: ("and", "a", "b")),
    Rule("or, bit by bit", Op.BITOR, _always, lambda c: ("or", "a", "b")),
    Rule("xor, bit by bit", Op.BITXOR, _always, lambda c: ("xor", "a", "b")),
    Rule("min", Op.MIN, lambda c: _int(c.a, c.b), lambda c: ("min", "a", "b")),
    Rule("max", Op.MAX, lambda c: _int(c.a, c.b), lambda c: ("max", "a", "b")),
    Rule("unsigned min", Op.MIN, lambda c: _uint(c.a, c.b), lambda c: ("umin", "a", "b")),
    Rule("unsigned max", Op.MAX, lambda c: _uint(c.a, c.b), lambda c: ("umax", "a", "b")),
    *_of_two_signs("min", Op.MIN, lambda u, s: ("min", ("umin", u, INT[1]), s)),
    *_of_two_signs("max", Op.MAX, lambda u, s: ("umax", u, ("max", s, 0))),
    Rule("abs", Op.ABS, lambda c: _int(c.a), lambda c: ("max", "a", ("sub", 0, "a"))),
    Rule("abs of an unsigned value", Op.ABS, lambda c: _uint(c.a), lambda c: "a"),
    Rule(
        "absolute difference by two differences", Op.ABSDIFF,
        lambda c: _int(c.a, c.b, Interval(c.a.lo - c.b.hi, c.a.hi - c.b.lo)) and
        c.a.lo - c.b.hi > INT[0],
        lambda c: ("max", ("sub", "a", "b"), ("sub", "b", "a")),
    ),
    Rule(
        "absolute difference", Op.ABSDIFF, lambda c: _int(c.a, c.b),
        lambda c: ("sub", ("max", "a", "b"), ("min", "a", "b")),
    ),
    Rule(
        "absolute difference of unsigned values", Op.ABSDIFF, lambda c: _uint(c.a, c.b),
        lambda c: ("sub", ("umax", "a", "b"), ("umin", "a", "b")),
    ),
    Rule("clip", Op.CLIP, lambda c: _int(c.a), _limits),
    Rule(
        "clip of an unsigned value", Op.CLIP, lambda c: _uint(c.a),
        lambda c: ("umin", ("umax", "a", max(c.attr[0], 0)), max(c.attr[1], 0)),
    ),
    Rule("wrap", Op.WRAP, _always, _wrapped),
)  # fmt: skip


def rule(on: Op, c: Case) -> Rule | None:
    """The rule for an operation, None where none holds."""
    return next((r for r in RULES if r.on is on and r.when(c)), None)


def operands(one: Rule, n: Node, known: Container[Node]) -> dict[str, Node] | None:
    """The operands of a node by the names that a rule gives them, and as `inner` that which is an
    operation itself; None where it is not of such operands. What is known needs no other way."""
    found: dict[str, Node] = {}
    return found if _named(one, one.of, n.args, known, found) else None


def _named(
    one: Rule, of: Iterable[Shape], args: Iterable[Node], known: Container[Node],
    found: dict[str, Node],
) -> bool:  # fmt: skip
    for shape, x in zip(of, args, strict=False):
        if isinstance(shape, str):
            found[shape] = x
        elif isinstance(shape, int):
            if x.op is not Op.CONST or x.value != shape:
                return False
        else:
            if x.op is not shape[0] or (x in known and not one.again):
                return False
            found["inner"] = x
            if not _named(one, shape[1:], x.args, known, found):
                return False
    return True
