# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of the QPU's selection rules with flags (SMT): wherever a rule's condition holds, its flag
is the comparison, and what it does under a condition is the node's value, modulo 2**32.

Conditions shrink with the ranges: proven are the widest intervals that a rule's condition allows.
Squares are proven in steps, as products of terms are hard, and computed for every distance.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
import z3
from test_qpu_rules import ENDS, WORK, Term, terms_of, within

from daedalus.dsl.ir import Op, evaluate
from daedalus.dsl.ranges import Interval
from daedalus.generator.targets.qpu import semantics
from daedalus.generator.targets.qpu.conditions import JOINS
from daedalus.generator.targets.qpu.flag_rules import FLAG_RULES
from daedalus.generator.targets.qpu.interpret import joined
from daedalus.generator.targets.qpu.rules import Case, Rule
from daedalus.generator.verify.proofs.symbolic import Number, Truth, number, truth

CARRIES: dict[str, Callable[..., Term]] = {
    "sub": lambda x, y: z3.ULT(x, y),
    "min": lambda x, y: x > y,
}
NEAR = sorted({*ENDS, -1, 1})  # with what makes a difference one too large
INTERVALS = [Interval(lo, hi) for lo in NEAR for hi in NEAR if lo <= hi]
MOST = 2**16 - 1  # a distance or limit of which there is a square
SQUARES = [r for r in FLAG_RULES if r.name.startswith("distance ")]
OTHERS = [r for r in FLAG_RULES if r not in SQUARES]


