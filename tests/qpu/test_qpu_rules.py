# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of the QPU's selection rules: wherever a rule's condition holds, what it makes is the
node's value modulo 2**32, for all operands of the ranges (SMT).

The node's meaning is ir.evaluate, run on terms. The machine's is `MEANINGS`, terms of 32 bits,
which the first test compares with semantics.py. Conditions shrink with the ranges, so of all pairs
of intervals that a rule takes only those are proven that lie in no other.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import z3

from daedalus.dsl.ir import BITWISE, DTYPES, Op, evaluate
from daedalus.dsl.ranges import Interval
from daedalus.generator.targets.qpu import semantics
from daedalus.generator.targets.qpu.rules import RULES, Case, Rule, rule
from daedalus.generator.verify.proofs.lane_questions import A_SECOND
from daedalus.generator.verify.proofs.symbolic import Number, number

Term = Any
WORK = 60 * A_SECOND  # of z3 on one question, most of which take a fraction of a second


def _sext24(x: Term) -> Term:
    return z3.SignExt(8, z3.Extract(23, 0, x))


def _zext24(x: Term) -> Term:
    return z3.ZeroExt(8, z3.Extract(23, 0, x))


MEANINGS: dict[str, Callable[..., Term]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "min": lambda x, y: z3.If(x < y, x, y),
    "max": lambda x, y: z3.If(x < y, y, x),
    "umin": lambda x, y: z3.If(z3.ULT(x, y), x, y),
    "umax": lambda x, y: z3.If(z3.ULT(x, y), y, x),
    "shl": lambda x, y: x << (y & 31),
    "shr": lambda x, y: z3.LShR(x, y & 31),
    "asr": lambda x, y: x >> (y & 31),
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "vpack": lambda x, y: z3.Concat(z3.Extract(15, 0, y), z3.Extract(15, 0, x)),
    "v8pack": lambda x, y: z3.Concat(*(_byte(v, k) for v in (y, x) for k in (2, 0))),
    "smul24": lambda x, y: _sext24(x) * _sext24(y),
    "umul24": lambda x, y: _zext24(x) * _zext24(y),
    "mov": lambda x: x,
}


def _byte(x: Term, k: int) -> Term:
    return z3.Extract(8 * k + 7, 8 * k, x)


def dot(x: Term, y: Term, mode: str) -> Term:
    """v8dot, in a mode."""
    wide = [z3.SignExt if letter == "s" else z3.ZeroExt for letter in mode]
    terms = [wide[0](24, _byte(x, k)) * wide[1](24, _byte(y, k)) for k in range(4)]
    return terms[0] + terms[1] + terms[2] + terms[3]


UNPACKS: dict[str, Callable[[Term], Term]] = {
    "": lambda x: x,
    "ul": lambda x: z3.ZeroExt(16, z3.Extract(15, 0, x)),
    "uh": lambda x: z3.LShR(x, 16),
    "il": lambda x: z3.SignExt(16, z3.Extract(15, 0, x)),
    "ih": lambda x: x >> 16,
}
MODES = ("uu", "us", "su", "ss")
ENDS = (-(2**31), -(2**23), -300, 0, 255, 2**23 - 1, 2**24 - 1, 2**30, 2**31 - 1, 2**32 - 1)
INTERVALS = [Interval(lo, hi) for lo in ENDS for hi in ENDS if lo <= hi]
SIGNED24 = Interval(-(2**23), 2**23 - 1)


def test_terms_mean_what_the_interpreter_computes() -> None:
    rng = np.random.default_rng(1)
    special = np.array([0, 1, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x800000], np.uint32)
    for _ in range(20):
        x = np.where(rng.random(16) < 0.5, rng.choice(special, 16), rng.integers(0, 2**32, 16))
        y = np.where(rng.random(16) < 0.5, rng.choice(special, 16), rng.integers(0, 2**32, 16))
        x, y = x.astype(np.uint32), y.astype(np.uint32)
        for name, meaning in MEANINGS.items():
            if name == "mov":
                continue
            want = semantics.BINARY[name](x, y)
            for k in range(16):
                terms = (z3.BitVecVal(int(x[k]), 32), z3.BitVecVal(int(y[k]), 32))
                assert z3.simplify(meaning(*terms)).as_long() == int(want[k]), name
        for mode in MODES:
            want = semantics.dot(x, y, mode)
            for k in range(16):
                terms = (z3.BitVecVal(int(x[k]), 32), z3.BitVecVal(int(y[k]), 32))
                assert z3.simplify(dot(*terms, mode)).as_long() == int(want[k]), mode
        for how, unpack in UNPACKS.items():
            got = [z3.simplify(unpack(z3.BitVecVal(int(v), 32))).as_long() for v in x]
            assert got == semantics.UNPACKS[how](x).tolist(), how


def terms_of(made: Any, operands: dict[str, Term], mode: str = "") -> Iterator[Term]:
    """What an expression computes; one term for each of the forms that it leaves open."""
    if isinstance(made, int):
        yield z3.BitVecVal(made & 0xFFFFFFFF, 32)
    elif isinstance(made, str):
        yield operands[made]
    elif made[0] == "|":
        for form in made[1:]:
            yield from terms_of(form, operands, mode)
    else:
        name, _, modifier = made[0].partition(".")
        first, *rest = [list(terms_of(x, operands, mode)) for x in made[1:]]
        for x in first:
            for others in zip(*rest, strict=True) if rest else [()]:
                if name == "v8dot":
                    yield dot(x, *others, mode)
                else:
                    yield MEANINGS[name](UNPACKS[modifier](x), *others)


