# SPDX-License-Identifier: BSD-2-Clause
"""Rules for two values in one register, as data: what a node becomes of two lanes at once.

A pair stands for values v of the low and w of the high half with one **bias** k: its register is
congruent to (v + k) + 2**16 * (w + k) modulo 2**32. Sums, differences and products of registers are
those of the pairs then, whatever the halves borrow of each other, on both ALUs. Where v + k and
w + k lie in [0, 2**16) (by ranges), they are what the halves hold: only then may these be taken
apart, by masks and shifts, or be compared, as f16. As f16 they are compared where they lie in
[FIRST, LAST] alone: patterns of normal numbers, positive, whose order is that of integers. So no
denormal, infinity or NaN is met.

A rule says: node operation `on`, of operands at the biases that `takes` allows, is `makes` at the
bias that `gives`. Of a node's rules the first that takes its case is taken. An expression is as in
rules.py: "a" and "b" are the registers of the operands, ints are words of 32 bits.

How pairs come from words and values, and become words again, stands at the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from daedalus.dsl.ir import DType, Op, i8, i16, u8, u16
from daedalus.dsl.ranges import Interval
from daedalus.generator.targets.qpu.rules import Expression, amount

HALF = 1 << 16
EACH = HALF + 1  # times a number: that number in both halves
FIRST, LAST = 0x0400, 0x7BFF  # patterns of positive normal f16
MIDDLE = 0x4000  # the bias that most take: differences of bytes are far from both ends


def both(n: int) -> int:
    """A number in both halves, as a word."""
    return n * EACH & 0xFFFFFFFF


@dataclass(frozen=True)
class Biases:
    """Those from lo to hi that are `rest` modulo `step`; `first` if it is one of them is best."""

    lo: int
    hi: int
    step: int = 1
    rest: int = 0
    first: int | None = None

    def __contains__(self, k: int) -> bool:
        return self.lo <= k <= self.hi and k % self.step == self.rest

    @property
    def best(self) -> int | None:
        """One of them; None where there is none."""
        if self.first is not None and self.first in self:
            return self.first
        k = self.lo + (self.rest - self.lo) % self.step
        return k if k in self else None


class Free:
    """How an operand may be taken besides."""


ANY = Free()  # a pair at whatever bias it has
SCALAR = Free()  # one value of both halves, not in pairs
ZERO = Biases(0, 0)
Taken = Biases | Free


@dataclass(frozen=True)
class Case:
    """What a rule may ask.

    a, b    ranges of the operands, of both halves
    const   the second operand where it is a constant
    shared  whether it is one and the same value in both halves
    want    the bias that the result is wanted at, if any
    """

    a: Interval
    b: Interval
    attr: tuple[Any, ...] = ()
    const: int | None = None
    shared: bool = False
    want: int | None = None


@dataclass(frozen=True)
class PairRule:
    """`takes`: how each operand is taken; None: the rule does not hold. Operands with the same
    Biases are taken at the same bias."""

    name: str
    on: Op
    takes: Callable[[Case], tuple[Taken, ...] | None]
    makes: Callable[[Case, tuple[int, ...]], Expression]
    gives: Callable[[Case, tuple[int, ...]], int]


def whole(r: Interval, step: int = 1, rest: int = 0, first: int | None = None) -> Biases:
    """Biases at which halves hold values of a range."""
    return Biases(-r.lo, HALF - 1 - r.hi, step, rest, first)


def normal(r: Interval, want: int | None = None) -> Biases:
    """Biases at which halves are normal f16."""
    found = Biases(FIRST - r.lo, LAST - r.hi, first=want)
    return found if want is not None and want in found else Biases(found.lo, found.hi, first=MIDDLE)


def _narrow(r: Interval) -> bool:
    """Whether a register at bias 0 is a signed number of 24 bits."""
    return r.within(-(2**23) // EACH + 1, (2**23 - 1) // EACH)


def _same(*x: Taken) -> tuple[Taken, ...] | None:
    """These, if there is a bias of each."""
    return x if all(not isinstance(t, Biases) or t.best is not None for t in x) else None


def _power(c: Case) -> bool:
    return c.const is not None and c.const > 0 and c.const & (c.const - 1) == 0


def _doubled(c: Case) -> Expression:
    assert c.const is not None
    n = c.const.bit_length() - 1
    return ("|", ("add", "a", "a"), ("shl", "a", 1)) if n == 1 else ("shl", "a", amount(n))


def _limited(on: str) -> Callable[[Case, tuple[int, ...]], Expression]:
    return lambda c, k: (on, "a", "b")


def _compared(c: Case) -> tuple[Taken, ...] | None:
    found = normal(c.a | c.b, c.want)
    return _same(found, found)


def _mirrored(r: Interval) -> Interval:
    most = max(abs(r.lo), abs(r.hi))
    return Interval(-most, most)


def _amounts(c: Case) -> int | None:
    """Bits that hold what a variable shift is of, where halves do not reach each other's."""
    bits = c.a.hi.bit_length()
    fits = c.shared and c.a.lo >= 0 and c.b.within(0, 15) and bits + c.b.hi <= 16
    return bits if fits else None


