# SPDX-License-Identifier: BSD-2-Clause
"""Places in memory as addresses.

Of a plane a stage gets a pointer for each way its elements walk it and each row, the next made of
the one before by adding the stride. What of a pointer is the same in every trip is computed once.
"""

from daedalus.dsl.ir import Affine, Buffer, Index, Node
from daedalus.generator.targets.gpu.walks import Walk, byte_place, walk_of
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.item import Items, weighted
from daedalus.generator.targets.qpu.virtual import Value

# Of a walk, places whose addresses are kept; if there are more, they are made anew for stores.
KEPT = 6


class Pointers:
    """The pointers of a stage.

    lanes  the coordinates of axes with more than one point
    """

    def __init__(self, items: Items, lanes: dict[str, Value], e: Emitter) -> None:
        self._items, self._lanes, self._e = items, lanes, e
        self._rows: dict[Walk, dict[int, Value]] = {}
        self._first: dict[Walk, tuple[int, int]] = {}  # the lowest row, and the first byte
        self._wanted: dict[Walk, set[tuple[int, int]]] = {}
        self._running: dict[tuple[Walk, int, bool], tuple[int, Value]] = {}
        self._offsets: dict[tuple[object, ...], Value] = {}

    def want(self, walk: Walk, row: int, byte: int) -> None:
        """Says that a place will be asked for, before the first is."""
        low = self._first.get(walk, (row, byte))
        self._first[walk] = (min(low[0], row), min(low[1], byte))
        self._wanted.setdefault(walk, set()).add((row, byte))

    def at(self, b: Buffer, walk: Walk, row: int, byte: int, *, write: bool = False) -> Value:
        """The address of a byte."""
        low = self._first.setdefault(walk, (row, byte))
        if len(self._wanted.get(walk, ())) > KEPT:
            if b.kind == "plane":
                return self._run(b, walk, row, byte, write)
            return self._step(b, walk, row, byte)
        return self._e.plus(self._row(b, walk, row), byte - low[1])

    def _run(self, b: Buffer, walk: Walk, row: int, byte: int, write: bool) -> Value:
        """The address of a byte, made of that of the same column asked for last."""
        e, low = self._e, self._first[walk]
        key = (walk, byte, write)
        before = self._running.get(key)
        if before is None or before[0] > row:
            value = e.plus(self._row(b, walk, low[0]), byte - low[1])
            before = (low[0], value)
        if row > before[0]:
            value = e.b.op("add", before[1], self._items.stride(b, row - before[0]))
            before = (row, value)
        self._running[key] = before
        return before[1]

    def _step(self, b: Buffer, walk: Walk, row: int, byte: int) -> Value:
        """The address of a byte of a block, made of that asked for last."""
        before = self._running.get((walk, 0, False))
        if before is None:
            before = (self._first[walk][1], self._row(b, walk, row))
        value = before[1]
        if byte != before[0]:
            value = self._e.b.op("add", value, byte - before[0])
        self._running[walk, 0, False] = (byte, value)
        return value

    def _row(self, b: Buffer, walk: Walk, row: int) -> Value:
        """The address of a row's first byte that is wanted."""
        known = self._rows.setdefault(walk, {})
        if row not in known:
            low, byte = self._first[walk]
            before = [r for r in known if r < row]
            if before:
                near = max(before)
                stride = self._items.stride(b, row - near)
                known[row] = self._e.op("add", known[near], stride)
            elif row > low:
                self._row(b, walk, low)
                return self._row(b, walk, row)
            else:
                known[row] = self._items.base(b, self._fixed(b, walk, row, byte))
        return known[row]

    def _fixed(self, b: Buffer, walk: Walk, row: int, byte: int) -> Value:
        """What of an address does not depend on the item."""
        e = self._e
        total = e.uniform(b.name)
        if walk.cols:
            total = e.op("add", total, weighted(Affine(0, walk.cols), 1, self._lanes, e))
        if walk.rows:
            rows = weighted(Affine(0, walk.rows), 1, self._lanes, e)
            total = e.op("add", total, e.op("smul24", rows, self._items.stride(b)))
        if row:
            total = e.op("add", total, self._items.stride(b, row))
        return e.plus(total, byte)

    def moved(
        self, b: Buffer, index: Index, args: tuple[Node, ...], values: list[Argument]
    ) -> Value:
        """The address of an element whose index has parts known only at run time."""
        e = self._e
        row, col = byte_place(b, index)
        walk = walk_of(b, index)[0]
        low = self._first.get(walk)
        if low is None:
            self.want(walk, row.const, col.const)
        total = self._row(b, walk, row.const)
        const = col.const - self._first[walk][1]
        by: Value | None = None
        key = (b.name, row.terms, col.terms, args)
        if key not in self._offsets:
            for name, c in row.terms:
                if name.startswith("#"):
                    rows = e.op("smul24", e.value(values[int(name[1:])]), self._items.stride(b))
                    by = self._sum(by, rows, c)
            for name, c in col.terms:
                if name.startswith("#"):
                    by = self._sum(by, e.value(values[int(name[1:])]), c)
            assert by is not None
            self._offsets[key] = by
        return e.plus(e.op("add", total, self._offsets[key]), const)

    def _sum(self, total: Value | None, term: Value, times: int) -> Value:
        e = self._e
        if times == -1:
            return e.op("sub", 0 if total is None else total, term)
        term = term if times == 1 else e.op("smul24", term, times)
        return term if total is None else e.op("add", total, term)