def within(x: Number, r: Interval) -> Any:
    return z3.And(x.term >= r.lo, x.term <= r.hi)


def _attributes(on: Op) -> list[tuple[Any, ...]]:
    match on:
        case Op.SHR:
            return [(n,) for n in range(1, 32)]
        case Op.RSHR:
            return [(n,) for n in (*range(1, 9), 14, 15, 16, 17, 23, 24, 30, 31)]
        case Op.CLIP:
            return [(0, 255), (-128, 127), (-(2**31), 7), (3, 2**31 - 1), (0, 2**32 - 1), (5, 5)]
        case Op.WRAP:
            return [(t,) for t in DTYPES]
    return [()]


def _cases(one: Rule) -> Iterator[Case]:
    """Where the rule is taken, with the widest ranges."""
    binary = one.on in (
        Op.ADD,
        Op.SUB,
        Op.MUL,
        Op.MIN,
        Op.MAX,
        Op.ABSDIFF,
        Op.SHRV,
        Op.SHLV,
        *BITWISE,
    )
    for attr in _attributes(one.on):
        for kept in (False, True) if one.on in (Op.CLIP, Op.SHLV) else (False,):
            consts: list[int | None] = [None]
            if one.name == "power of two":
                consts = [1 << n for n in range(1, 31)]
            for const in consts:
                found: list[Case] = []
                for a in INTERVALS:
                    for b in INTERVALS if binary and const is None else [a]:
                        if const is not None:
                            b = Interval(const, const)
                        c = Case(a, b, attr, const, kept)
                        if rule(one.on, c) is one and _fits(one.on, c):
                            found.append(c)
                yield from _widest(found)


def _fits(on: Op, c: Case) -> bool:
    """What ranges.check_ranges proves of every program: values fit 32 bits."""
    if on is Op.MUL and c.const is None:
        corners = [x * y for x in (c.a.lo, c.a.hi) for y in (c.b.lo, c.b.hi)]
        return Interval(min(corners), max(corners)).within(-(2**31), 2**32 - 1)
    return True


def _widest(cases: list[Case]) -> list[Case]:
    def inside(x: Case, y: Case) -> bool:
        return x.a.within(y.a.lo, y.a.hi) and x.b.within(y.b.lo, y.b.hi)

    # Of a CLIP the range decides which limits are applied: each is a case of its own.
    return [
        x for x in cases
        if not any(x is not y and inside(x, y) and x != y for y in cases)
    ]  # fmt: skip


@pytest.mark.parametrize("one", RULES, ids=lambda r: r.name)
def test_rules_are_right(one: Rule) -> None:
    a, b = number("a"), number("b")
    operands = {"a": z3.Extract(31, 0, a.term), "b": z3.Extract(31, 0, b.term)}
    proven = 0
    for c in _cases(one):
        made = one.makes(c)
        known = [within(a, c.a), within(b, c.b)]
        if one.on is Op.MUL and c.const is None:
            _prove_product(made, known, operands)
            proven += 1
            continue
        second: Any = b if c.const is None else c.const
        value = evaluate(one.on, c.attr, (a, second)[: 1 if _unary(one.on) else 2])
        for term in terms_of(made, operands):
            solver = z3.Solver()
            solver.set("rlimit", WORK)
            solver.add(*known, z3.Extract(31, 0, value.term) != term)
            assert solver.check() == z3.unsat, f"{one.name}: {c}"
        proven += 1
    assert proven, f"{one.name} is taken nowhere"


def _unary(on: Op) -> bool:
    return on in (Op.SHR, Op.RSHR, Op.ABS, Op.CLIP, Op.WRAP)


def _prove_product(made: Any, known: list[Any], operands: dict[str, Term]) -> None:
    """A product is one of what the multiplier makes of its operands: that these are the values."""
    if made[0] in ("smul24", "umul24"):
        seen = _sext24 if made[0] == "smul24" else _zext24
        for name in "ab":
            solver = z3.Solver()
            solver.add(*known, seen(operands[name]) != operands[name])
            assert solver.check() == z3.unsat, made
        return
    # By halves: with a = ah 2**16 + al and b likewise, what is left out is ah bh 2**32.
    ah, al, bh, bl = z3.Ints("ah al bh bl")
    whole = (ah * 65536 + al) * (bh * 65536 + bl)
    halves = al * bl + (ah * bl + al * bh) * 65536
    assert z3.simplify(whole - halves - ah * bh * 2**32, som=True).eq(z3.IntVal(0))
    assert made == (
        "add",
        ("umul24", ("mov.ul", "a"), ("mov.ul", "b")),
        (
            "shl",
            ("add", ("umul24", ("mov.uh", "a"), ("mov.ul", "b")),
             ("umul24", ("mov.ul", "a"), ("mov.uh", "b"))),
            -16,
        ),
    )  # fmt: skip


def test_a_wrong_rule_is_refuted() -> None:
    """Without the bound on its operand, the rounding shift may overflow, and that is found."""
    right = next(r for r in RULES if r.name == "rounding shift of a signed value")
    a = number("a")
    (term,) = terms_of(
        right.makes(Case(SIGNED24, SIGNED24, (4,))), {"a": z3.Extract(31, 0, a.term)}
    )
    value = evaluate(Op.RSHR, (4,), (a,))
    solver = z3.Solver()
    solver.add(within(a, Interval(-(2**31), 2**31 - 1)), z3.Extract(31, 0, value.term) != term)
    assert solver.check() == z3.sat
