# SPDX-License-Identifier: BSD-2-Clause
"""Python code run on symbols: integers and truths that are z3 terms, and all ways through the code.

`Number` and `Truth` stand in for integers and booleans wherever code computes, NumPy's element-wise
functions included, so that the semantics of operations, the conditions of rules and whole passes
run on them unchanged. Where code branches on a symbol, `paths` takes every branch that is possible
and gives with each outcome the conditions under which it comes about.

Integers are bit vectors so wide (WIDE) that no computation on inputs of INPUT bits leaves them;
terms of another width, all of one, can be given where less is enough.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import z3

WIDE = 80  # bits of every term; a product of two inputs, and shifts by a lane, fit
INPUT = 36  # bits of an input, with its sign: more than a value of the language can have
T = TypeVar("T")
_ENUMERATED = 80  # values that a symbol may take where code needs the integer itself


def _term(x: Any, width: int = WIDE) -> z3.BitVecRef:
    if isinstance(x, Number):
        return x.term
    if isinstance(x, Truth):
        return z3.If(x.term, z3.BitVecVal(1, width), z3.BitVecVal(0, width))
    return z3.BitVecVal(int(x), width)


def _terms(*xs: Any) -> list[z3.BitVecRef]:
    """Operands of one operation, as wide as those are that are terms already."""
    width = next((x.term.size() for x in xs if isinstance(x, Number)), WIDE)
    return [_term(x, width) for x in xs]


def _fact(x: Any) -> z3.BoolRef:
    if isinstance(x, Truth):
        return x.term
    return x.term != 0 if isinstance(x, Number) else z3.BoolVal(bool(x))


def _where(condition: Any, a: Any, b: Any) -> Any:
    if isinstance(a, Truth) and isinstance(b, Truth):
        return Truth(z3.If(_fact(condition), a.term, b.term))
    return Number(z3.If(_fact(condition), *_terms(a, b)))


def _smaller(a: Any, b: Any) -> "Number":
    a, b = _terms(a, b)
    return Number(z3.If(a <= b, a, b))


def _larger(a: Any, b: Any) -> "Number":
    a, b = _terms(a, b)
    return Number(z3.If(a >= b, a, b))


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.minimum: _smaller,
    np.maximum: _larger,
    np.clip: lambda a, lo, hi: _smaller(_larger(a, lo), hi),
    np.where: _where,
    np.logical_and: lambda a, b: Truth(z3.And(_fact(a), _fact(b))),
    np.logical_or: lambda a, b: Truth(z3.Or(_fact(a), _fact(b))),
    np.logical_not: lambda a: Truth(z3.Not(_fact(a))),
}


class _Symbol:
    """What NumPy asks of an operand that computes for itself."""

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **more: Any) -> Any:
        return _FUNCTIONS[function](*args, **more)

    def __array_function__(self, function: Any, types: Any, args: Any, more: Any) -> Any:
        return _FUNCTIONS[function](*args, **more)


class Truth(_Symbol):
    """A boolean."""

    def __init__(self, term: z3.BoolRef) -> None:
        self.term = term

    def __bool__(self) -> bool:
        return _decide(self.term)


class Number(_Symbol):
    """An integer."""

    def __init__(self, term: z3.BitVecRef) -> None:
        self.term = term

    def __bool__(self) -> bool:
        return _decide(self.term != 0)

    def __int__(self) -> int:
        """One of the values that it can have here; the others are further paths."""
        return _one_of(self.term)

    __index__ = __int__
    __hash__ = object.__hash__

    def _like(self, o: Any) -> z3.BitVecRef:
        return _term(o, self.term.size())

    def __add__(self, o: Any) -> "Number":
        return Number(self.term + self._like(o))

    def __sub__(self, o: Any) -> "Number":
        return Number(self.term - self._like(o))

    def __rsub__(self, o: Any) -> "Number":
        return Number(self._like(o) - self.term)

    def __mul__(self, o: Any) -> "Number":
        return Number(self.term * self._like(o))

    def __and__(self, o: Any) -> "Number":
        return Number(self.term & self._like(o))

    def __or__(self, o: Any) -> "Number":
        return Number(self.term | self._like(o))

    def __xor__(self, o: Any) -> "Number":
        return Number(self.term ^ self._like(o))

    __radd__, __rmul__, __rand__, __ror__ = __add__, __mul__, __and__, __or__
    __rxor__ = __xor__

    def __lshift__(self, o: Any) -> "Number":
        return Number(self.term << self._like(o))

    def __rlshift__(self, o: Any) -> "Number":
        return Number(self._like(o) << self.term)

    def __rshift__(self, o: Any) -> "Number":
        return Number(self.term >> self._like(o))

    def __rrshift__(self, o: Any) -> "Number":
        return Number(self._like(o) >> self.term)

    def __neg__(self) -> "Number":
        return Number(-self.term)

    def __invert__(self) -> "Number":
        return Number(~self.term)

    def __abs__(self) -> "Number":
        return Number(z3.If(self.term < 0, -self.term, self.term))

    def __le__(self, o: Any) -> Any:
        return Truth(self.term <= self._like(o))

    def __lt__(self, o: Any) -> Any:
        return Truth(self.term < self._like(o))

    def __ge__(self, o: Any) -> Any:
        return Truth(self.term >= self._like(o))

    def __gt__(self, o: Any) -> Any:
        return Truth(self.term > self._like(o))

    def __eq__(self, o: Any) -> Any:
        return Truth(self.term == self._like(o))

    def __ne__(self, o: Any) -> Any:
        return Truth(self.term != self._like(o))

    def bit_length(self) -> "Number":
        """As an integer's, for values that are not negative."""
        found = z3.BitVecVal(0, WIDE)
        for n in range(INPUT):
            found = z3.If(z3.Extract(n, n, self.term) == 1, z3.BitVecVal(n + 1, WIDE), found)
        return Number(found)

    def lane(self, width: int, signed: bool) -> "Number":
        """Its low bits, read as a lane of that width."""
        bits = z3.Extract(width - 1, 0, self.term)
        return Number((z3.SignExt if signed else z3.ZeroExt)(self.term.size() - width, bits))


