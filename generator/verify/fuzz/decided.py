# SPDX-License-Identifier: BSD-2-Clause
"""What parameters decide in a random program: whether and how far a stage runs, which element is
read; and beside it array parameters, lanes as values and accumulation."""

import random
from collections.abc import Mapping

from daedalus.dsl import lang
from daedalus.dsl.ir import Affine, Buffer, i8, i16, i32, smallest_dtype, u8, u16
from daedalus.dsl.ranges import Interval
from daedalus.dsl.trace import KernelBuilder
from daedalus.dsl.values import BufferRef, LaneIndex, ParamsRef, UpTo, Value
from daedalus.dsl.verify import uniform
from daedalus.generator.verify.fuzz.memory import Key, Places
from daedalus.generator.verify.fuzz.values import Expressions, GrowingRanges

RunTimeKey = tuple[LaneIndex | int, ...]


class Decided:
    """Draws them for one program; `params` are its scalar parameters."""

    def __init__(self, k: KernelBuilder, rng: random.Random, params: list[Value]) -> None:
        self.k, self.rng, self.params = k, rng, params
        self.arrays: list[ParamsRef] = []
        self.on = rng.random() < 0.5  # the other programs are those of the language's core

    def declare(self) -> None:
        """Array parameters."""
        if self.on and self.rng.random() < 0.4:
            t = self.rng.choice((u8, i8, u16, i16, i32))
            lo, hi = sorted((self.rng.randint(t.lo, t.hi), self.rng.choice((t.lo, 0, 7, t.hi))))
            many = self.rng.choice((2, 3, 4, 8, 16))
            self.arrays.append(self.k.params("list", t, many, lo, hi))

    # ------------------------------------------------------------------ stages

    def _value(self) -> Value | None:
        """A value that is known outside the stages."""
        rng = self.rng
        if self.arrays and (rng.random() < 0.3 or not self.params):
            array = rng.choice(self.arrays)
            return array[rng.randrange(array.decl.count)]
        return rng.choice(self.params) if self.params else None

    def domain(
        self, ranges: GrowingRanges, dims: Mapping[str, int]
    ) -> tuple[Value | None, dict[str, int | UpTo]]:
        """A stage's condition, if any, and its axes."""
        rng, axes = self.rng, dict[str, int | UpTo](dims)
        v = self._value()
        if not self.on or v is None:
            return None, axes
        if rng.random() < 0.4:
            axis, most = rng.choice(list(dims.items()))
            count = rng.choice((v, v >> rng.randint(1, 6), lang.clip(v, 0, most + 1), v * 2, -v))
            if ranges.fits(count.node):
                axes[axis] = self.k.upto(count, most)
        return (self._condition(ranges) if rng.random() < 0.4 else None), axes

    def _condition(self, ranges: GrowingRanges) -> Value | None:
        made: Value | None = None
        for _ in range(self.rng.choice((1, 1, 2))):
            v = self._value()
            assert v is not None
            r = ranges.reach(v.node)
            limit = self.rng.choice((r.lo, r.hi, (r.lo + r.hi) // 2, r.hi - 1, 0))
            limit = max(limit, -(2**31) + 1)  # v < limit compares with one less
            one = self.rng.choice((v <= limit, v > limit, v == limit, v != limit, v < limit))
            made = one if made is None else (made & one if self.rng.random() < 0.5 else made | one)
        return made

    # ------------------------------------------------------------------ values

    def values(self, x: Expressions, dims: Mapping[str, int]) -> None:
        """Adds lanes and elements of arrays to the values of a stage."""
        rng = self.rng
        if not self.on:
            return
        lanes = list(dims.items())
        for _ in range(rng.choice((0, 0, 1, 2))):
            terms = {lane: rng.choice((1, 1, 2, -1)) for lane, _ in rng.sample(lanes, 1)}
            terms[lanes[-1][0]] = rng.choice((1, 1, 3))
            x.add(self.k.lane(LaneIndex(Affine(rng.choice((0, 0, 1, -4)), tuple(terms.items())))))
        for array in self.arrays:
            fitting = [lane for lane, n in lanes if n <= array.decl.count]
            if fitting and rng.random() < 0.7:
                x.add(array[LaneIndex(Affine(0, ((rng.choice(fitting), 1),)))])
            else:
                element = array[rng.randrange(array.decl.count)]
                x.add(element)
                x.uniform.append(element)

    def side(self, x: Expressions, places: Places) -> Value | None:
        """A condition that holds on one side of some lane, or none."""
        rng = self.rng
        if not self.on or rng.random() < 0.8:
            return None
        lanes = list(places.stage.dims)
        terms = {
            rng.choice(lanes)[0]: rng.choice((1, -1, -2)),
            lanes[-1][0]: rng.choice((1, 1, 3, -1)),
        }
        at = self.k.lane(LaneIndex(Affine(rng.randint(-3, 3), tuple(terms.items()))))
        v = self._value()
        if v is None or not x.fits(v) or rng.random() < 0.3:
            limit = rng.randint(0, lanes[-1][1])
            return at < limit if rng.random() < 0.7 else at > limit
        return at < v if rng.random() < 0.7 else at > v

    # ------------------------------------------------------------------ places

    def place(self, x: Expressions, places: Places, b: Buffer, key: Key) -> RunTimeKey | None:
        """The key with a value added on one of its axes; None where that cannot be."""
        rng = self.rng
        known = [u for u in x.uniform if uniform(u.node)]
        if not self.on or not known or rng.random() < 0.6 or not places.anywhere(b):
            return None
        axis = rng.randrange(len(key))
        part = key[axis]
        index = part if isinstance(part, LaneIndex) else LaneIndex(Affine(part))
        low, high = index.affine.bounds(places.stage.extents)
        below, above = b.shape[axis][0] - low, b.shape[axis][1] - 1 - high
        c = rng.choice((1, 1, 1, -1, 2))
        span = (-above, -below) if c == -1 else (-(-below // c), above // c)
        if span[0] >= span[1]:
            return None
        value = self._within(x, rng.choice(known), Interval(*span))
        moved = index + LaneIndex(Affine(0), ((value, c),))
        places.freeze(b)
        return (*key[:axis], moved, *key[axis + 1 :])

    def _within(self, x: Expressions, v: Value, span: Interval) -> Value:
        """The value brought into a range, whatever an item holds."""
        r = x.of(v)
        if v.node.op == "param" and r.within(span.lo, span.hi):
            return v
        inside = [t for t in x.tables if t.decl.vector and all(
            span.lo <= row[0] <= span.hi for row in t.decl.rows)]  # fmt: skip
        if inside and self.rng.random() < 0.7:
            return self.rng.choice(inside)[v]
        return lang.clip(v, span.lo, span.hi)

    # ------------------------------------------------------------------ accumulation

    def first_value(self) -> int | None:
        """What a temp holds at first; None for nothing."""
        rng = self.rng
        if not self.on or rng.random() < 0.5:
            return None
        return rng.choice((0, 0, 1, -1, 127, -32768, rng.randint(-1000, 1000)))

    def accumulate(self, x: Expressions, places: Places, ref: BufferRef) -> int:
        """Merges some values into a temp that has one already; how many."""
        rng, b = self.rng, ref.decl
        if b.init is None or rng.random() < 0.4 or not places.untouched(b):
            return 0
        how = rng.choice(("add", "add", "min", "max"))
        lanes, held = places.stage.lanes, x.ranges.temps[b.name]
        done = 0
        for _ in range(rng.choice((1, 1, 2))):
            value = x.narrowed(x.pick(), rng.choice((u8, i8, i16)))
            r = x.of(value)
            held |= Interval(held.lo + lanes * min(r.lo, 0), held.hi + lanes * max(r.hi, 0))
            if not x.fits(value) or smallest_dtype(held.lo, held.hi) is None:
                continue
            index = tuple(self._anywhere(b, axis, places) for axis in range(len(b.shape)))
            mask = x.mask() if rng.random() < 0.3 else None
            if mask is None:
                ref.accumulate(index, value, how)
            else:
                with self.k.when(mask):
                    ref.accumulate(index, value, how)
            done += 1
        if done:
            places.freeze(b)
        return done

    def _anywhere(self, b: Buffer, axis: int, places: Places) -> LaneIndex | int:
        """An index of which lanes may share: a lane, the sum of two, or a constant."""
        rng, (lo, hi) = self.rng, b.shape[axis]
        lanes = list(places.stage.extents)
        terms = tuple((lane, 1) for lane in rng.sample(lanes, rng.randint(0, len(lanes))))
        low, high = Affine(0, terms).bounds(places.stage.extents)
        if not terms or high - low >= hi - lo:
            return rng.randint(lo, hi - 1)
        return LaneIndex(Affine(rng.randint(lo - low, hi - 1 - high), terms))
