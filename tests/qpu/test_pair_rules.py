# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of the QPU's rules for pairs: wherever a rule takes its operands, at whatever biases it
takes them, what it makes is the pair of the node's values, for all values of the ranges (SMT).

The node's meaning is ir.evaluate, run on terms of either half. Of vfmin and vfmax nothing is known
here but that of patterns of positive normal f16 they find the lesser and the greater one: of any
other they make anything.
"""

from collections.abc import Callable, Iterator
from itertools import count, product
from typing import Any

import numpy as np
import pytest
import z3
from test_qpu_rules import MEANINGS, WORK

from daedalus.dsl.ir import BITWISE, DTYPES, DType, Op, evaluate, i8, i16, u8, u16
from daedalus.dsl.ranges import Interval
from daedalus.generator.targets.qpu import semantics
from daedalus.generator.targets.qpu.pair_rules import (
    ANY,
    FIRST,
    HALF,
    LAST,
    RULES,
    SCALAR,
    Biases,
    Case,
    PairRule,
    elements,
    packed,
    pair_rule,
    spread,
    stored,
    whole,
)
from daedalus.generator.verify.proofs.symbolic import Number, number

Term = Any
_fresh = count()
ENDS = (-0x8000, -0x4000, -0x3C00, -300, -255, -127, 0, 1, 15, 126, 255, 0x3BFF, 0x77FF, 0xFFFF)
INTERVALS = [Interval(lo, hi) for lo in ENDS for hi in ENDS if lo <= hi]
AMOUNTS = [Interval(0, n) for n in (0, 6, 8, 15)]
FACTORS = [3, 4, 1, 2, 1 << 14, 5, -1, 300]
BIASES = (0, 1, 255, -300, 0x4000, 0x8000, 0x24000, -0x30000)


def _compared(lesser: bool) -> Callable[[Term, Term], Term]:
    """Halves as f16, where both are positive normal numbers."""

    def both(x: Term, y: Term) -> Term:
        out = []
        for high, low in ((31, 16), (15, 0)):
            a, b = z3.Extract(high, low, x), z3.Extract(high, low, y)
            known = z3.And(*(z3.And(z3.UGE(v, FIRST), z3.ULE(v, LAST)) for v in (a, b)))
            anything = z3.BitVec(f"anything{next(_fresh)}", 16)
            out.append(z3.If(known, z3.If(z3.ULT(a, b) == lesser, a, b), anything))
        return z3.Concat(*out)

    return both


MACHINE = MEANINGS | {"vfmin": _compared(True), "vfmax": _compared(False)}


def test_normal_patterns_are_compared_as_integers() -> None:
    """All of them, with their neighbours and the ends, as the machine's semantics have it."""
    found = np.arange(FIRST, LAST + 1, dtype=np.uint32)
    for other in (found, np.roll(found, 1), np.full_like(found, FIRST), np.full_like(found, LAST)):
        x = (found | (other << 16)).astype(np.uint32)
        y = (other | (found << 16)).astype(np.uint32)
        for name, want in (("vfmin", np.minimum), ("vfmax", np.maximum)):
            each = want(found, other)
            assert np.array_equal(semantics.BINARY[name](x, y), each | (each << 16)), name


def _term(made: Any, operands: dict[str, Term]) -> Iterator[Term]:
    """What an expression computes, by each of its forms."""
    if isinstance(made, int):
        yield z3.BitVecVal(made & 0xFFFFFFFF, 32)
    elif isinstance(made, str):
        yield operands[made]
    elif made[0] == "|":
        for form in made[1:]:
            yield from _term(form, operands)
    else:
        for parts in product(*(list(_term(x, operands)) for x in made[1:])):
            yield MACHINE[made[0]](*parts)


def _register(low: Number, high: Number, k: int) -> Term:
    each = [z3.Extract(31, 0, x.term) for x in (low, high)]
    return each[0] + k + HALF * (each[1] + k)


def _attributes(on: Op) -> list[tuple[Any, ...]]:
    match on:
        case Op.SHR | Op.RSHR:
            return [(n,) for n in (1, 4, 8, 14, 15, 16)]
        case Op.CLIP:
            return [(0, 255), (-128, 127), (0, 0x7000), (0, 0xFFFF)]
        case Op.WRAP:
            return [(t,) for t in DTYPES]
    return [()]