def number(name: str) -> Number:
    """An input: any integer of INPUT bits."""
    return Number(z3.SignExt(WIDE - INPUT, z3.BitVec(name, INPUT)))


def truth(name: str) -> Truth:
    return Truth(z3.Bool(name))


# ------------------------------------------------------------------ ways through the code


class _Impossible(Exception):
    """The conditions of this path contradict each other."""


@dataclass
class _Path:
    """One way: decisions to take first, and what was decided."""

    known: list[z3.BoolRef]
    prefix: list[int]
    prune: bool
    taken: list[int] = field(default_factory=list)
    others: list[list[int]] = field(default_factory=list)

    def choose(self, term: z3.ExprRef, possible: Callable[[], list[int]]) -> int:
        """The value of a term on this path; the other possible ones are further paths."""
        if len(self.taken) < len(self.prefix):
            value = self.prefix[len(self.taken)]
        else:
            value, *others = possible()
            self.others += [[*self.taken, v] for v in others]
        self.taken.append(value)
        fact = z3.simplify(term == value if z3.is_bv(term) else term if value else z3.Not(term))
        self.known.append(fact)
        return value


_current: ContextVar[_Path] = ContextVar("path")


def _decide(condition: z3.BoolRef) -> bool:
    condition = z3.simplify(condition)
    if z3.is_true(condition) or z3.is_false(condition):
        return bool(z3.is_true(condition))
    path = _current.get()

    def outcomes() -> list[int]:
        if not path.prune:
            return [1, 0]
        cases = ((1, condition), (0, z3.Not(condition)))
        return [v for v, fact in cases if possible([*path.known, fact])]

    return bool(path.choose(condition, outcomes))


def _one_of(term: z3.BitVecRef) -> int:
    term = z3.simplify(term)
    if z3.is_bv_value(term):
        return int(term.as_signed_long())
    path = _current.get()

    def possible() -> list[int]:
        found: list[int] = []
        solver = _solver()
        solver.add(*_related(path.known, term))
        while solver.check() == z3.sat:
            found.append(solver.model().eval(term, model_completion=True).as_signed_long())
            solver.add(term != found[-1])
            assert len(found) < _ENUMERATED, f"{term} can be many integers: which one is meant?"
        if not found:
            raise _Impossible
        return sorted(found)

    return path.choose(term, possible)


def paths(
    run: Callable[[], T], *given: Any, prune: bool = False
) -> Iterator[tuple[list[z3.BoolRef], T]]:
    """All outcomes of a function of symbols, each with the conditions under which it comes about.

    Some of these may contradict each other: `possible` tells. With `prune` every step is asked
    whether it is possible, which pays where ways are long.
    """
    waiting: list[list[int]] = [[]]
    while waiting:
        path = _Path([_fact(g) for g in given], waiting.pop(), prune)
        token = _current.set(path)
        try:
            outcome = run()
        except _Impossible:
            continue
        finally:
            _current.reset(token)
            waiting += path.others
        yield path.known, outcome


def possible(known: list[z3.BoolRef]) -> bool:
    """Whether some inputs meet all conditions."""
    solver = _solver()
    solver.add(*known)
    return bool(solver.check() == z3.sat)


# ------------------------------------------------------------------ proofs


def _solver() -> z3.Solver:
    """Bits and SAT; z3's own choice loses its way in wide terms now and then."""
    return z3.Then("simplify", "bit-blast", "sat").solver()


Goal = tuple[list[z3.BoolRef], z3.BoolRef]  # what is known, and what is to follow from it


