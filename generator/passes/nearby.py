# SPDX-License-Identifier: BSD-2-Clause
"""Places that differ by lane are made relative to one that all lanes share.

What decides a place, in memory or in a table, is divided into what is the same on all lanes and
what differs; of the latter little is left where lanes lie near one another:

    (u + v) >> n      (u >> n) + ((u mod 2**n) + v >> n)
    (u + v) mod 2**n  ((u mod 2**n) + v) mod 2**n

An element of a buffer is then found in the few that lie about the shared place. An entry of a
table's column, with v the row inside a band of rows that u chooses, is one of a row of another
table, which has a row for each band of each column:

    table[u * k + v][c]  =  turned[c * bands + u][v], with v in 0..k-1

Variants stand in one file, and in each the bands may be of other sizes: their tables then have
names of their own.
"""

from dataclasses import dataclass, field, replace

from daedalus.dsl.along import differing
from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.errors import VerifyError
from daedalus.dsl.ir import Affine, DType, Kernel, Node, Op, Stage, Table, walk
from daedalus.dsl.ranges import Ranges
from daedalus.dsl.verify import check_places

_USUAL = 16  # rows of a band that a name need not say: interpolation at sixteenths has so many


def place_nearby(kernel: Kernel) -> Kernel:
    """`kernel` whose lanes are found beside one another, where that can be shown to stay inside
    buffers. Stages have their vectors' axes already."""
    if not any(_by_lane(n, _moving(s)) for s in kernel.stages for n in s.nodes()):
        return kernel
    tables = {t.name: t for t in kernel.tables}
    ranges = Ranges(kernel)
    stages = tuple(_Stage(s, ranges, tables).made() for s in kernel.stages)
    made = replace(kernel, stages=stages, tables=tuple(tables.values()))
    try:
        check_places(made, "nearby")
    except VerifyError:
        return kernel
    return made


def _moving(stage: Stage) -> set[Node]:
    """The values that differ between lanes of a vector."""
    return differing(stage, {name for name, _ in stage.dims[len(stage.dims) - stage.vector :]})


def _by_lane(node: Node, moving: set[Node]) -> bool:
    """Whether each lane has a place of its own, which values decide."""
    return node.op in (Op.LOAD, Op.TABLE) and any(a in moving for a in node.args)


@dataclass(frozen=True)
class _Parts:
    """A value as a sum: of what all lanes share, of a constant, and of what differs."""

    shared: Node | None
    const: int
    own: Node | None