def _cases(one: PairRule) -> Iterator[Case]:
    on = one.on
    for attr in _attributes(on):
        for want in (None, 0x4000, 16):
            for a in INTERVALS:
                if on is Op.MUL:
                    for c in FACTORS:
                        yield Case(a, Interval(c, c), attr, c, True, want)
                    yield Case(a, Interval(-4, 4), attr, None, True, want)
                elif on in (Op.SHRV, Op.SHLV):
                    for b in AMOUNTS:
                        yield Case(a, b, attr, None, True, want)
                elif on in (Op.MIN, Op.MAX, Op.ADD, Op.SUB, Op.ABSDIFF, *BITWISE):
                    for b in INTERVALS[::15]:
                        yield Case(a, b, attr, None, False, want)
                else:
                    yield Case(a, a, attr, None, False, want)


def _ends(one: PairRule, c: Case) -> Iterator[tuple[int, ...]]:
    """Biases at which the rule takes its operands: the best and the outermost ones."""
    found = pair_rule(one.on, c)
    if found is None or found[0] is not one:
        return
    each: list[list[int]] = []
    for t in found[1]:
        if isinstance(t, Biases):
            last = t.hi - (t.hi - t.rest) % t.step
            assert t.best is not None
            each.append([k for k in dict.fromkeys((t.best, last)) if k in t])
        else:
            each.append([0] if t is SCALAR else list(BIASES))
    for k, first in enumerate(each[0]):
        together = len(each) > 1 and found[1][0] == found[1][1] and found[1][0] is not ANY
        yield (first, *(([first] if together else [x[k % len(x)]])[0] for x in each[1:]))


@pytest.mark.parametrize("one", RULES, ids=lambda r: r.name)
def test_rules_are_right(one: PairRule) -> None:
    proven = 0
    seen = set()
    for c in _cases(one):
        for biases in _ends(one, c):
            # A product of any two numbers is proven of few: the ranges decide nothing else.
            key = (c.attr, biases, c.const, str(one.makes(c, biases)), c.b.hi, _reach(c.a))
            if key in seen or (one.on in (Op.ADD, Op.SUB) and proven > 40):
                continue
            seen.add(key)
            assert _refuted(one, c, biases) is None, f"{one.name}: {c} at {biases}"
            proven += 1
    assert proven, f"{one.name} is taken nowhere"


def _reach(a: Interval) -> tuple[bool, int]:
    return a.lo < 0, a.hi.bit_length()


def _refuted(one: PairRule, c: Case, biases: tuple[int, ...]) -> Any:
    """Values for which the rule is wrong, if there are any."""
    a = number("a"), number("a of the other half")
    b = number("b"), number("b of the other half")
    known = [z3.And(x.term >= c.a.lo, x.term <= c.a.hi) for x in a]
    known += [z3.And(x.term >= c.b.lo, x.term <= c.b.hi) for x in b]
    shared = c.shared or c.const is not None
    second = (b[0], b[0]) if shared else b
    args: list[tuple[Any, ...]]
    args = [(x, y)[: 1 if _unary(one.on) else 2] for x, y in zip(a, second, strict=True)]
    if c.const is not None:
        args = [(x, c.const) for x in a]
    low, high = (evaluate(one.on, c.attr, x) for x in args)
    operands = {"a": _register(*a, biases[0])}
    if not _unary(one.on):
        scalar = c.const if c.const is not None else z3.Extract(31, 0, b[0].term)
        plain = z3.BitVecVal(scalar, 32) if isinstance(scalar, int) else scalar
        operands["b"] = plain if shared else _register(*b, biases[-1])
    want = _register(low, high, one.gives(c, biases))
    for term in _term(one.makes(c, biases), operands):
        found = _different(known, want, term)
        if found is not None:
            return found
    return None


def _different(known: list[Term], want: Term, got: Term) -> Any:
    """Values for which two terms differ, if there are any."""
    solver = z3.Solver()
    solver.set("rlimit", WORK)
    solver.add(*known, want != got)
    return None if solver.check() == z3.unsat else solver.reason_unknown() or solver.model()


def _counterexample(known: list[Term], want: Term, got: Term) -> bool:
    return isinstance(_different(known, want, got), z3.ModelRef)


def _unary(on: Op) -> bool:
    return on in (Op.SHR, Op.RSHR, Op.ABS, Op.CLIP, Op.WRAP, Op.ASSUME)


def _rule(name: str) -> PairRule:
    return next(r for r in RULES if r.name == name)


