# SPDX-License-Identifier: BSD-2-Clause
"""Sums of neighbouring bytes with weights of 8 bits, four at a time by v8dot, by the rules."""

from collections.abc import Callable, Sequence

from daedalus.dsl.ir import Kernel, Node, Op, u8
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.gpu.walks import Walk, walk_of
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.dot_rules import Rows, dot_rule, words_of
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.expressions import made
from daedalus.generator.targets.qpu.memory import StageMemory
from daedalus.generator.targets.qpu.tables import Tables
from daedalus.generator.targets.qpu.values import Values
from daedalus.generator.targets.qpu.virtual import Value

FEWEST = 4  # bytes in a sum that is made so
_WINDOW = 12  # bytes, the most


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
            return self._total(
                walk, row, byte, self._ranges.rows(n), more,
                lambda phase: self._tables.weights(n, phase, values), values,
            )  # fmt: skip
        if n.op not in (Op.ADD, Op.SUB):
            return None
        form = dict(self._ranges.form(n))
        const = form.pop(None, 0)
        weights: dict[int, int] = {}
        where: set[tuple[Walk, int]] = set()
        for x, c in form.items():
            if x is None or x.op is not Op.LOAD or x.args:
                return None
            found = self._memory.plan.in_words(x)
            kind = self._kernel.buffer(x.attr[0]).kind
            if found is None or found.type != u8 or kind != "plane":
                return None
            where.add((found.run.walk, found.run.row))
            weights[found.byte] = weights.get(found.byte, 0) + c
        if len(weights) < FEWEST or len(where) > 1:
            return None
        low, high = min(weights), max(weights)
        if high - low >= _WINDOW:
            return None
        taps = [weights.get(b, 0) for b in range(low, high + 1)]
        walk, row = where.pop()
        return self._total(
            walk, row, low, [taps], more + const, lambda phase: words_of(taps, phase), values
        )

    def _total(
        self, walk: Walk, row: int, byte: int, rows: Rows, more: int,
        taps: Callable[[int], Sequence[Argument]], values: Values,
    ) -> Value | None:  # fmt: skip
        """A number and the sum of the bytes from one on with a row of weights, if a rule does that;
        `taps` gives the weights' words by how many bytes after a word the first byte lies."""
        rule = dot_rule(rows)
        if rule is None:
            return None
        self.used = True
        e, plan = self._e, self._memory.plan
        assert e.dot_mode(rule.mode)
        pixels: list[Argument] = []
        at = start = byte - plan.at(walk, row, byte).at % 4  # where a word begins
        while at < byte + len(rows[0]):
            word = self._memory.word(plan.at(walk, row, at), values)
            pixels.append(made(rule.word, {"a": word}.__getitem__, e))
            at += 4
        total: Argument = more + rule.more(rows)
        for four, tap in zip(pixels, taps(byte - start), strict=False):
            if tap != 0:
                product = made(rule.product, {"a": four, "b": tap}.__getitem__, e)
                total = e.op("add", product, total)
        return e.value(total)
