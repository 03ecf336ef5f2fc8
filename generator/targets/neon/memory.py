# SPDX-License-Identifier: BSD-2-Clause
"""Vectors from and to memory, and temps between stages.

A load whose lanes are adjacent elements is a vector load. One whose lanes lie a row apart is taken
from a tile: rows are loaded whole and transposed. Anything else goes element by element, which is
always right. Stores mirror this. A temp lives in registers where its reader wants exactly what the
writer has, as it is or transposed; else in a small array.
"""

from dataclasses import dataclass, field

from daedalus.dsl.build import fix_lanes
from daedalus.dsl.ir import (
    Affine,
    Buffer,
    DType,
    Index,
    Kernel,
    Node,
    Op,
    Stage,
    Store,
)
from daedalus.dsl.ranges import Ranges
from daedalus.dsl.verify import flat_index
from daedalus.generator.targets.c.emit import access, flat
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.neon.vectors import (
    Group,
    Lines,
    Shape,
    can_transpose,
    cast,
    combine,
    interleave,
    suffix,
    transpose,
)  # fmt: skip


def padded_lanes(stage: Stage) -> int:
    """Lanes of an item in a vector: a power of two, at least 4."""
    n = 4
    while n < stage.lanes:
        n *= 2
    return n


@dataclass(frozen=True)
class Pattern:
    """How an index moves with the stage's lane: a step in elements, or from row to row.

    unit   lanes are adjacent elements
    row    lanes are rows (of a plane), or `row_step` elements apart (in a block)
    """

    kind: str  # "unit", "row" or "other"
    line: tuple[int, ...] = ()  # what loads of one tile have in common
    at: int = 0  # the position inside the tile's rows
    row_step: int = 0


@dataclass
class _Temp:
    """Where a temp's values are: registers by fixed position, or an array."""

    method: str  # "same", "transposed" or "array"
    groups: dict[int, Group] = field(default_factory=dict)
    columns: dict[int, Group] = field(default_factory=dict)