@pytest.mark.parametrize(
    ("name", "case", "biases"),
    [
        # Halves that are below the normal patterns, or of which one borrows of the other.
        ("lesser values", Case(Interval(0, 255), Interval(0, 255)), (0, 0)),
        ("shifts to the right", Case(Interval(-5, 255), Interval(0, 0), (4,)), (0,)),
        # A bias that the shift does not take wholly out of the mask.
        ("variable shifts", Case(Interval(0, 255), Interval(0, 6), shared=True), (0x400, 0)),
        ("magnitudes", Case(Interval(-255, 255), Interval(0, 0)), (0x480,)),
        ("low bytes", Case(Interval(-5, 255), Interval(0, 0), (u8,)), (5,)),
        # Halves of which the lower one borrows.
        ("or, bit by bit", Case(Interval(-1, 255), Interval(0, 255)), (0, 0)),
        ("and, bit by bit", Case(Interval(0, 255), Interval(0, 255)), (1, 1)),
        # More than the 24 bits that are multiplied.
        ("products of 24 bits",
         Case(Interval(0, 255), Interval(-4, 4), shared=True), (0, 0)),
    ],
)  # fmt: skip
def test_wrong_biases_are_refuted(name: str, case: Case, biases: tuple[int, ...]) -> None:
    assert isinstance(_refuted(_rule(name), case, biases), z3.ModelRef)


def test_what_no_rule_takes() -> None:
    """Comparisons of what is no normal f16, and bytes with signs."""
    wide, byte = Interval(0, 0x7800), Interval(0, 255)
    assert pair_rule(Op.MIN, Case(wide, byte)) is None
    assert pair_rule(Op.ABS, Case(Interval(-0x4000, 0), byte)) is None
    assert pair_rule(Op.WRAP, Case(byte, byte, (i8,))) is None
    assert pair_rule(Op.SHR, Case(byte, byte, (16,))) is None
    assert pair_rule(Op.BITOR, Case(Interval(-1, 255), byte)) is None
    assert whole(Interval(-1, 0xFFFF)).best is None


# ---------------------------------------------------------------------- words and values


def _elements(t: DType) -> tuple[list[Number], list[Term], Term]:
    """Elements of a type, that they are of it, and the word that they are in."""
    found = [number(f"e{n}") for n in range(32 // t.bits)]
    known = [z3.And(x.term >= t.lo, x.term <= t.hi) for x in found]
    return found, known, z3.Concat(*(z3.Extract(t.bits - 1, 0, x.term) for x in reversed(found)))


@pytest.mark.parametrize("t", [u8, i8, u16, i16], ids=str)
def test_elements_of_a_word_are_pairs(t: DType) -> None:
    x, known, word = _elements(t)
    for odd in (False, True) if t.bits == 8 else (False,):
        made, k = elements(t, odd=odd)
        want = _register(*(x[odd::2] if t.bits == 8 else x), k)
        for term in _term(made, {"a": word}):
            assert _different(known, want, term) is None, (t, odd)


@pytest.mark.parametrize("t", [u8, i8, u16, i16], ids=str)
def test_pairs_are_stored_at_any_bias(t: DType) -> None:
    x, known, word = _elements(t)
    for k, m in product((*BIASES, -i8.lo), repeat=2):
        if t.bits == 16:
            made, operands = stored(t, k), {"a": _register(x[0], x[1], k)}
        else:
            made = stored(t, k, m)
            operands = {"a": _register(x[0], x[2], k), "b": _register(x[1], x[3], m)}
        for term in _term(made, operands):
            assert _different(known, word, term) is None, (t, k, m)


def test_a_word_of_another_bias_is_refuted() -> None:
    x, known, word = _elements(i8)
    operands = {"a": _register(x[0], x[2], 1), "b": _register(x[1], x[3], 0)}
    terms = list(_term(stored(i8, 0), operands))
    assert len(terms) == 2
    assert all(_counterexample(known, word, t) for t in terms)


# With what 24 bits hold, and one more.
WIDE = [Interval(-(2**23), 2**23 - 1), Interval(-(2**23), 2**23), Interval(-(2**31), 2**31 - 1)]


@pytest.mark.parametrize("r", [*INTERVALS, *WIDE], ids=str)
def test_values_are_made_pairs(r: Interval) -> None:
    x, y = number("a"), number("b")
    operands = {name: z3.Extract(31, 0, n.term) for name, n in (("a", x), ("b", y))}
    known = [z3.And(n.term >= r.lo, n.term <= r.hi) for n in (x, y)]
    for want, made in ((_register(x, x, 0), spread(r)), (_register(x, y, 0), packed(r))):
        for term in _term(made, operands):
            assert _different(known, want, term) is None
