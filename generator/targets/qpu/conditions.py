# SPDX-License-Identifier: BSD-2-Clause
"""Conditions as flags.

A QPU has two flags an element, A and B: a push moves A to B, an update joins A with one more bit.
So a conjunction is a push and an update for every further part, and a disjunction is the inverse of
a conjunction of inverses. What is asked for again while it still lies in A or B costs nothing; else
a comparison is made anew, and a conjunction read from a mask that was kept of it.
"""

from dataclasses import dataclass

from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.virtual import Flag, Value

# Updates that make a conjunction of what lies in A and a bit, by whether it is of the inverse of
# what lies there, and of the inverse of the bit.
JOINS = {
    (False, False): "and", (False, True): "andn", (True, False): "norn", (True, True): "nor",
}  # fmt: skip


@dataclass(frozen=True)
class Test:
    """A bit of an operation's result: z (it is 0), n (bit 31) or c (see semantics.carry)."""

    op: str
    sources: tuple[Argument, ...]
    bit: str


@dataclass(frozen=True)
class All:
    """Holds where all parts hold."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True)
class Condition:
    """A test or a conjunction, or the inverse of one."""

    of: Test | All
    inverse: bool = False

    def __invert__(self) -> "Condition":
        return Condition(self.of, not self.inverse)


def both(*conditions: Condition) -> Condition:
    """The conjunction."""
    parts: dict[Condition, None] = {}
    for c in conditions:
        if isinstance(c.of, All) and not c.inverse:
            parts.update(dict.fromkeys(c.of.parts))
        else:
            parts[c] = None
    return next(iter(parts)) if len(parts) == 1 else Condition(All(tuple(parts)))


def any_of(*conditions: Condition) -> Condition:
    """The disjunction."""
    return ~both(*(~c for c in conditions))


@dataclass(frozen=True)
class _Held:
    """A flag that is there: it holds where `of` does, or where it does not."""

    of: Test | All | None  # None: part of something, of no use afterwards
    flag: Flag
    inverse: bool


class Flags:
    """Which conditions lie in A and B."""

    def __init__(self, e: Emitter) -> None:
        self._e = e
        self._a: _Held | None = None
        self._b: _Held | None = None
        self._masks: dict[Test | All, Value] = {}  # not 0 where it holds

    def flag(self, c: Condition) -> Flag:
        """The flag of a condition; to be used before the next two are asked for."""
        held = self._held(c.of)
        if held is None:
            self._make(c.of)
            held = self._a
            assert held is not None
        return ~held.flag if held.inverse != c.inverse else held.flag

    def again(self, c: Condition) -> Flag:
        """The flag of a condition that is a test, pushed anew: it lies in A."""
        assert isinstance(c.of, Test)
        self._push(c.of)
        assert self._a is not None
        return ~self._a.flag if c.inverse else self._a.flag

    def _held(self, of: Test | All) -> _Held | None:
        return next((h for h in (self._a, self._b) if h is not None and h.of == of), None)

    def _push(self, t: Test) -> None:
        self._b = self._a
        self._a = _Held(t, self._e.b.flag(f"push{t.bit}", t.op, *t.sources), False)

    def _make(self, of: Test | All) -> None:
        """Brings a test or conjunction into A."""
        if of in self._masks:
            self._push(self._test_of_mask(of))
            assert self._a is not None
            self._a = _Held(of, self._a.flag, True)
        elif isinstance(of, Test):
            self._push(of)
        else:
            self._join(of)
            assert self._a is not None
            flag = ~self._a.flag if self._a.inverse else self._a.flag
            self._masks[of] = self._e.b.mask(flag)

    def _join(self, of: All) -> None:
        """A conjunction: begins with a part that is one itself, if there is any."""
        tests: list[Condition] = []
        nested: list[Condition] = []
        for part in of.parts:
            (tests if isinstance(part.of, Test) else nested).append(part)
        for part in nested[1:]:
            if part.of not in self._masks:
                self._make(part.of)
        tests += [Condition(self._test_of_mask(p.of), not p.inverse) for p in nested[1:]]
        first = nested[0] if nested else tests.pop(0)
        held = self._held(first.of)
        if held is None or held is not self._a:
            self._make(first.of)
        else:
            self._again_in_a(first.of)
        assert self._a is not None
        flag, inverse = self._a.flag, self._a.inverse != first.inverse
        for part in tests:
            t = part.of
            assert isinstance(t, Test)
            join = JOINS[inverse, part.inverse]
            flag = self._e.b.update(flag, f"{join}{t.bit}", t.op, *t.sources)
            inverse = False
        self._a = _Held(of, flag, inverse)

    def _again_in_a(self, of: Test | All) -> None:
        """Pushes what lies in A once more, so that the join may change it and B keeps it."""
        if isinstance(of, Test):
            self._push(of)
        elif of in self._masks:
            self._make(of)

    def _test_of_mask(self, of: Test | All) -> Test:
        """The test whose inverse the condition is, by its mask."""
        return Test("mov", (self._masks[of],), "z")
