# SPDX-License-Identifier: BSD-2-Clause
"""Constant tables: lookups in memory that hold an entry a word, rows filled up to whole lookups."""

from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Interval
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, both
from daedalus.generator.targets.qpu.dot_rules import moved, words_of
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.expressions import made
from daedalus.generator.targets.qpu.limits import PlaceLimits
from daedalus.generator.targets.qpu.values import Values
from daedalus.generator.targets.qpu.virtual import Value

SPACE = "tables"
_VECTORS = {1: "u32", 2: "vec2", 3: "vec3", 4: "vec4"}


class Tables:
    """Lookups in the tables of a kernel."""

    def __init__(self, kernel: Kernel, limits: PlaceLimits, e: Emitter) -> None:
        self._kernel, self._limits, self._e = kernel, limits, e
        self._found: dict[tuple[str, Argument, int], tuple[Value, ...]] = {}
        self._when: list[Condition] = []

    def begin(self, when: list[Condition]) -> None:
        """Opens a stage: its lookups are made where all of these hold. Elsewhere nothing is known
        of its values."""
        if when or self._when:
            self._found.clear()
        self._when = when

    def _load(self, place: Value, type_: str, values: Values) -> tuple[Value, ...]:
        flag = values.flags.flag(both(*self._when)) if self._when else None
        return self._e.b.load(place, type_, space=SPACE, when=flag)

    def read(self, n: Node, values: Values) -> Value:
        """A TABLE."""
        e, table = self._e, self._kernel.table(n.attr[0])
        width = len(table.rows[0])
        column = 0 if len(n.args) == 1 else None
        if len(n.args) > 1 and n.args[1].op is Op.CONST:
            column = min(max(n.args[1].value, 0), width - 1)
        step = 1 << (width - 1).bit_length()  # words from a row to the next
        words = [x for row in table.rows for x in (*row, *[0] * (step - width))]
        row = self._limited(n.args[0], len(table.rows), values)
        base = e.table(table.name, words)
        if column is None:
            col = self._limited(n.args[1], width, values)
            place = e.op("add", e.times(e.value(row), step), col)
            return self._load(e.op("add", base, e.times(place, 4)), "u32", values)[0]
        vector = min(step, 4)
        key = (table.name, row, column // vector)
        if key not in self._found:
            place = e.op("add", base, e.times(e.value(row), 4 * step))
            place = e.plus(place, column // vector * vector * 4)
            self._found[key] = self._load(place, _VECTORS[vector], values)
        return self._found[key][column % vector]

    def weights(self, n: Node, phase: int, values: Values) -> list[Argument]:
        """The row of a DOT, of entries of 8 bits, as words, moved up by so many bytes. Moved by
        operations: a lookup of four words takes the TMU as long as four instructions of each QPU,
        and it is the TMU that such kernels wait for."""
        around: list[Argument] = [0, *self._bytes(n, values), 0]
        found = moved(len(self._kernel.table(n.attr[0]).rows[0]), phase)
        return [
            made(x, {"a": around[k], "b": around[k + 1]}.__getitem__, self._e)
            for k, x in enumerate(found)
        ]

    def _bytes(self, n: Node, values: Values) -> tuple[Value, ...]:
        """The row of a DOT as it is."""
        e, table = self._e, self._kernel.table(n.attr[0])
        count = -(-len(table.rows[0]) // 4)
        words = [w for r in table.rows for w in words_of(r)]
        row = self._limited(n.args[0], len(table.rows), values)
        key = (f"{table.name}_bytes", row, 0)
        if key not in self._found:
            start = e.op("add", e.table(key[0], words), e.times(e.value(row), 4 * count))
            found: list[Value] = []
            for at in range(0, count, 4):
                vector = _VECTORS[min(4, count - at)]
                found += self._load(e.plus(start, 4 * at), vector, values)
            self._found[key] = tuple(found)
        return self._found[key]

    def _limited(self, x: Node, count: int, values: Values) -> Argument:
        """An index kept inside, for every item."""
        return self._limits.within(x, Interval(0, count - 1), values)
