# SPDX-License-Identifier: BSD-2-Clause
"""Random expressions whose intervals are known while they are written, in idioms of codecs."""

import random
from collections.abc import Callable, Mapping

from daedalus.dsl import lang
from daedalus.dsl.ir import (
    DTYPES,
    Buffer,
    DType,
    Node,
    Op,
    Stage,
    i8,
    i16,
    i32,
    smallest_dtype,
    u8,
    u16,
    u32,
    walk,
)  # fmt: skip
from daedalus.dsl.ranges import BOOL, Interval, Ranges
from daedalus.dsl.trace import KernelBuilder
from daedalus.dsl.values import Scalar, TableRef, Value

Assume = tuple[Callable[[Scalar], Value], int, int]
_CONSTANTS = (0, 1, 2, 3, 4, 5, 8, 16, 63, 64, 127, 128, 255, 256, -1, -2, -4, -128, 32767, 32768,
              65535, -32768, 11585, 181)  # fmt: skip


class GrowingRanges(Ranges):
    """The intervals of a program that is still being written."""

    def reach(self, node: Node) -> Interval:
        """The interval of a node, and of all below it."""
        if node not in self._of:
            for n in walk((node,)):
                if n not in self._of:
                    self._of[n] = BOOL if n.is_bool else self._limited(n)
        return self._of[node]

    def fits(self, node: Node) -> bool:
        """Whether the node and all below it are legal values."""
        self.reach(node)
        for n in walk((node,)):
            r = self._of[n]
            if smallest_dtype(r.lo, r.hi) is None:
                return False
            if n.op in (Op.SHRV, Op.SHLV) and not self._of[n.args[1]].within(0, 31):
                return False
        return True

    def enter(self, dims: Mapping[str, int]) -> None:
        """Starts a stage: its lanes can be values."""
        self._extents = dict(dims)

    def extend(self, stage: Stage) -> None:
        """Takes in a stage that is complete."""
        self._stage(stage)