def _moved_by(c: Case) -> tuple[Taken, ...] | None:
    bits = _amounts(c)
    if bits is None:
        return None
    return _same(whole(c.a, 1 << (bits + c.b.hi)), SCALAR)


def _bits(c: Case) -> tuple[Taken, ...] | None:
    """Of halves that hold the values themselves."""
    return (ZERO, ZERO) if (c.a | c.b).within(0, HALF - 1) else None


def _clip(c: Case, k: tuple[int, ...]) -> Expression:
    lo, hi = c.attr
    x: Expression = "a"
    if c.a.lo < lo:
        x = ("vfmax", x, both(lo + k[0]))
    if c.a.hi > hi:
        x = ("vfmin", x, both(hi + k[0]))
    return x


def _clipped(c: Case) -> tuple[Taken, ...] | None:
    lo, hi = c.attr
    if c.a.within(lo, hi):
        return (ANY,)
    limits = ([lo] if c.a.lo < lo else []) + ([hi] if c.a.hi > hi else [])
    reach = c.a | Interval(min(limits), max(limits))
    return _same(normal(reach, c.want))


def _up(c: Case, n: int) -> int | None:
    """The bias before a shift to the right that leads to the wanted one."""
    return None if c.want is None else c.want << n


RULES: tuple[PairRule, ...] = (
    PairRule(
        "sums", Op.ADD, lambda c: (ANY, ANY), lambda c, k: ("add", "a", "b"),
        lambda c, k: k[0] + k[1],
    ),
    PairRule(
        "differences", Op.SUB, lambda c: (ANY, ANY), lambda c, k: ("sub", "a", "b"),
        lambda c, k: k[0] - k[1],
    ),
    PairRule(
        "powers of two", Op.MUL, lambda c: (ANY,) if _power(c) else None,
        lambda c, k: _doubled(c), lambda c, k: k[0] * (c.const or 0),
    ),
    PairRule(
        "products of 24 bits", Op.MUL,
        lambda c: (ZERO, SCALAR) if c.shared and _narrow(c.a) and c.b.within(-(2**23), 2**23 - 1)
        else None,
        lambda c, k: ("smul24", "a", "b"), lambda c, k: 0,
    ),
    PairRule(
        "triples", Op.MUL, lambda c: (ANY,) if c.const == 3 else None,
        lambda c, k: ("add", ("add", "a", "a"), "a"), lambda c, k: 3 * k[0],
    ),
    PairRule(
        "shifts to the right", Op.SHR,
        lambda c: _same(whole(c.a, 1 << c.attr[0], 0, _up(c, c.attr[0])))
        if c.attr[0] < 16 else None,
        lambda c, k: ("and", ("shr", "a", amount(c.attr[0])), both(0xFFFF >> c.attr[0])),
        lambda c, k: k[0] >> c.attr[0],
    ),
    PairRule(
        "rounding shifts", Op.RSHR,
        lambda c: _same(whole(c.a, 1 << c.attr[0], 1 << (c.attr[0] - 1)))
        if c.attr[0] < 16 else None,
        lambda c, k: ("and", ("shr", "a", amount(c.attr[0])), both(0xFFFF >> c.attr[0])),
        lambda c, k: k[0] >> c.attr[0],
    ),
    PairRule(
        "variable shifts", Op.SHRV, _moved_by,
        lambda c, k: ("and", ("shr", "a", "b"), both((1 << (_amounts(c) or 0)) - 1)),
        lambda c, k: 0,
    ),
    PairRule(
        "variable shifts to the left", Op.SHLV,
        lambda c: (ZERO, SCALAR) if c.shared and c.b.within(0, 31) else None,
        lambda c, k: ("shl", "a", "b"), lambda c, k: 0,
    ),
    PairRule(
        "and, bit by bit", Op.BITAND, _bits, lambda c, k: ("and", "a", "b"), lambda c, k: 0,
    ),
    PairRule("or, bit by bit", Op.BITOR, _bits, lambda c, k: ("or", "a", "b"), lambda c, k: 0),
    PairRule("xor, bit by bit", Op.BITXOR, _bits, lambda c, k: ("xor", "a", "b"), lambda c, k: 0),
    PairRule("lesser values", Op.MIN, _compared, _limited("vfmin"), lambda c, k: k[0]),
    PairRule("greater values", Op.MAX, _compared, _limited("vfmax"), lambda c, k: k[0]),
    PairRule(
        "values without sign", Op.ABS, lambda c: (ANY,) if c.a.lo >= 0 else None,
        lambda c, k: "a", lambda c, k: k[0],
    ),
    PairRule(
        "magnitudes", Op.ABS, lambda c: _same(normal(_mirrored(c.a), c.want)),
        lambda c, k: ("vfmax", "a", ("sub", both(2 * k[0]), "a")), lambda c, k: k[0],
    ),
    PairRule(
        "distances", Op.ABSDIFF, _compared,
        lambda c, k: ("sub", ("vfmax", "a", "b"), ("vfmin", "a", "b")), lambda c, k: 0,
    ),
    PairRule("limits", Op.CLIP, _clipped, _clip, lambda c, k: k[0]),
    PairRule(
        "members of a type", Op.WRAP,
        lambda c: (ANY,) if c.a.within(c.attr[0].lo, c.attr[0].hi) else None,
        lambda c, k: "a", lambda c, k: k[0],
    ),
    PairRule(
        "low bytes", Op.WRAP,
        lambda c: _same(whole(c.a, 256)) if c.attr[0] == u8 else None,
        lambda c, k: ("and", "a", both(255)), lambda c, k: 0,
    ),
    PairRule("what is assumed", Op.ASSUME, lambda c: (ANY,), lambda c, k: "a", lambda c, k: k[0]),
)  # fmt: skip