def reduced(known: list[z3.BoolRef], claim: z3.BoolRef) -> Goal:
    """The goal without the facts that have nothing to do with it."""
    claim = z3.simplify(claim)
    return _related(known, claim), claim


def _related(known: list[z3.BoolRef], term: z3.ExprRef) -> list[z3.BoolRef]:
    """The facts that share inputs with a term, directly or by way of others."""
    reached = set(inputs(term))
    left = [(k, inputs(k)) for k in known]
    found: list[z3.BoolRef] = []
    while touching := [(k, names) for k, names in left if names & reached]:
        found += [k for k, _ in touching]
        left = [(k, names) for k, names in left if not names & reached]
        reached.update(*(names for _, names in touching))
    return found


def counterexample(known: list[z3.BoolRef], claim: z3.BoolRef) -> dict[str, int] | None:
    """Inputs that meet what is known and refute the claim; None if it is proven."""
    known, claim = _pinned(known, claim)
    if z3.is_true(claim):
        return None
    if _multiplies(claim):
        known, claim = _narrowed(known, claim)
    solver = _solver()
    solver.add(*known, z3.Not(claim))
    found = solver.check()
    assert found != z3.unknown, f"z3 gives up: {solver.reason_unknown()}"
    if found == z3.unsat:
        return None
    model = solver.model()
    return {
        str(d): model[d].as_signed_long() if z3.is_bv(model[d]) else int(z3.is_true(model[d]))
        for d in model.decls()
    }


_NAMES: dict[int, tuple[z3.ExprRef, frozenset[str]]] = {}  # term id -> term (kept alive), inputs


def inputs(term: z3.ExprRef) -> frozenset[str]:
    """The inputs that occur in a term."""
    waiting = [term]  # no recursion: terms are as deep as kernels are long
    while waiting:
        t = waiting[-1]
        parts = t.children()
        left = [p for p in parts if p.get_id() not in _NAMES]
        if left and t.get_id() not in _NAMES:
            waiting += left
            continue
        waiting.pop()
        free = not parts and t.decl().kind() == z3.Z3_OP_UNINTERPRETED
        own = frozenset({str(t)}) if free else frozenset()
        _NAMES[t.get_id()] = (t, own.union(*(_NAMES[p.get_id()][1] for p in parts)))
    return _NAMES[term.get_id()][1]


def _input(name: str) -> z3.BitVecRef:
    width = int(name.rpartition("'")[2]) if "'" in name else INPUT
    return z3.BitVec(name, width)


def _multiplies(term: z3.ExprRef) -> bool:
    seen: set[int] = set()
    stack = [term]
    while stack:
        t = stack.pop()
        if t.get_id() not in seen:
            seen.add(t.get_id())
            if t.decl().kind() == z3.Z3_OP_BMUL and not any(map(z3.is_bv_value, t.children())):
                return True
            stack.extend(t.children())
    return False


def _implied(known: list[z3.BoolRef], fact: z3.BoolRef) -> bool:
    solver = _solver()
    solver.add(*known, z3.Not(fact))
    return bool(solver.check() == z3.unsat)


def _replaced(
    known: list[z3.BoolRef], claim: z3.BoolRef, old: z3.BitVecRef, new: z3.BitVecRef
) -> tuple[list[z3.BoolRef], z3.BoolRef]:
    return (
        [z3.simplify(z3.substitute(k, (old, new))) for k in known],
        z3.simplify(z3.substitute(claim, (old, new))),
    )


def _pinned(known: list[z3.BoolRef], claim: z3.BoolRef) -> tuple[list[z3.BoolRef], z3.BoolRef]:
    """Inputs named `=...` (constants, immediates) replaced by their value where only one is left:
    the solver's work is then on what varies."""
    for name in sorted(frozenset(inputs(claim)).union(*map(inputs, known))):
        if name.startswith("="):
            x = _input(name)
            solver = _solver()
            solver.add(*known)
            assert solver.check() == z3.sat, "only of what is possible"
            value = solver.model().eval(x, model_completion=True)
            if _implied(known, x == value):
                known, claim = _replaced(known, claim, x, value)
    return known, claim


def _narrowed(known: list[z3.BoolRef], claim: z3.BoolRef) -> tuple[list[z3.BoolRef], z3.BoolRef]:
    """Inputs that what is known confines to fewer bits, written in those: products of them are then
    the same term on both sides."""
    confined = frozenset().union(*map(inputs, known))
    for x in map(_input, sorted(inputs(claim) & confined)):
        for width, extend in ((w, e) for w in (8, 16, 32) for e in (z3.SignExt, z3.ZeroExt)):
            short = extend(INPUT - width, z3.Extract(width - 1, 0, x))
            if _implied(known, x == short):
                fresh = z3.BitVec(f"{x}'{width}", width)
                known, claim = _replaced(known, claim, x, extend(INPUT - width, fresh))
                break
    return known, claim