@dataclass
class _Stage:
    """A stage as it is rebuilt; `tables` gets those that are turned.

    moving  values that differ between lanes, as they were
    new     what became of a node
    parts   of what decides a place, in new nodes
    """

    stage: Stage
    ranges: Ranges
    tables: dict[str, Table]
    new: dict[Node, Node] = field(default_factory=dict)
    parts: dict[Node, _Parts] = field(default_factory=dict)

    def made(self) -> Stage:
        self.moving = _moving(self.stage)
        self.b = Builder(self.tables)
        return rewrite_stage(self.stage, self.b, self._change)

    def _change(self, node: Node, args: tuple[Node, ...]) -> Node | None:
        self.new.update(zip(node.args, args, strict=True))
        if not _by_lane(node, self.moving):
            return None
        return self._load(node, args) if node.op is Op.LOAD else self._entry(node, args)

    def _load(self, node: Node, args: tuple[Node, ...]) -> Node:
        """A LOAD whose arguments that differ by lane are divided."""
        own, shared = list(args), list[Node]()
        index = node.index
        for k, x in enumerate(node.args):
            if x not in self.moving:
                continue
            p = self._divided(x)
            if p.own is None:
                continue
            own[k] = p.own
            extra = f"#{len(args) + len(shared)}"
            if p.shared is not None:
                shared.append(p.shared)
            index = tuple(
                Affine(
                    a.const + a.coefficient(f"#{k}") * p.const,
                    a.terms + (((extra, a.coefficient(f"#{k}")),) if p.shared is not None else ()),
                )
                if a.coefficient(f"#{k}")
                else a
                for a in index
            )
        attr = (node.attr[0], index)
        return self.b.make(Op.LOAD, (*own, *shared), attr, node.loc, node.name)

    def _entry(self, node: Node, args: tuple[Node, ...]) -> Node | None:
        """An entry of a column, as one of a row of the turned table; None where it stays."""
        table = self.tables[node.attr[0]]
        if table.vector or node.args[0] not in self.moving or node.args[1].op is not Op.CONST:
            return None
        p = self._divided(node.args[0])
        column, found = node.args[1].value, self._band(p, node)
        if p.own is None or found is None or not 0 <= column < len(table.rows[0]):
            return None
        band, number = found
        bands = len(table.rows) // band
        inside = self._below(p.own, band) and self._below(number, bands)
        if len(table.rows) % band or not inside:
            return None
        turned = _turned(table, band)
        if self.tables.setdefault(turned.name, turned) != turned:
            return None
        row = self.b.make(Op.ADD, (number, self.b.const(column * bands, node.loc)), (), node.loc)
        return self.b.make(Op.TABLE, (row, p.own), (turned.name,), node.loc, node.name)

    def _band(self, p: _Parts, node: Node) -> tuple[int, Node] | None:
        """Rows of a band, and its number, where lanes choose in one that they share."""
        if p.own is None:
            return None
        if p.shared is None and p.own.op is Op.WRAP:
            band = 1 << p.own.attr[0].bits
            first = self.b.const(p.const // band, node.loc)
            return None if p.const % band else (band, first)
        if p.shared is None or p.const or p.shared.op is not Op.MUL:
            return None
        number, by = p.shared.args
        return (by.value, number) if by.op is Op.CONST else None

    def _below(self, node: Node, end: int) -> bool:
        """Whether a rebuilt value is known to be in 0..end-1."""
        if node.op is Op.CONST:
            return 0 <= node.value < end
        if node.op is Op.WRAP:
            return not node.attr[0].signed and node.attr[0].hi < end
        return any(new is node and self.ranges.of(x).within(0, end - 1)
                   for x, new in self.new.items())  # fmt: skip

    # ------------------------------------------------------------------ dividing

    def _divided(self, x: Node) -> _Parts:
        """The parts of a value that decides a place."""
        if x not in self.parts:
            self.parts[x] = self._parts(x)
        return self.parts[x]

    def _parts(self, x: Node) -> _Parts:
        new = self._rebuilt(x)
        if x.op is Op.CONST:
            return _Parts(None, x.value, None)
        if x not in self.moving:
            return _Parts(new, 0, None)
        match x.op:
            case Op.ADD:
                a, c = map(self._divided, x.args)
                return _Parts(self._sum(a.shared, c.shared), a.const + c.const,
                              self._sum(a.own, c.own))  # fmt: skip
            case Op.MUL if x.args[1] not in self.moving:
                return self._times(self._divided(x.args[0]), self._rebuilt(x.args[1]))
            case Op.MUL if x.args[0] not in self.moving:
                return self._times(self._divided(x.args[1]), self._rebuilt(x.args[0]))
            case Op.SHR:
                return self._shifted(x, int(x.attr[0]))
            case Op.WRAP if not x.attr[0].signed:
                own = self._behind(self._divided(x.args[0]), x.attr[0].bits)
                return _Parts(None, 0, own and self.b.make(Op.WRAP, (own,), x.attr, x.loc, x.name))
        return _Parts(None, 0, new)

    def _shifted(self, x: Node, n: int) -> _Parts:
        inner = self._divided(x.args[0])
        whole = self._whole(inner)
        own = self._behind(inner, n)
        if own is None:
            return _Parts(None, 0, self._rebuilt(x))
        shared = whole and self.b.make(Op.SHR, (whole,), (n,), x.loc)
        return _Parts(shared, 0, self.b.make(Op.SHR, (own,), (n,), x.loc, x.name))

    def _behind(self, p: _Parts, bits: int) -> Node | None:
        """What lanes have of a value where all that they share has so many bits at most."""
        whole = self._whole(p)
        if p.own is None or whole is None:
            return p.own
        low = self.b.make(Op.WRAP, (whole,), (DType(f"u{bits}", bits, False),), whole.loc)
        return self._sum(low, p.own)

    def _whole(self, p: _Parts) -> Node | None:
        """What all lanes share, the constant with it."""
        at = p.shared or p.own
        if not p.const or at is None:
            return p.shared
        return self._sum(p.shared, self.b.const(p.const, at.loc))

    def _times(self, p: _Parts, by: Node) -> _Parts:
        def times(x: Node | None) -> Node | None:
            return x and self.b.make(Op.MUL, (x, by), (), by.loc)

        whole = self._whole(p)
        if by.op is Op.CONST:
            return _Parts(times(p.shared), p.const * by.value, times(p.own))
        return _Parts(times(whole), 0, times(p.own))

    def _sum(self, a: Node | None, b: Node | None) -> Node | None:
        if a is None or b is None:
            return a or b
        return self.b.make(Op.ADD, (a, b), (), a.loc)

    def _rebuilt(self, x: Node) -> Node:
        """The value as it stands in the rebuilt stage."""
        for n in walk((x,)):
            if n not in self.new:
                args = tuple(self.new[a] for a in n.args)
                self.new[n] = (
                    self.b.const(n.value, n.loc)
                    if n.op is Op.CONST
                    else self.b.make(n.op, args, n.attr, n.loc, n.name)
                )
        return self.new[x]


def _turned(table: Table, band: int) -> Table:
    """The table with a row for each band of rows of each column, columns one after the other."""
    rows = tuple(
        tuple(row[column] for row in table.rows[first : first + band])
        for column in range(len(table.rows[0]))
        for first in range(0, len(table.rows), band)
    )
    of_other = "" if band == _USUAL else f"_of_{band}"
    return replace(table, name=f"{table.name}_by_column{of_other}", rows=rows)