def pair_rule(on: Op, c: Case) -> tuple[PairRule, tuple[Taken, ...]] | None:
    """The rule for an operation and how it takes the operands; None where none holds."""
    for one in RULES:
        if one.on is on:
            taken = one.takes(c)
            if taken is not None:
                return one, taken
    return None


# ---------------------------------------------------------------------- words and values

_BYTES = 0x00FF00FF
_SIGN = {u8: 0, u16: 0, i8: -i8.lo, i16: -i16.lo}  # what makes elements of a type start at 0


def _signs(t: DType) -> int:
    """The sign bits of a word of elements: flipping them adds `_SIGN` to each, within its width."""
    return both(_SIGN[t] * (1 if t.bits == 16 else 1 + 256))


def _flipped(x: Expression, t: DType) -> Expression:
    return ("xor", x, _signs(t)) if _SIGN[t] else x


def elements(t: DType, *, odd: bool = False) -> tuple[Expression, int]:
    """The pair of elements of the word "a", and its bias: of 16 bits both, of four bytes the first
    and the third, or the second and the fourth."""
    word = _flipped("a", t)
    if t.bits == 16:
        return word, _SIGN[t]
    even = ("and", word, _BYTES)
    return (("shr", ("sub", word, even), 8) if odd else even), _SIGN[t]


def spread(r: Interval) -> Expression:
    """The pair, at bias 0, of the value "a" of a range and itself."""
    if r.within(-(2**23), 2**23 - 1):
        return ("smul24", "a", EACH)
    return ("add", "a", ("shl", "a", amount(16)))


def packed(r: Interval) -> Expression:
    """The pair, at bias 0, of the values "a" and "b" of a range."""
    return ("vpack", "a", "b") if r.within(0, HALF - 1) else ("add", "a", ("shl", "b", amount(16)))


def stored(t: DType, k: int, m: int = 0) -> Expression:
    """The word of elements of pairs: of 16 bits those of "a" at bias k; of bytes the first and the
    third of "a", the second and the fourth of "b" at bias m."""
    # Elements with a sign are made without, where none borrows of the next.
    if t.bits == 16:
        word: Expression = "a"
        by = _SIGN[t] - k
    else:
        word = ("add", "a", ("|", ("shl", "b", 8), ("umul24", "b", 256)))
        by = _SIGN[t] - k + 256 * (_SIGN[t] - m)
    return _flipped(word if both(by) == 0 else ("add", word, both(by)), t)
