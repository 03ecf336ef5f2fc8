# SPDX-License-Identifier: BSD-2-Clause
"""Stages of a random program that run as elements of tables say, which parameters choose: their
conditions and limits. Most are two in a row, under the same condition, opposite ones, or unrelated
ones, so that what is computed for the second must not count on the first having run.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import DType, Kernel, Node, Op, Param, Stage, Table, i8, i16, i32, u8, u16
from daedalus.dsl.ranges import Ranges

_TRIES = 8
_LOC = Loc("", 0)
_ROWS = 8  # of a table at most
_BITS = 3  # that name one of them
_RELATIONS = ("one", "same", "opposite", "opposite", "unrelated", "unrelated")

Make = Callable[[Builder], Node]  # makes a value among a stage's own


def decided_by_tables(kernel: Kernel, rng: random.Random) -> Iterator[Kernel]:
    """The kernel with one or two such stages: its own, or others behind one of them that store
    other values where it does."""
    for number in range(_TRIES):
        made = _Deciding(kernel, rng)
        stages = list(kernel.stages)
        first = rng.randrange(len(stages))
        relation = rng.choice(_RELATIONS)
        given = made.conditions(relation)
        own = rng.random() < 0.5 and number < _TRIES // 2  # later ones are likely to be legal
        if own and first + len(given) <= len(stages):
            chosen = stages[first : first + len(given)]
            stages[first : first + len(given)] = map(made.decided, chosen, given)
        else:
            others = [made.decided(made.mirrored(stages[first]), g) for g in given]
            if relation == "opposite" and rng.random() < 0.5:  # one of the two always runs
                others[0] = made.decided(stages[first], given[0])
                del stages[first]
                first -= 1
            stages[first + 1 : first + 1] = others
        yield replace(
            kernel, stages=tuple(stages), tables=tuple(made.tables.values()), params=made.params
        )


@dataclass(frozen=True)
class _Element:
    """An element of a table, in the row that some bits of a parameter name, or all of it."""

    table: Table
    param: str
    shift: int
    masked: bool
    column: int

    def make(self, builder: Builder) -> Node:
        row = builder.make(Op.PARAM, (), (self.param,), _LOC)
        if self.shift:
            row = builder.make(Op.SHR, (row,), (self.shift,), _LOC)
        if self.masked:
            row = builder.make(Op.BITAND, (row, builder.const((1 << _BITS) - 1, _LOC)), (), _LOC)
        at = () if self.table.vector else (builder.const(self.column, _LOC),)
        return builder.make(Op.TABLE, (row, *at), (self.table.name,), _LOC)


class _Deciding:
    """What is put into one program: its tables and parameters with those that decide."""

    def __init__(self, kernel: Kernel, rng: random.Random) -> None:
        self.rng = rng
        self.params = kernel.params
        if all(p.count != 1 for p in self.params):
            self.params = (*self.params, Param("pick", u8, 0, rng.choice((1, 7, 255)), _LOC))
        self.tables = {t.name: t for t in kernel.tables}
        self.ranges = Ranges(kernel)

    def conditions(self, relation: str) -> list[Make]:
        """Of one stage, or of two in a row."""
        first = self._condition()
        if relation == "one":
            return [first]
        if relation == "same":
            return [first, first]
        if relation == "opposite":
            both = [first, lambda b: b.make(Op.NOT, (first(b),), (), _LOC)]
            return both if self.rng.random() < 0.5 else both[::-1]
        return [first, self._condition()]

    def _condition(self) -> Make:
        """A comparison of an element, or what two of them make together."""
        rng = self.rng
        made = self._comparison()
        if rng.random() < 0.75:
            return made
        other, op = self._comparison(), rng.choice((Op.AND, Op.OR))
        return lambda b: b.make(op, (made(b), other(b)), (), _LOC)

    def _comparison(self) -> Make:
        rng = self.rng
        t = rng.choice((u8, i8, i16, u16, i32))
        low, high = max(t.lo, rng.choice((0, 0, -3, t.lo))), rng.choice((1, 1, 7, t.hi))
        element = self._element(f"when{len(self.tables)}", t, low, high)
        limit = min(max(rng.choice((0, low, (low + high) // 2)), low), high - 1)
        op = rng.choice((Op.GT, Op.LE))
        return lambda b: b.make(op, (element.make(b), b.const(limit, _LOC)), (), _LOC)

    def _element(self, name: str, t: DType, low: int, high: int) -> _Element:
        """One of a new table, which has both ends."""
        rng = self.rng
        vector = rng.random() < 0.6
        width = 1 if vector else rng.choice((2, 3, 4))
        many = rng.choice((2, 4, 5, _ROWS))
        columns = []
        for _ in range(width):
            more = (rng.choice((low, high, rng.randint(low, high))) for _ in range(many - 2))
            column = [low, high, *more]
            rng.shuffle(column)
            columns.append(column)
        table = Table(name, t, tuple(zip(*columns, strict=True)), _LOC, vector)
        self.tables[name] = table
        p = rng.choice([p for p in self.params if p.count == 1])
        few = p.lo >= 0 and p.hi < 2 * _ROWS
        shift = 0 if few or rng.random() < 0.7 else rng.randint(1, p.dtype.bits - _BITS)
        masked = not few or rng.random() < 0.3
        return _Element(table, p.name, shift, masked, rng.randrange(width))

    def decided(self, stage: Stage, given: Make) -> Stage:
        """The stage under a condition, and the one it has, or with a limit as well or instead."""
        rng = self.rng
        builder = Builder(self.tables)
        made = rewrite_stage(stage, builder, lambda node, args: None)
        with_limit = not made.limits and rng.random() < 0.3
        if not with_limit or rng.random() < 0.5:
            wanted = given(builder)
            if made.given is not None:
                wanted = builder.make(Op.AND, (made.given, wanted), (), _LOC)
            made = replace(made, given=wanted)
        if with_limit:
            axis, most = rng.choice(stage.dims)
            low = rng.choice((0, 0, 1, -1))
            high = max(low + 1, rng.choice((most, most, most - 1, most + 2)))
            count = self._element(f"many{len(self.tables)}", i8, low, high)
            made = replace(made, limits=((axis, count.make(builder)),))
        return made

    def mirrored(self, stage: Stage) -> Stage:
        """The stage with other values in the same ranges: the largest for the least."""
        builder = Builder(self.tables)
        made = rewrite_stage(stage, builder, lambda node, args: None)
        stores = []
        for old, new in zip(stage.stores, made.stores, strict=True):
            r = self.ranges.of(old.value)
            ends = builder.const(r.lo + r.hi, _LOC)
            value = builder.make(Op.SUB, (ends, new.value), (), _LOC)
            stores.append(replace(new, value=value))
        return replace(made, stores=tuple(stores))