def test_terms_of_carries_mean_what_the_interpreter_computes() -> None:
    ends = [0, 1, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    for name, (a, b) in product(CARRIES, product(ends, ends)):
        x, y = np.array([a], np.uint32), np.array([b], np.uint32)
        want = semantics.carry(name, semantics.BINARY[name](x, y), x, y)
        got = z3.simplify(CARRIES[name](z3.BitVecVal(a, 32), z3.BitVecVal(b, 32)))
        assert z3.is_true(got) == want[0], name


def _meaning(shape: Any, operands: dict[str, Any]) -> Any:
    """What a node of such operands is."""
    if isinstance(shape, str):
        return operands[shape]
    if isinstance(shape, int):
        return Number(z3.BitVecVal(shape, 80))
    return evaluate(shape[0], (), tuple(_meaning(x, operands) for x in shape[1:]))


def _machine(made: Any, bits: dict[str, Term], f: Term) -> Iterator[Term]:
    """What a condition, or an operation under one, computes."""
    if made[0] == "if":
        _, where, operation, otherwise = made
        for x in terms_of(operation, bits):
            yield z3.If(f if where == "f" else z3.Not(f), x, bits[otherwise])
        return
    bit, *parts, operation = made
    assert all(p in operation for p in parts)
    for x in terms_of(operation, bits):
        sources = [next(terms_of(y, bits)) for y in operation[1:]]
        yield {
            "z": lambda x=x: x == 0,
            "n": lambda x=x: x < 0,
            "c": lambda s=sources: CARRIES[operation[0]](*s),
        }[bit]()


def _cases(one: Rule) -> list[Case]:
    """The widest ranges for which a rule's condition holds."""
    inner = any(isinstance(s, tuple) and s[0] is not Op.SELECT for s in one.of)
    wide = Interval(-(2**31), 2**32 - 1)
    found = [
        c
        for x, y in product(INTERVALS, INTERVALS)
        if one.when(c := Case(wide, wide, inner=x) if inner else Case(x, y))
    ]
    kept: list[Case] = []
    for c in sorted(found, key=lambda c: -(c.a.hi - c.a.lo + c.b.hi - c.b.lo)):
        if not any(
            c.a.within(k.a.lo, k.a.hi) and c.b.within(k.b.lo, k.b.hi)
            and c.inner.within(k.inner.lo, k.inner.hi)
            for k in kept
        ):  # fmt: skip
            kept.append(c)
    return kept


@pytest.mark.parametrize("one", OTHERS, ids=lambda r: r.name)
def test_rules_with_flags_are_right(one: Rule) -> None:
    values: dict[str, Any] = {"a": number("a"), "b": number("b"), "f": truth("f")}
    bits = {x: z3.Extract(31, 0, values[x].term) for x in "ab"}
    want = _meaning((one.on, *one.of), values)
    cases = _cases(one)
    assert cases, f"{one.name} is taken nowhere"
    for c in cases:
        known = [within(values["a"], c.a), within(values["b"], c.b)]
        for s in one.of:
            if isinstance(s, tuple) and s[0] is not Op.SELECT:
                known.append(within(_meaning(s, values), c.inner))
        for term in _machine(one.makes(c), bits, values["f"].term):
            right = want.term if isinstance(want, Truth) else z3.Extract(31, 0, want.term)
            solver = z3.Solver()
            solver.set("rlimit", WORK)
            solver.add(*known, right != term)
            assert solver.check() == z3.unsat, f"{one.name}: {c}"


def test_a_wrong_comparison_is_refuted() -> None:
    """The sign of a difference that may overflow is not the comparison."""
    one = next(r for r in FLAG_RULES if r.name == "greater, by the sign of a difference")
    a, b = number("a"), number("b")
    r = Interval(-(2**31), 2**31 - 1)
    bits = {"a": z3.Extract(31, 0, a.term), "b": z3.Extract(31, 0, b.term)}
    (term,) = _machine(one.makes(Case(r, r)), bits, z3.BoolVal(True))
    solver = z3.Solver()
    solver.add(within(a, r), within(b, r), (a > b).term != term)
    assert solver.check() == z3.sat


def test_any_two_values_of_32_bits_of_one_sign_are_compared() -> None:
    """Some rule is taken wherever both are signed, or both unsigned."""
    plain = [r for r in FLAG_RULES if r.on is Op.GT and r.of == ("a", "b")]
    for x, y in product(INTERVALS, INTERVALS):
        fits = any((x | y).within(*e) for e in ((-(2**31), 2**31 - 1), (0, 2**32 - 1)))
        assert any(r.when(Case(x, y)) for r in plain) or not fits


# ------------------------------------------------------------------ squares


def _computed(x: Any, operands: dict[str, semantics.Vector]) -> semantics.Vector:
    if isinstance(x, int):
        return np.full(len(operands["a"]), x & 0xFFFFFFFF, np.uint32)
    if isinstance(x, str):
        return operands[x]
    return semantics.BINARY[x[0]](*(_computed(y, operands) for y in x[1:]))


def test_squares_are_taken_where_32_bits_hold_them() -> None:
    """Up to the largest distance and limit of which they do, and no further."""
    wide, most = Interval(-(2**31), 2**32 - 1), Interval(0, MOST)
    for one in SQUARES:
        for inner, limit in ((most, most), (Interval(0, MOST + 1), most)):
            assert one.when(Case(wide, wide, c=limit, inner=inner)) == (inner == most)
            assert one.when(Case(wide, wide, c=inner, inner=limit)) == (inner == most)
        assert not one.when(Case(wide, wide, c=Interval(-1, 7), inner=most))


def test_what_is_squared_is_the_value() -> None:
    """As smul24 sees them: the difference, and the limit; squares are in the order of values."""
    a, b = number("a"), number("b")
    difference = a - b
    bits = z3.Extract(31, 0, a.term) - z3.Extract(31, 0, b.term)
    seen = z3.SignExt(80 - 24, z3.Extract(23, 0, bits))
    solver = z3.Solver()
    solver.add(within(abs(difference), Interval(0, MOST)), seen != difference.term)
    assert solver.check() == z3.unsat
    x, y = z3.Ints("x y")
    solver = z3.Solver()
    solver.add(x >= 0, y >= 0, (x > y) != (x * x > y * y))
    assert solver.check() == z3.unsat
    assert MOST * MOST < 2**32


@pytest.mark.parametrize("one", SQUARES, ids=lambda r: r.name)
@pytest.mark.parametrize("constant", [False, True])
def test_every_distance_is_compared_with_limits(one: Rule, constant: bool) -> None:
    """Of any two values that lie so far apart, around 0 and at the ends of 32 bits."""
    d = np.arange(MOST + 1, dtype=np.int64)
    rng = np.random.default_rng(2)
    limits = [0, 1, 2, 127, 255, 256, MOST - 1, MOST, *rng.integers(0, MOST, 8).tolist()]
    most = Interval(0, MOST)
    for limit, start, sign in product(limits, (0, 255, -(2**31), 2**31 - 1, 2**32 - 1), (1, -1)):
        c = Case(most, most, const=limit if constant else None, c=most, inner=most)
        operands = {
            "a": (start + sign * d & 0xFFFFFFFF).astype(np.uint32),
            "b": np.full(len(d), start & 0xFFFFFFFF, np.uint32),
            "c": np.full(len(d), limit, np.uint32),
        }
        bit, *_, (name, *sources) = one.makes(c)
        x, y = (_computed(s, operands) for s in sources)
        assert bit == "c"
        got = semantics.carry(name, semantics.BINARY[name](x, y), x, y)
        want = d > limit if one.of[1] == "c" else limit > d
        assert np.array_equal(got, want), (limit, start, sign)


# ------------------------------------------------------------------ joins


def test_updates_join_conditions() -> None:
    """The new A is the conjunction, for both values of what lies in A and of the bit."""
    for (of_inverse, bit_inverse), a, bit in product(JOINS, (False, True), (False, True)):
        rule = JOINS[of_inverse, bit_inverse]
        got = joined(rule, np.array([a]), np.array([bit]))
        assert got[0] == ((a != of_inverse) and (bit != bit_inverse)), rule
