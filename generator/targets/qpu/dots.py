# SPDX-License-Identifier: BSD-2-Clause
"""Sums of neighbouring bytes with weights of 8 bits, four at a time by v8dot.

Pixels are unsigned, weights are not, and which letter of setnnmode_us stands for which operand is
not known of the hardware. So both are taken as signed: the pixels less 128, and 128 times the sum
of the weights is added again, with what rounds. Where a window does not begin with a word, the
weights are moved, which all windows with the same offset share, and not the pixels.
"""

from collections.abc import Callable

from daedalus.dsl.ir import Kernel, Node, Op, i8, u8
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.memory import StageMemory
from daedalus.generator.targets.qpu.places import Walk, walk_of
from daedalus.generator.targets.qpu.tables import Tables
from daedalus.generator.targets.qpu.values import Values
from daedalus.generator.targets.qpu.virtual import Value

FEWEST = 4  # bytes in a sum that is made so
_WINDOW = 12  # bytes, the most
_HALF = 0x80808080


class Dots:
    """The dot products of a stage; `used` if there are any."""

    def __init__(
        self, kernel: Kernel, ranges: Ranges, memory: StageMemory, tables: Tables, e: Emitter
    ) -> None:
        self._kernel, self._ranges, self._e = kernel, ranges, e
        self._memory, self._tables = memory, tables
        self.used = False

    def sum(self, n: Node, more: int, values: Values) -> Value | None:
        """A value and a number, where the value is such a sum; else None."""
        while n.op is Op.ASSUME:
            n = n.args[0]
        if n.op is Op.DOT:
            first = n.args[1]
            walk, row, byte = walk_of(self._kernel.buffer(first.attr[0]), first.index)
            rows = self._ranges.rows(n)
            weight = sum(rows[0])
            return self._total(
                walk, row, byte, len(n.args) - 1, more + 128 * weight,
                lambda phase: list(self._tables.weights(n, phase, values)), values,
            )  # fmt: skip
        if n.op not in (Op.ADD, Op.SUB):
            return None
        form = dict(self._ranges.form(n))
        const = form.pop(None, 0)
        weights: dict[int, int] = {}
        where: set[tuple[Walk, int]] = set()
        for x, c in form.items():
            if x is None or x.op is not Op.LOAD or x.args or not i8.lo <= c <= i8.hi:
                return None
            b = self._kernel.buffer(x.attr[0])
            if b.kind != "plane" or b.dtype != u8 or not self._memory.in_words(b, x.index):
                return None
            walk, row, byte = walk_of(b, x.index)
            where.add((walk, row))
            weights[byte] = weights.get(byte, 0) + c
        if len(weights) < FEWEST or len(where) > 1:
            return None
        low, high = min(weights), max(weights)
        if high - low >= _WINDOW:
            return None
        taps = [weights.get(b, 0) for b in range(low, high + 1)]
        walk, row = where.pop()
        return self._total(
            walk, row, low, len(taps), more + const + 128 * sum(taps),
            lambda phase: literal(taps, phase), values,
        )  # fmt: skip

    def _total(
        self, walk: Walk, row: int, byte: int, count: int, const: int,
        taps: Callable[[int], list[Argument]], values: Values,
    ) -> Value:  # fmt: skip
        """A number and the sum of so many bytes; `taps` gives the weights' words by how many bytes
        after a word the first byte lies."""
        self.used = True
        b, e = self._kernel.buffer(walk.buffer), self._e
        assert e.dot_mode("ss")
        pixels: list[Value] = []
        at = start = self._memory.word(b, walk, row, byte, values)[1]
        while at < byte + count:
            pixels.append(e.op("xor", self._memory.word(b, walk, row, at, values)[0], _HALF))
            at += 4
        total: Argument = const
        for word, tap in zip(pixels, taps(byte - start), strict=False):
            if tap == 0:
                continue
            product = e.op("v8dot", word, tap)
            total = e.op("add", product, total)
        return e.value(total)


def literal(taps: list[int], phase: int) -> list[Argument]:
    """Weights as words, moved by so many bytes."""
    data = [0] * phase + [t & 255 for t in taps]
    data += [0] * (-len(data) % 4)
    return [
        sum(x << (8 * k) for k, x in enumerate(data[at : at + 4])) for at in range(0, len(data), 4)
    ]