class Memory:
    """Loads and stores of a body; one instance for all its stages."""

    def __init__(self, kernel: Kernel, ranges: Ranges, names: Names) -> None:
        self.kernel, self.ranges, self.names = kernel, ranges, names
        self.items = kernel.items_per_vector
        self._temps = {t.name: _Temp(self._method(t)) for t in kernel.temps}
        self._tiles: dict[tuple[str, tuple[int, ...]], dict[int, Group]] = {}
        self._loaded: dict[Node, Group] = {}
        self.stage: Stage  # the one that was entered
        self.shape = Shape(0)

    def enter(self, stage: Stage, shape: Shape) -> None:
        """Starts a stage."""
        self.stage, self.shape = stage, shape
        self._tiles, self._loaded = {}, {}

    def declarations(self) -> list[str]:
        """Arrays for the temps that need one."""
        out = []
        for t in self.kernel.temps:
            if self._temps[t.name].method == "array":
                dims = "".join(f"[{n}]" for n in t.extents)
                many = f"[{self.items}]" if self.items > 1 else ""
                out.append(f"{self.ranges.dtype(t.name).c} {t.name}{many}{dims};")
        return out

    def pointer(self, b: Buffer, item: int) -> str:
        """C text of an item's buffer."""
        return f"{b.name}[{item}]" if self.items > 1 else b.name

    # ------------------------------------------------------------------ patterns

    def _pattern(self, b: Buffer, index: Index, stage: Stage) -> Pattern:
        lane = stage.dims[0][0]
        if b.kind == "plane":
            row, col = index
            by_row, by_col = row.coefficient(lane), col.coefficient(lane)
            if (by_row, by_col) == (0, 1):
                return Pattern("unit")
            if (by_row, by_col) == (1, 0):
                return Pattern("row", (row.const,), col.const)
            return Pattern("other")
        a = flat(b, index)
        step = a.coefficient(lane)
        if step == 1:
            return Pattern("unit")
        if step > 1:
            return Pattern("row", (a.const // step, step), a.const % step, step)
        return Pattern("other")

    def _tile_window(
        self, b: Buffer, line: tuple[int, ...], stage: Stage
    ) -> tuple[int, int] | None:
        """First column and number of columns that a tile's loads need; None if it cannot be one."""
        if stage.lanes != padded_lanes(stage):
            return None
        at = [
            p.at
            for n in stage.nodes()
            if n.op is Op.LOAD and n.attr[0] == b.name
            for p in [self._pattern(b, n.index, stage)]
            if p.kind == "row" and p.line == line
        ]
        width = self.ranges.dtype(b.name).bits
        if b.kind == "plane":
            lo, hi = b.shape[1]
        else:  # the last row may end where the block does
            first_of_last = (line[0] + stage.lanes - 1) * line[1]
            lo, hi = 0, min(line[1], b.size - first_of_last)
        for cols in (64 // width, 128 // width):
            first = min(min(at), hi - cols)
            if (
                first >= lo
                and max(at) < first + cols
                and can_transpose(self.items * stage.lanes, cols, width)
            ):
                return first, cols
        return None

    # ------------------------------------------------------------------ loads

    def load(self, out: Lines, node: Node, width: int) -> Group:
        """The group of a load, read when first wanted."""
        if node not in self._loaded:
            self._loaded[node] = self._load(out, node, width)
        return self._loaded[node]

    def _load(self, out: Lines, node: Node, width: int) -> Group:
        b = self.kernel.buffer(node.attr[0])
        dtype = self.ranges.dtype(b.name)
        sign = "s" if dtype.signed else "u"
        wanted = node.name or f"t{node.seq}"
        if b.kind == "temp" and self._temps[b.name].method != "array":
            return self._from_registers(out, b, node, wanted)
        pattern = self._pattern(b, node.index, self.stage)
        if pattern.kind == "unit" and self._whole(width):
            return self._vector_load(out, b, node.index, width, sign, wanted)
        if pattern.kind == "row" and b.kind != "temp":
            window = self._tile_window(b, pattern.line, self.stage)
            if window is not None:
                return self._from_tile(out, b, pattern, window, dtype, node)
        return self._elements(out, b, node.index, dtype, wanted)

    def _whole(self, width: int) -> bool:
        """Every item fills registers, or the half of one, completely."""
        return self.stage.lanes == padded_lanes(self.stage) and self.stage.lanes * width % 64 == 0

    def _address(self, b: Buffer, index: Index, item: int, lane: int) -> str:
        """C text of the address of a lane's element."""
        at = fix_lanes(index, {self.stage.dims[0][0]: lane})
        return f"&{access(b, at, self.pointer(b, item))}"

    def _vector_load(
        self, out: Lines, b: Buffer, index: Index, width: int, sign: str, wanted: str
    ) -> Group:
        bits, per = self.shape.bits(width), self.shape.per_register(width)
        lanes = self.stage.lanes
        names = []
        for r in range(self.shape.count(width)):
            first = r * per
            item, lane = divmod(first, lanes)
            if per <= lanes:
                q = "q" if bits == 128 else ""
                text = f"vld1{q}_{suffix(sign, width)}({self._address(b, index, item, lane)})"
            else:  # two items in one register
                halves = [
                    f"vld1_{suffix(sign, width)}({self._address(b, index, item + k, 0)})"
                    for k in range(2)
                ]
                text = combine(halves[0], halves[1], sign, width)
            name = f"{wanted}_{r}" if self.shape.count(width) > 1 else wanted
            names.append(out.let(name, sign, width, bits, text))
        return Group(tuple(names), width, sign)

    def _elements(self, out: Lines, b: Buffer, index: Index, dtype: DType, wanted: str) -> Group:
        """Element by element through a small array; padding lanes are zero."""
        width, sign = dtype.bits, "s" if dtype.signed else "u"
        bits, per = self.shape.bits(width), self.shape.per_register(width)
        padded = padded_lanes(self.stage)
        names = []
        for r in range(self.shape.count(width)):
            entries = []
            for n in range(r * per, r * per + per):
                item, lane = divmod(n, padded)
                inside = item < self.items and lane < self.stage.lanes
                entries.append(self._address(b, index, item, lane)[1:] if inside else "0")
            entries += ["0"] * (bits // width - per)
            array = self.names.fresh(f"{wanted}_lanes")
            out.lines.append(f"const {dtype.c} {array}[{len(entries)}] = {{{', '.join(entries)}}};")
            q = "q" if bits == 128 else ""
            name = f"{wanted}_{r}" if self.shape.count(width) > 1 else wanted
            names.append(
                out.let(name, sign, width, bits, f"vld1{q}_{suffix(sign, width)}({array})")
            )
        return Group(tuple(names), width, sign)

    def _from_tile(
        self, out: Lines, b: Buffer, p: Pattern, window: tuple[int, int], dtype: DType, node: Node
    ) -> Group:
        key = (b.name, p.line)
        first, cols = window
        if key not in self._tiles:
            self._tiles[key] = self._load_tile(out, b, p, first, cols, dtype)
        return self._tiles[key][p.at - first]

    def _load_tile(
        self, out: Lines, b: Buffer, p: Pattern, first: int, cols: int, dtype: DType
    ) -> dict[int, Group]:
        """All rows of a tile, transposed: column -> group."""
        bits = cols * dtype.bits
        q = "q" if bits == 128 else ""
        rows = []
        for n in range(self.items * self.stage.lanes):
            item, lane = divmod(n, self.stage.lanes)
            if b.kind == "plane":
                at = access(b, (Affine(p.line[0] + lane), Affine(first)), self.pointer(b, item))
            else:
                start = (p.line[0] + lane) * p.row_step + first
                at = f"{self.pointer(b, item)}[{start}]"
            text = f"vld1{q}_{suffix('s' if dtype.signed else 'u', dtype.bits)}(&{at})"
            text = cast(text, ("s" if dtype.signed else "u", dtype.bits), ("u", dtype.bits), bits)
            rows.append(out.let(f"row{n}", "u", dtype.bits, bits, text))
        columns = transpose(out, rows, cols, dtype.bits, self._column_names(b, p, first, cols))
        return {n: Group(tuple(c), dtype.bits, "u") for n, c in enumerate(columns)}

    def _column_names(self, b: Buffer, p: Pattern, first: int, cols: int) -> list[str]:
        """The author's names for the columns, where loads have some."""
        names = {
            q.at: n.name
            for n in self.stage.nodes()
            if n.op is Op.LOAD and n.attr[0] == b.name and n.name
            for q in [self._pattern(b, n.index, self.stage)]
            if q.kind == "row" and q.line == p.line
        }
        return [names.get(first + c, f"col{c}") for c in range(cols)]

    # ------------------------------------------------------------------ stores

    def store_groups(self, stage: Stage) -> list[tuple[int, ...]]:
        """The stage's stores, those that one tile writes together."""
        tiles: dict[tuple[str, tuple[int, ...]], list[int]] = {}
        groups: list[tuple[int, ...]] = []
        for n, s in enumerate(stage.stores):
            b = self.kernel.buffer(s.buffer)
            p = self._pattern(b, s.index, stage)
            if b.kind != "temp" and p.kind == "row" and stage.lanes == padded_lanes(stage):
                tiles.setdefault((s.buffer, p.line), []).append(n)
            else:
                groups.append((n,))
        for (name, _), members in tiles.items():
            groups += self._runs(self.kernel.buffer(name), stage, members)
        return groups

    def _runs(self, b: Buffer, stage: Stage, members: list[int]) -> list[tuple[int, ...]]:
        """Splits a tile's stores into runs of 8, 4, 2 or 1 adjacent columns."""
        at = {self._pattern(b, stage.stores[n].index, stage).at: n for n in members}
        width = self.ranges.dtype(b.name).bits
        left, runs = sorted(at), []
        while left:
            for k in (8, 4, 2, 1):
                run = left[:k]
                adjacent = len(run) == k and run == list(range(run[0], run[0] + k))
                if adjacent and (k == 1 or self._row_store(stage, k, width)):
                    runs.append(tuple(at[c] for c in run))
                    left = left[k:]
                    break
        return runs

    def _row_store(self, stage: Stage, k: int, width: int) -> bool:
        """Whether k columns can be woven into rows that one instruction stores."""
        lanes = self.items * stage.lanes
        if k * width in (64, 128) and lanes == k and k * width == lanes * width:
            return can_transpose(k, k, width)
        return k in (2, 4) and k * width <= 64 and lanes * width >= 64

    def overlaps(self, stage: Stage, load: Node, stores: list[Store]) -> bool:
        """Whether a load, or the tile it comes from, touches what is stored."""
        name = load.attr[0]
        b = self.kernel.buffer(name)
        if b.kind == "temp" and self._temps[name].method != "array":
            return False
        read = set(flat_index(b, load.index, stage).tolist())
        p = self._pattern(b, load.index, stage)
        same_tile = [
            s
            for s in stores
            if s.buffer == name
            and p.kind == "row"
            and self._pattern(b, s.index, stage).kind == "row"
        ]
        return bool(same_tile) or any(
            s.buffer == name and read & set(flat_index(b, s.index, stage).tolist()) for s in stores
        )

    def store(self, out: Lines, stores: list[Store], values: list[Group]) -> None:
        """Writes values that belong together."""
        b = self.kernel.buffer(stores[0].buffer)
        dtype = self.ranges.dtype(b.name)
        if b.kind == "temp" and self._temps[b.name].method != "array":
            self._into_registers(b, stores[0], values[0])
            return
        if len(stores) > 1:
            self._store_rows(out, b, stores, values, dtype)
            return
        if self._pattern(b, stores[0].index, self.stage).kind == "unit" and self._whole(dtype.bits):
            self._vector_store(out, b, stores[0].index, values[0], dtype)
            return
        self._store_elements(out, b, stores[0].index, values[0], dtype)

    def _as(self, g: Group, r: int, dtype: DType) -> str:
        new = ("s" if dtype.signed else "u", dtype.bits)
        return cast(g.names[r], (g.sign, g.width), new, self.shape.bits(g.width))

    def _vector_store(self, out: Lines, b: Buffer, index: Index, g: Group, dtype: DType) -> None:
        width, per = dtype.bits, self.shape.per_register(dtype.bits)
        t = suffix("s" if dtype.signed else "u", width)
        for r in range(self.shape.count(width)):
            item, lane = divmod(r * per, self.stage.lanes)
            value = self._as(g, r, dtype)
            if per <= self.stage.lanes:
                q = "q" if self.shape.bits(width) == 128 else ""
                out.lines.append(f"vst1{q}_{t}({self._address(b, index, item, lane)}, {value});")
            else:
                for k, half in enumerate(("low", "high")):
                    where = self._address(b, index, item + k, 0)
                    out.lines.append(f"vst1_{t}({where}, vget_{half}_{t}({value}));")

    def _store_elements(self, out: Lines, b: Buffer, index: Index, g: Group, dtype: DType) -> None:
        width, padded = dtype.bits, padded_lanes(self.stage)
        bits, per = self.shape.bits(width), self.shape.per_register(width)
        t = suffix("s" if dtype.signed else "u", width)
        q = "q" if bits == 128 else ""
        for r in range(self.shape.count(width)):
            for n in range(per):
                item, lane = divmod(r * per + n, padded)
                if item < self.items and lane < self.stage.lanes:
                    where = self._address(b, index, item, lane)[1:]
                    out.lines.append(f"{where} = vget{q}_lane_{t}({self._as(g, r, dtype)}, {n});")

    def _store_rows(
        self, out: Lines, b: Buffer, stores: list[Store], values: list[Group], dtype: DType
    ) -> None:
        """Weaves adjacent columns into rows and stores each with one instruction."""
        width, k = dtype.bits, len(stores)
        unsigned = DType("", width, False)
        columns = [[self._as(g, r, unsigned) for r in range(len(g.names))] for g in values]
        lanes = self.items * self.stage.lanes
        if lanes == k and k * width in (64, 128):
            names = [f"row{n}" for n in range(k)]
            rows = transpose(out, [c[0] for c in columns], k, width, names)
            t = f"{'q' if k * width == 128 else ''}_u{width}"
            for lane, row in enumerate(rows):
                item, within = divmod(lane, self.stage.lanes)
                where = self._address(b, stores[0].index, item, within)
                pointer = f"(uint{width}_t *){where}" if dtype.signed else where
                out.lines.append(f"vst1{t}({pointer}, {row[0]});")
            return
        regs, bits = interleave(out, columns, lanes, width)
        w = k * width
        per = bits // w
        for lane in range(lanes):
            item, within = divmod(lane, self.stage.lanes)
            reg = cast(regs[lane // per], ("u", width), ("u", w), bits)
            value = f"vget{'q' if bits == 128 else ''}_lane_u{w}({reg}, {lane % per})"
            where = self._address(b, stores[0].index, item, within)
            out.lines.append(f"*(daedalus_any_u{w} *){where} = {value};")

    # ------------------------------------------------------------------ temps

    def _fixed(self, index: Index) -> tuple[int, int] | None:
        """(lane axis, constant of the other axis) of an index into a 2D temp."""
        if len(index) != 2:
            return None
        for axis in (0, 1):
            lane, other = index[axis], index[1 - axis]
            if (
                len(lane.terms) == 1
                and lane.terms[0][1] == 1
                and not lane.const
                and not other.terms
            ):
                return axis, other.const
        return None

    def _method(self, t: Buffer) -> str:
        """How a temp can be kept: in registers only if every use has one of two simple shapes."""
        writers = [(st, s) for st in self.kernel.stages for s in st.stores if s.buffer == t.name]
        readers = [
            (st, n)
            for st in self.kernel.stages
            for n in st.nodes()
            if n.op is Op.LOAD and n.attr[0] == t.name
        ]
        wrote = {(self._fixed(s.index) or (None,))[0] for _, s in writers}
        read = {(self._fixed(n.index) or (None,))[0] for _, n in readers}
        if None in wrote | read or len(wrote) != 1 or len(read) != 1:
            return "array"
        if len({id(st) for st, _ in writers}) != 1:
            return "array"
        from_, to = writers[0][0], readers[0][0]
        whole = from_.lanes == padded_lanes(from_) and all(
            st.lanes == padded_lanes(st) for st, _ in readers
        )
        width = self.ranges.dtype(t.name).bits
        if wrote == read:
            same = all(st.lanes == from_.lanes for st, _ in readers)
            return "same" if same and whole else "array"
        columns = {(self._fixed(s.index) or (0, 0))[1] for _, s in writers}
        full = columns == set(range(to.lanes)) and all(st.lanes == to.lanes for st, _ in readers)
        fits = self._items_apart(from_.lanes, width) and self._items_apart(to.lanes, width)
        if full and whole and fits and can_transpose(to.lanes, from_.lanes, width):
            return "transposed"
        return "array"

    def _items_apart(self, lanes: int, width: int) -> bool:
        """No register holds lanes of two items, and an item needs just one."""
        return lanes * width in ((64, 128) if self.items == 1 else (128,))

    def _into_registers(self, t: Buffer, s: Store, value: Group) -> None:
        where = self._fixed(s.index)
        assert where is not None
        self._temps[t.name].groups[where[1]] = value

    def _from_registers(self, out: Lines, t: Buffer, node: Node, wanted: str) -> Group:
        temp = self._temps[t.name]
        where = self._fixed(node.index)
        assert where is not None
        if temp.method == "same":
            return temp.groups[where[1]]
        if not temp.columns:
            self._transpose_temp(out, t, temp)
        return temp.columns[where[1]]

    def _transpose_temp(self, out: Lines, t: Buffer, temp: _Temp) -> None:
        dtype = self.ranges.dtype(t.name)
        unsigned = DType("", dtype.bits, False)
        readers = sorted(
            (n for n in self.stage.nodes() if n.op is Op.LOAD and n.attr[0] == t.name),
            key=lambda n: n.seq,
        )
        names = {(self._fixed(n.index) or (0, 0))[1]: n.name or f"t{n.seq}" for n in readers}
        order = sorted(temp.groups)
        for item in range(self.items):
            rows = []
            for c in order:
                g = temp.groups[c]
                bits = 128 if self.items > 1 else Shape(_writer_lanes(self.kernel, t)).bits(g.width)
                rows.append(cast(g.names[item], (g.sign, g.width), ("u", g.width), bits))
            cols = _writer_lanes(self.kernel, t)
            tag = f"_{item}" if self.items > 1 else ""
            got = transpose(
                out,
                rows,
                cols,
                unsigned.bits,
                [f"{names.get(c, f'c{c}')}{tag}" for c in range(cols)],
            )
            for c, regs in enumerate(got):
                before = temp.columns.get(c)
                all_regs = (before.names if before else ()) + tuple(regs)
                temp.columns[c] = Group(all_regs, dtype.bits, "u")


def _writer_lanes(kernel: Kernel, t: Buffer) -> int:
    """Lanes of the stage that writes a temp."""
    return next(st.lanes for st in kernel.stages for s in st.stores if s.buffer == t.name)
