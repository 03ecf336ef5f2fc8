# SPDX-License-Identifier: BSD-2-Clause
"""Temps kept in registers: as the reader wants them, or transposed between two stages."""

from dataclasses import dataclass, field

from daedalus.dsl.ir import Buffer, DType, Index, Kernel, Node, Op, Stage, Store
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.neon.lanes import Lanes
from daedalus.generator.targets.neon.strips import Walk
from daedalus.generator.targets.neon.target import Target
from daedalus.generator.targets.neon.vectors import (
    Group,
    Lines,
    Shape,
    can_transpose,
    cast,
    transpose,
)


@dataclass
class _Temp:
    """Where a temp's values are: registers by fixed position."""

    method: str  # "same" or "transposed"
    writer: Stage
    groups: dict[int, Group] = field(default_factory=dict)
    columns: dict[int, Group] = field(default_factory=dict)


def _fixed(index: Index) -> tuple[int, int] | None:
    """(lane axis, constant of the other axis) of an index into a 2D temp."""
    if len(index) != 2 or any(name.startswith("#") for a in index for name, _ in a.terms):
        return None
    for axis in (0, 1):
        lane, other = index[axis], index[1 - axis]
        if len(lane.terms) == 1 and lane.terms[0][1] == 1 and not lane.const and not other.terms:
            return axis, other.const
    return None


class RegisterTemps:
    """The temps of a kernel that need no memory."""

    def __init__(
        self, kernel: Kernel, ranges: Ranges, walks: tuple[Walk, ...], target: Target
    ) -> None:
        self.ranges, self._walks, self._target = ranges, walks, target
        self.items = kernel.items_per_vector
        self._temps: dict[str, _Temp] = {}
        for t in kernel.temps:
            found = self._method(t) if t.init is None else None
            if found is not None:
                self._temps[t.name] = found

    def __contains__(self, name: str) -> bool:
        return name in self._temps

    def _method(self, t: Buffer) -> _Temp | None:
        """How a temp can be kept: in registers only if every use has one of two simple shapes."""
        writers: list[tuple[Stage, Store]] = []
        readers: list[tuple[Stage, Node]] = []
        for w in self._walks:
            writes = [(w.vector, s) for s in w.vector.stores if s.buffer == t.name]
            reads = [
                (w.vector, n) for n in w.vector.nodes() if n.op is Op.LOAD and n.attr[0] == t.name
            ]
            lanes = Lanes(w.vector, 1)
            if any(s.combine or s.mask is not None for _, s in writes):
                return None
            if (writes or reads) and not (w.plain and lanes.single and lanes.whole):
                return None
            writers, readers = writers + writes, readers + reads
        wrote = {(_fixed(s.index) or (None,))[0] for _, s in writers}
        read = {(_fixed(n.index) or (None,))[0] for _, n in readers}
        if None in wrote | read or len(wrote) != 1 or len(read) != 1:
            return None
        from_, to = writers[0][0], readers[0][0]
        if wrote == read:
            same = all(st.lanes == from_.lanes for st, _ in (*writers, *readers))
            return _Temp("same", from_) if same else None
        if len({id(st) for st, _ in writers}) != 1:
            return None
        width = self.ranges.dtype(t.name).bits
        columns = {(_fixed(s.index) or (0, 0))[1] for _, s in writers}
        full = columns == set(range(to.lanes)) and all(st.lanes == to.lanes for st, _ in readers)
        if full and self._transposable(from_.lanes, to.lanes, width):
            return _Temp("transposed", from_)
        return None

    def _transposable(self, rows: int, cols: int, width: int) -> bool:
        """Registers of one item each, or several items' squares beside one another."""
        if self._squares(rows, cols, width):
            return True
        apart = (64, 128) if self.items == 1 else (128,)
        return rows * width in apart and cols * width in apart and can_transpose(cols, rows, width)

    def _squares(self, rows: int, cols: int, width: int) -> bool:
        """One register holds the same row of all items, and each item's part is square."""
        return self.items > 1 and rows == cols and self.items * rows * width == 128

    def rows(self, name: str) -> dict[int, Group]:
        """What is held of a temp, by its fixed position; empty where it is held transposed."""
        temp = self._temps[name]
        return temp.groups if temp.method == "same" else {}

    def write(self, s: Store, value: Group) -> None:
        where = _fixed(s.index)
        assert where is not None
        self._temps[s.buffer].groups[where[1]] = value

    def read(self, out: Lines, node: Node, stage: Stage) -> Group:
        temp = self._temps[node.attr[0]]
        where = _fixed(node.index)
        assert where is not None
        if temp.method == "same":
            return temp.groups[where[1]]
        if not temp.columns:
            self._transpose(out, node.attr[0], temp, stage)
        return temp.columns[where[1]]

    def _transpose(self, out: Lines, name: str, temp: _Temp, stage: Stage) -> None:
        width = self.ranges.dtype(name).bits
        unsigned = DType("", width, False)
        readers = sorted(
            (n for n in stage.nodes() if n.op is Op.LOAD and n.attr[0] == name),
            key=lambda n: n.seq,
        )
        names = {(_fixed(n.index) or (0, 0))[1]: n.name or f"t{n.seq}" for n in readers}
        cols = temp.writer.lanes
        order = sorted(temp.groups)
        squares = self._squares(len(order), cols, width)
        for part in range(1 if squares else self.items):
            rows = []
            for c in order:
                g = temp.groups[c]
                bits = 128 if self.items > 1 else Shape(cols).bits(g.width)
                rows.append(cast(g.names[part], (g.sign, g.width), ("u", g.width), bits))
            tag = f"_{part}" if self.items > 1 and not squares else ""
            got = transpose(
                out, rows, cols, unsigned.bits,
                [f"{names.get(c, f'c{c}')}{tag}" for c in range(cols)],
                side_by_side=self.items if squares else 1, target=self._target,
            )  # fmt: skip
            for c, regs in enumerate(got):
                before = temp.columns.get(c)
                all_regs = (before.names if before else ()) + tuple(regs)
                temp.columns[c] = Group(all_regs, width, "u")