class Expressions:
    """The values of one stage: a pool that grows.

    later  whether it draws what the language has got since the first such programs were written
    """

    def __init__(
        self, k: KernelBuilder, ranges: GrowingRanges, rng: random.Random, *, later: bool
    ) -> None:
        self.k, self.ranges, self.rng, self.later = k, ranges, rng, later
        self.ints: list[Value] = []
        self.masks: list[Value] = []
        self.uniform: list[Value] = []
        self.tables: list[TableRef] = []
        self.assumptions: list[Assume] = []

    def of(self, x: Value) -> Interval:
        """The interval of a value."""
        return self.ranges.reach(x.node)

    def fits(self, x: Value) -> bool:
        """Whether it, and so all it is made of, is legal."""
        return self.ranges.fits(x.node)

    def add(self, x: Value | None) -> None:
        """Puts a value into the pool, if it is legal."""
        if x is not None and not x.node.is_bool and self.fits(x):
            self.ints.append(x)

    def grow(self, operations: int) -> None:
        """About so many more values."""
        for _ in range(operations):
            if self.rng.random() < 0.2:
                self.mask()
            else:
                self.add(self._steered(self._operation()))

    # ------------------------------------------------------------------ operands

    def pick(self) -> Value:
        """A value of the pool, rather a young one."""
        rng = self.rng
        return rng.choice(self.ints[-5:]) if rng.random() < 0.5 else rng.choice(self.ints)

    def _operand(self) -> Scalar:
        rng = self.rng
        chance = rng.random()
        if chance < 0.12 and self.uniform:
            return rng.choice(self.uniform)
        if chance < 0.25:
            return self._constant()
        return self.pick()

    def _constant(self) -> int:
        rng = self.rng
        return rng.choice(_CONSTANTS) if rng.random() < 0.7 else rng.randint(-300, 300)

    def _small(self, bits: int, *, signed: bool | None = None) -> Value:
        """A value of at most so many bits."""
        good = [v for v in self.ints if self._is_within(v, bits, signed)]
        if good:
            return self.rng.choice(good)
        t = next(t for t in DTYPES if t.bits == bits and (signed is None or t.signed == signed))
        made = self.narrowed(self.pick(), t)
        self.add(made)
        return made

    def _is_within(self, v: Value, bits: int, signed: bool | None) -> bool:
        r = self.of(v)
        return any(
            t.bits == bits and (signed is None or t.signed == signed) and r.within(t.lo, t.hi)
            for t in DTYPES
        )

    # ------------------------------------------------------------------ steering

    def _steered(self, x: Value | None) -> Value | None:
        """The value, or a narrower form of it: the wider it is, the likelier."""
        if x is None or x.node.is_bool or not self.fits(x):
            return None
        r = self.of(x)
        t = smallest_dtype(r.lo, r.hi)
        bits = t.bits if t else 64
        if self.rng.random() < {8: 0.05, 16: 0.3, 32: 0.55}[bits]:
            return self.narrowed(x, self.rng.choice((u8, u8, i8, i16, i16, u16)))
        return x

    def narrowed(self, x: Value, t: DType) -> Value:
        """x brought into a type's range."""
        rng, r = self.rng, self.of(x)
        for _ in range(3):
            chance = rng.random()
            if chance < 0.25 and self.assumptions:
                state, lo, hi = rng.choice(self.assumptions)
                if lo < r.hi and hi > r.lo and not r.within(lo, hi):
                    x = state(x)
                    r = self.of(x)
            elif chance < 0.6:
                span = max(abs(r.lo), abs(r.hi)).bit_length() - t.hi.bit_length()
                if span > 0:
                    n = min(span + rng.choice((0, 0, -1, -2, -6)), 31)
                    if n > 0:
                        x = lang.round_shift(x, n) if rng.random() < 0.6 else x >> n
                        r = self.of(x)
            if r.within(t.lo, t.hi):
                return x
        chance = rng.random()
        if chance < 0.2:
            return lang.wrap(x, t)
        if chance < 0.35:
            lo, hi = sorted((rng.randint(t.lo, t.hi), rng.randint(t.lo, t.hi)))
            return lang.clip(x, lo, hi)
        if chance < 0.45 and r.lo >= t.lo:
            return lang.min(x, t.hi)
        if chance < 0.55 and r.hi <= t.hi:
            return lang.max(x, t.lo)
        if chance < 0.65:
            return lang.max(lang.min(x, t.hi), t.lo)
        return lang.clip(x, t.lo, t.hi)

    def wanted(self, b: Buffer) -> Value | None:
        """A value to store into a buffer."""
        rng = self.rng
        x: Value | None = self.pick()
        if rng.random() < 0.5:
            x = self._operation()
            if x is None or x.node.is_bool or not self.fits(x):
                x = self.pick()
        assert x is not None
        t = b.dtype or i32
        if b.dtype is None and rng.random() < 0.4:
            x = self.narrowed(x, rng.choice((u8, i16, i16, u16)))
        x = x if self.of(x).within(t.lo, t.hi) else self.narrowed(x, t)
        return x if self.fits(x) and self.of(x).within(t.lo, t.hi) else None

    # ------------------------------------------------------------------ operations

    def _operation(self) -> Value | None:
        rng = self.rng
        ways: tuple[tuple[int, Callable[[], Value | None]], ...] = (
            (12, self._sum), (6, self._product), (6, self._product_sum), (4, self._shift),
            (3, self._average), (6, self._saturated), (5, self._order), (4, self._distance),
            (3, self._limit), (6, self._choice), (2, self._variable_shift), (3, self._lookup),
            (3, self._dot), (1, self._negation), (2, self._rotation), (2, self._assumed),
        )  # fmt: skip
        if self.later:
            ways += (
                (16, self._bitwise),
                (6, self._bit),
                (5, self._shift_left),
                (6, self._weighted),
            )
        way = rng.choices([w for _, w in ways], [n for n, _ in ways])[0]
        return way()

    def _sum(self) -> Value:
        a, b = self.pick(), self._operand()
        return a + b if self.rng.random() < 0.5 else a - b if self.rng.random() < 0.7 else b - a

    def _product(self) -> Value:
        rng = self.rng
        chance = rng.random()
        if chance < 0.35:
            return self.pick() << rng.choice((1, 1, 1, 2, 3, 4, 6))
        if chance < 0.6:
            return self.pick() * self._constant()
        if chance < 0.75 and self.uniform:
            return self.pick() * rng.choice(self.uniform)
        bits = rng.choice((8, 8, 16))
        signed = rng.choice((None, True, False))
        return self._small(bits, signed=signed) * self._small(bits, signed=signed)

    def _product_sum(self) -> Value:
        """a + x*y or a - x*y in all kinds of widths."""
        rng = self.rng
        bits, signed = rng.choice((8, 8, 16)), rng.choice((True, False))
        x = self._small(bits, signed=signed)
        chance = rng.random()
        y: Scalar = self._small(bits, signed=signed)
        if chance < 0.4:
            y = rng.choice((3, 5, 7, -3, 21, 181, 11585, 40000, 255))
        elif chance < 0.6 and self.uniform:
            y = rng.choice(self.uniform)
        product = x * y
        if rng.random() < 0.3:
            self.add(product)
        a = self._operand()
        return a + product if rng.random() < 0.5 else a - product

    def _shift(self) -> Value:
        rng = self.rng
        n = rng.choice((1, 1, 2, 3, 4, 5, 7, 8, 14, 15, 16, 20, 31))
        return lang.round_shift(self.pick(), n) if rng.random() < 0.5 else self.pick() >> n

    def _average(self) -> Value:
        a, b = self.pick(), self._operand()
        return lang.round_shift(a + b, 1) if self.rng.random() < 0.5 else (a + b) >> 1

    def _saturated(self) -> Value:
        """A sum limited to a type that its parts fit."""
        rng = self.rng
        t = rng.choice((u8, u8, i8, u16, i16))
        a = self._small(t.bits, signed=t.signed)
        b: Scalar = self._small(t.bits, signed=rng.random() < 0.5)
        chance = rng.random()
        if chance < 0.15:
            b = rng.choice((1, 4, 100, -1, -5, -100))
        elif chance < 0.25 and self.uniform:
            b = rng.choice(self.uniform)
        raw = rng.choice(
            (a + b, a + b, a - b, a - b, a << 1, a << 2, lang.round_shift(a * 3 + b, 2))
        )
        if rng.random() < 0.2:
            raw = lang.min(raw, self.pick()) if rng.random() < 0.5 else lang.max(raw, self.pick())
        if rng.random() < 0.2 and self.assumptions:
            raw = rng.choice(self.assumptions)[0](raw)
        chance = rng.random()
        if chance < 0.2:
            return lang.min(raw, t.hi)
        if chance < 0.4:
            return lang.max(raw, t.lo)
        return lang.clip(raw, t.lo, t.hi)

    def _order(self) -> Value:
        a, b = self.pick(), self._operand()
        return lang.min(a, b) if self.rng.random() < 0.5 else lang.max(a, b)

    def _distance(self) -> Value:
        return (
            lang.absdiff(self.pick(), self._operand())
            if self.rng.random() < 0.7
            else abs(self.pick())
        )

    def _limit(self) -> Value:
        t = self.rng.choice((u8, i8, u16, i16, i32, u32))
        if self.rng.random() < 0.3:
            return lang.wrap(self.pick(), t)
        return self.narrowed(self.pick(), t)

    def _choice(self) -> Value | None:
        m = self.mask()
        if m is None:
            return None
        chance = self.rng.random()
        if chance < 0.25:
            return lang.select(m, self.pick(), 0)
        if chance < 0.4:
            return lang.select(m, 0, self.pick())
        return lang.select(m, self._operand(), self._operand())

    def _variable_shift(self) -> Value:
        amount = self._amount()
        return self.pick() >> amount

    def _amount(self) -> Value:
        """A value in 0..31."""
        rng = self.rng
        n = self.pick() if not self.uniform or rng.random() < 0.5 else rng.choice(self.uniform)
        amount = lang.clip(n, 0, rng.choice((3, 7, 8, 15, 31)))
        if rng.random() < 0.2:
            amount = lang.min(lang.max(n, 0), rng.choice((7, 15)))
        return amount

    def _bitwise(self) -> Value | None:
        """An operation bit by bit, of values of alike and of other widths, or with a mask."""
        rng = self.rng
        a = self.pick() if rng.random() < 0.5 else self._small(rng.choice((8, 8, 16)))
        chance = rng.random()
        b: Scalar = self._operand()
        if chance < 0.3:
            bits = rng.choice((8, 8, 16, 31))
            few = (1 << rng.randrange(bits), (1 << bits) - (1 << rng.randrange(bits)), 0x5555)
            b = rng.choice((*few, rng.getrandbits(bits), 7, 15, 255))
            b = rng.choice((b, b, ~b))
        elif chance < 0.5:
            b = self._small(rng.choice((8, 8, 16)))
        if isinstance(b, Value) and rng.random() < 0.25:
            b = ~b
        kind = rng.randrange(7)
        if kind == 6:
            return ~a
        return a & b if kind < 3 else a | b if kind < 5 else a ^ b

    def _bit(self) -> Value:
        rng = self.rng
        if rng.random() < 0.6:
            return lang.bit(self.pick(), rng.choice((0, 1, 2, 3, 5, 7, 8, 15, 16, 31)))
        return lang.bit(self.pick(), self._amount())

    def _shift_left(self) -> Value | None:
        """To the left by a value, or the lowest so many bits of one."""
        rng = self.rng
        most = rng.choice((1, 3, 4, 7, 8, 8, 15, 23, 31))
        amount = lang.min(self._amount(), most)
        chance = rng.random()
        if chance < 0.3:
            return self.pick() & ((1 << lang.min(amount, 30)) - 1)
        if chance < 0.5:
            return rng.choice((1, 1, 3, -1, 5)) << amount
        x = self.pick() if most < 4 or rng.random() < 0.2 else self._small(rng.choice((8, 8, 16)))
        return x << amount

    def _weighted(self) -> Value:
        """Values weighted so that the weights add up: of two, of three, of four by both axes."""
        rng = self.rng
        total = rng.choice((4, 8, 16, 64, 64, 64, 128, 256))
        bits, signed = rng.choice((8, 8, 8, 16)), rng.random() < 0.2
        a, b, c, d = (self._small(bits, signed=signed) for _ in range(4))
        m, n = (self._weight(total) for _ in range(2))
        chance = rng.random()
        if chance < 0.6:
            value = a * (total - m) + b * m
        elif chance < 0.75:
            value = a * m + b * n + c * (total - m - n)
        else:
            upper, lower = a * (total - m) + b * m, c * (total - m) + d * m
            value = upper * (total - n) + lower * n
            total *= total
        if rng.random() < 0.7:
            return lang.round_shift(value, total.bit_length() - 1)
        return value

    def _weight(self, total: int) -> Value:
        """A value in 0..total."""
        rng = self.rng
        x = self.pick() if not self.uniform or rng.random() < 0.6 else rng.choice(self.uniform)
        r = self.of(x)
        return x if r.within(0, total) else lang.clip(x, 0, total)

    def _row(self) -> Scalar:
        rng = self.rng
        if self.uniform and rng.random() < 0.7:
            return rng.choice(self.uniform)
        return rng.randint(-1, 9)

    def _lookup(self) -> Value | None:
        if not self.tables:
            return None
        rng, table = self.rng, self.rng.choice(self.tables)
        row: Scalar = self.pick() if rng.random() < 0.03 else self._row()
        made = table[row] if table.decl.vector else table[row, self._row()]
        if self.fits(made) and made.node.op != "const":
            self.uniform.append(made)
        return made

    def _dot(self) -> Value | None:
        rows = [t for t in self.tables if not t.decl.vector]
        if not rows:
            return None
        table = self.rng.choice(rows)
        bits = self.rng.choice((8, 8, 16))
        return lang.dot(table, self._row(), [self._small(bits) for _ in table.decl.rows[0]])

    def _negation(self) -> Value:
        return -self.pick()

    def _rotation(self) -> Value:
        cos, sin = self.rng.choice(((11585, 11585), (15137, 6270), (181, 181), (64, 36)))
        bits = 14 if cos > 300 else 7
        x, y = lang.rotate(self._small(16), self._small(16), cos, sin, bits)
        self.add(x)
        return y

    def _assumed(self) -> Value | None:
        if not self.assumptions:
            return None
        return self.rng.choice(self.assumptions)[0](self.pick())

    # ------------------------------------------------------------------ conditions

    def mask(self) -> Value | None:
        """A condition, remembered for others to be made of."""
        made = self._condition()
        if made is None or not self.fits(made):
            return None
        self.masks.append(made)
        return made

    def _condition(self) -> Value | None:
        rng = self.rng
        chance = rng.random()
        if chance < 0.3 and len(self.masks) > 1:
            c, d = rng.choice(self.masks), rng.choice(self.masks)
            if rng.random() < 0.3:
                d = ~d
            return c & d if rng.random() < 0.5 else c | d
        if chance < 0.35 and self.masks:
            return ~rng.choice(self.masks)
        if chance < 0.5:
            limit = self._operand()
            xs = [self.pick() for _ in range(rng.choice((2, 3, 4)))]
            return lang.all_le(xs, limit) if rng.random() < 0.5 else lang.any_gt(xs, limit)
        a = self.pick()
        b: Scalar = self._operand()
        if rng.random() < 0.5:  # a limit inside what the value can be
            r = self.of(a)
            middle = (r.lo + r.hi) // 2
            b = rng.choice((r.lo, r.hi, middle, r.lo + (r.hi - r.lo) // 4, r.hi - 1))
        kind = rng.randrange(6)
        return (a <= b, a > b, a < b, a >= b, a == b, a != b)[kind]
