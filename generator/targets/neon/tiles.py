# SPDX-License-Identifier: BSD-2-Clause
"""Tiles: lanes that lie a row apart are loaded as whole rows and transposed, and stored likewise.

Only stages with one axis across the vector have tiles, and blocks only without loops.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from daedalus.dsl.ir import Affine, Buffer, DType, Index, Node, Op, Stage, Store
from daedalus.generator.targets.c.emit import flat
from daedalus.generator.targets.neon.lanes import Place
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import (
    Group,
    Lines,
    can_transpose,
    cast,
    interleave,
    suffix,
    transpose,
)


@dataclass(frozen=True)
class Rows:
    """An index whose lanes are rows (of a plane or a temp), or `step` elements apart (in a block).

    line  what the loads of one tile have in common
    at    the position inside the tile's rows
    row   of lane 0, in a plane or a temp
    start  of lane 0, in a block: the number of an element, `at` of it not counted
    """

    line: tuple[object, ...]
    at: int
    step: int = 0
    row: Affine = field(default_factory=lambda: Affine(0))
    start: int = 0


def rows_of(scope: Scope, b: Buffer, index: Index) -> Rows | None:
    """How an index lies in a tile; None where its lanes are no rows."""
    lanes = {name for name, _ in scope.lanes.axes}
    if not scope.lanes.whole or b.name in scope.held:
        return None
    moving = {name for a in index for name, _ in a.terms if name not in lanes}
    if moving - {name for name, _ in scope.lanes.loops}:
        return None  # with something known at run time
    if b.kind != "block":
        if len(index) != 2 or _step(scope, index[0]) != 1 or index[1].terms:
            return None
        row = Affine(index[0].const, tuple(t for t in index[0].terms if t[0] not in lanes))
        return Rows((row,), index[1].const, row=row)
    if moving:
        return None
    a = flat(b, index)
    step = _step(scope, a)
    if step < 2:
        return None
    first, at = divmod(a.const, step)
    return Rows((first, step), at, step, start=first * step)


def _step(scope: Scope, a: Affine) -> int:
    """How far a lane is from the one before; 0 where that differs."""
    *outer, (inner, extent) = scope.lanes.axes
    step = a.coefficient(inner)
    for name, n in reversed(outer):
        if a.coefficient(name) != step * extent:
            return 0
        extent *= n
    return step


class Tiles:
    """The tiles that a stage has loaded."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._loaded: dict[tuple[object, ...], dict[int, Group]] = {}

    @property
    def _stage(self) -> Stage:
        return self.scope.lanes.stage

    def load(self, out: Lines, node: Node) -> Group | None:
        """The group of a load that lies in a tile; None for others."""
        b = self.scope.kernel.buffer(node.attr[0])
        rows = rows_of(self.scope, b, node.index)
        window = None if rows is None else self._window(b, rows)
        if rows is None or window is None:
            return None
        key = (b.name, rows.line, window)
        if key not in self._loaded:
            self._loaded[key] = self._load(out, b, rows, *window)
        return self._loaded[key][rows.at - window[0]]

    def _reads(self, b: Buffer, line: tuple[object, ...]) -> list[tuple[int, Node]]:
        """The loads from a tile, with their positions in its rows."""
        found = []
        for n in self._stage.nodes():
            if n.op is Op.LOAD and n.attr[0] == b.name:
                rows = rows_of(self.scope, b, n.index)
                if rows is not None and rows.line == line:
                    found.append((rows.at, n))
        return found

    def _window(self, b: Buffer, rows: Rows) -> tuple[int, int] | None:
        """First column and number of columns of the tile that has these rows' elements; None if
        there can be none: one for all loads, or else several beside each other."""
        at = sorted({a for a, _ in self._reads(b, rows.line)})
        lanes = self.scope.lanes
        width = self.scope.ranges.dtype(b.name).bits
        if b.kind != "block":
            lo, hi = b.shape[1]
        else:  # the last row may end where the block does
            first_of_last = rows.start + (lanes.count - 1) * rows.step
            lo, hi = 0, min(rows.step, b.size - first_of_last)
        fit = [
            cols
            for cols in (64 // width, 128 // width)
            if can_transpose(lanes.items * lanes.count, cols, width) and cols <= hi - lo
        ]
        for cols in fit:
            first = min(at[0], hi - cols)
            if at[-1] < first + cols:
                return first, cols
        return next(filter(None, (_one_of(at, rows.at, cols, hi) for cols in fit[::-1])), None)

    def _load(self, out: Lines, b: Buffer, rows: Rows, first: int, cols: int) -> dict[int, Group]:
        """All rows of a tile, transposed: column -> group."""
        scope = self.scope
        dtype = scope.ranges.dtype(b.name)
        sign, bits = "s" if dtype.signed else "u", cols * dtype.bits
        q = "q" if bits == 128 else ""
        regs = []
        for n in range(scope.items * scope.lanes.count):
            item, lane = divmod(n, scope.lanes.count)
            if b.kind != "block":
                row = Affine(rows.row.const + lane, rows.row.terms)
                at = scope.element(b, Place(item, (row, Affine(first))))
            else:
                start = rows.start + lane * rows.step + first
                at = f"{scope.pointer(b.name, item)}[{start}]"
            text = f"vld1{q}_{suffix(sign, dtype.bits)}(&{at})"
            text = cast(text, (sign, dtype.bits), ("u", dtype.bits), bits)
            regs.append(out.let(f"row{n}", "u", dtype.bits, bits, text))
        named = {at: n.name for at, n in self._reads(b, rows.line) if n.name}
        names = [named.get(first + c, f"col{c}") for c in range(cols)]
        columns = transpose(out, regs, cols, dtype.bits, names, target=scope.shape.target)
        return {n: Group(tuple(c), dtype.bits, "u") for n, c in enumerate(columns)}


def _one_of(at: list[int], wanted: int, cols: int, end: int) -> tuple[int, int] | None:
    """Of tiles of so many columns beside each other the one with the wanted column; None where one
    would be read for fewer than half its columns."""
    found, left = None, at
    while left:
        first = min(left[0], end - cols)
        inside = [a for a in left if a < first + cols]
        if 2 * len(inside) < cols:
            return None
        if wanted in inside:
            found = first, cols
        left = left[len(inside) :]
    return found


def store_groups(scope: Scope, among: Collection[int] | None = None) -> list[tuple[int, ...]]:
    """The numbers of the stage's stores, or of some, those that one tile writes together in one
    tuple."""
    tiles, groups = _by_tile(scope, among)
    for (name, _), members in tiles.items():
        groups += _runs(scope, scope.ranges.dtype(name).bits, members)
    return groups


def of_one_tile(scope: Scope, number: int) -> tuple[int, ...]:
    """All stores that go into the tile of one, that one too; it alone, if it goes into none."""
    tiles, _ = _by_tile(scope, None)
    found = (m for m in tiles.values() if number in m.values())
    return tuple(sorted(next(found, {0: number}).values()))


def _by_tile(
    scope: Scope, among: Collection[int] | None
) -> tuple[dict[tuple[str, tuple[object, ...]], dict[int, int]], list[tuple[int, ...]]]:
    """The stores of each tile, by their columns; and the others, each alone."""
    tiles: dict[tuple[str, tuple[object, ...]], dict[int, int]] = {}
    others: list[tuple[int, ...]] = []
    for n, s in enumerate(scope.lanes.stage.stores):
        if among is not None and n not in among:
            continue
        rows = rows_of(scope, scope.kernel.buffer(s.buffer), s.index)
        if rows is not None and n not in scope.alone:
            tiles.setdefault((s.buffer, rows.line), {})[rows.at] = n
        else:
            others.append((n,))
    return tiles, others


def _runs(scope: Scope, width: int, at: dict[int, int]) -> list[tuple[int, ...]]:
    """Splits a tile's stores into runs of 8, 4, 2 or 1 adjacent columns.

    What is left behind a run of 8, and would be several, is one of 8 again: some are stored twice.
    """
    left = sorted(at)
    runs: list[tuple[int, ...]] = []
    while left:
        last = [*range(left[-1] - 7, left[-1] + 1)]
        if (
            runs
            and 2 < len(left) < 8
            and len(left) != 4
            and set(last) <= set(at)
            and _woven(scope, 8, width)
        ):
            runs.append(tuple(at[c] for c in last))
            break
        for k in (8, 4, 2, 1):
            run = left[:k]
            adjacent = len(run) == k and run == list(range(run[0], run[0] + k))
            if adjacent and (k == 1 or _woven(scope, k, width)):
                runs.append(tuple(at[c] for c in run))
                left = left[k:]
                break
    return runs


def _woven(scope: Scope, k: int, width: int) -> bool:
    """Whether k columns can be woven into rows that one instruction stores."""
    lanes = scope.items * scope.lanes.count
    if k * width in (64, 128) and lanes == k:
        return can_transpose(k, k, width)
    most = 8 if lanes * width == 128 else 4
    return 1 < k <= most and k * width <= 64 and lanes * width >= 64


def store_rows(scope: Scope, out: Lines, stores: list[Store], values: list[Group]) -> None:
    """Weaves adjacent columns into rows and stores each with one instruction."""
    b = scope.kernel.buffer(stores[0].buffer)
    dtype = scope.ranges.dtype(b.name)
    width, k = dtype.bits, len(stores)
    unsigned = DType("", width, False)
    columns = [[scope.typed(g, r, unsigned) for r in range(len(g.names))] for g in values]
    places = [p for p in scope.lanes.places(stores[0].index) if p is not None]
    if len(places) == k and k * width in (64, 128):
        names = [f"row{n}" for n in range(k)]
        rows = transpose(out, [c[0] for c in columns], k, width, names, target=scope.shape.target)
        t = f"{'q' if k * width == 128 else ''}_u{width}"
        for place, row in zip(places, rows, strict=True):
            where = f"&{scope.element(b, place)}"
            pointer = f"(uint{width}_t *){where}" if dtype.signed else where
            out.lines.append(f"vst1{t}({pointer}, {row[0]});")
        return
    regs, bits = interleave(out, columns, len(places), width)
    w = k * width
    per = bits // w
    for lane, place in enumerate(places):
        reg = cast(regs[lane // per], ("u", width), ("u", w), bits)
        value = f"vget{'q' if bits == 128 else ''}_lane_u{w}({reg}, {lane % per})"
        out.lines.append(f"*(daedalus_any_u{w} *)&{scope.element(b, place)} = {value};")
