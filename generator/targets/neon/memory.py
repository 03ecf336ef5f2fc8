# SPDX-License-Identifier: BSD-2-Clause
"""Loads and stores of a body: which of the ways in moves.py, pieces.py, words.py, tiles.py and
temps.py each takes.

Rows of a plane, or lanes a step apart in a block, come from tiles. A temp lives in registers where
its reader wants exactly what the writer has, as it is or transposed; else in a small array.
Elements of several stores that alternate in memory are stored by one interleaving instruction.
"""

from collections.abc import Collection

from daedalus.dsl.ir import Buffer, Kernel, Node, Op, Store
from daedalus.dsl.ranges import Ranges
from daedalus.dsl.verify import flat_index
from daedalus.generator.targets.c.emit import filled
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.neon import moves, pieces, tiles
from daedalus.generator.targets.neon.conditions import lane_conditions, whole
from daedalus.generator.targets.neon.merges import merge
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.strips import Walk
from daedalus.generator.targets.neon.target import Target
from daedalus.generator.targets.neon.temps import RegisterTemps
from daedalus.generator.targets.neon.vectors import Group, Lines, suffix
from daedalus.generator.targets.neon.words import Words


class Memory:
    """Loads and stores of a body; one instance for all its stages."""

    def __init__(
        self, kernel: Kernel, ranges: Ranges, walks: tuple[Walk, ...], target: Target
    ) -> None:
        self.kernel, self.ranges = kernel, ranges
        self.temps = RegisterTemps(kernel, ranges, walks, target)
        self.held = frozenset(t.name for t in kernel.temps if t.name in self.temps)
        self.scope: Scope  # of the stage that was entered

    def enter(self, scope: Scope) -> None:
        """Starts a stage."""
        self.scope = scope
        self._tiles, self._words = tiles.Tiles(scope), Words(scope)
        self._loaded: dict[Node, Group] = {}
        self._in_turn: set[Store] = set()  # the first of those that alternate
        loads = {n.attr[0] for n in scope.lanes.stage.nodes() if n.op is Op.LOAD}
        arrays = [t.name for t in self.kernel.temps if t.name not in self.temps]
        # A loop of lanes has been made to hold what it computes in registers, in its order.
        self._arrays = [] if scope.lanes.stage.loops else [a for a in arrays if a in loads]

    def declarations(self, names: Names) -> list[str]:
        """Arrays for the temps that need one, with their first values."""
        out = []
        items = self.kernel.items_per_vector
        for t in self.kernel.temps:
            if t.name not in self.temps:
                dims = "".join(f"[{n}]" for n in t.extents)
                many = f"[{items}]" if items > 1 else ""
                out.append(f"{self.ranges.dtype(t.name).c} {t.name}{many}{dims};")
                if t.init is not None:
                    extents = (*([items] if items > 1 else []), *t.extents)
                    out += filled(t.name, extents, t.init, names)
        return out

    # ------------------------------------------------------------------ loads

    def load(self, out: Lines, node: Node) -> Group:
        """The group of a LOAD, or of a PARAM of an array, read when first wanted."""
        if node not in self._loaded:
            self._loaded[node] = self._load(out, node)
        return self._loaded[node]

    def _load(self, out: Lines, node: Node) -> Group:
        if node.op is Op.PARAM:
            return pieces.load(self.scope, out, node)
        if node.attr[0] in self.temps:
            return self.temps.read(out, node, self.scope.lanes.stage)
        if moves.moved(self.scope, node):
            return moves.load(self.scope, out, node)
        return (
            self._tiles.load(out, node)
            or self._words.load(out, node)
            or pieces.load(self.scope, out, node)
        )

    # ------------------------------------------------------------------ stores

    def store_groups(self, spared: Collection[int] = ()) -> list[tuple[int, ...]]:
        """The stage's stores, those that are written together in one tuple. Of a tile where some
        may be spared, these are all: which are written together depends on it."""
        together = self._alternating()
        stores = self.scope.lanes.stage.stores
        self._in_turn = {stores[group[0]] for group in together}
        taken = {n for group in together for n in group}
        whole = {n: tiles.of_one_tile(self.scope, n) for n in spared if n not in taken}
        groups = dict.fromkeys(whole.values())
        taken |= {n for group in groups for n in group}
        rest = [
            tuple(n for n in group if n not in taken) for group in tiles.store_groups(self.scope)
        ]
        return [*together, *groups, *(group for group in rest if group)]

    def in_turn(self, group: tuple[int, ...]) -> bool:
        """Whether a group is of those whose elements alternate."""
        return self.scope.lanes.stage.stores[group[0]] in self._in_turn

    def adjacent(self, numbers: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Some of the stores that are written together as these are, if they are all there is."""
        return tiles.store_groups(self.scope, numbers)

    def _alternating(self) -> list[tuple[int, ...]]:
        """Stores of 2, 3 or 4 values whose elements alternate without a gap."""
        found: dict[tuple[object, ...], dict[int, int]] = {}
        lanes = self.scope.lanes
        axis = lanes.axes[-1][0]
        for n, s in enumerate(lanes.stage.stores):
            if n in self.scope.alone:
                continue
            b = self.kernel.buffer(s.buffer)
            last = s.index[-1]
            step = last.coefficient(axis)
            width = self.ranges.dtype(b.name).bits
            per = self.scope.shape.bits(width) // width
            moves = any(a.coefficient(axis) for a in s.index[:-1])
            full = lanes.whole and per <= lanes.count  # a register is stored as it is, all of it
            if step in (2, 3, 4) and not moves and len(lanes.axes) == 1 and full:
                key = (s.buffer, s.index[:-1], last.terms, last.const // step, step)
                found.setdefault(key, {})[last.const % step] = n
        groups = [
            tuple(members[at] for at in range(len(members)))
            for key, members in found.items()
            if len(members) == key[-1]
        ]
        known = self.scope.shape.target.weaves
        return [g for g in groups if known is None or self._weave(g) in known]

    def _weave(self, group: tuple[int, ...]) -> str:
        """The function that stores values in turn."""
        dtype = self.ranges.dtype(self.scope.lanes.stage.stores[group[0]].buffer)
        q = "q" if self.scope.shape.bits(dtype.bits) == 128 else ""
        return f"vst{len(group)}{q}_{suffix('s' if dtype.signed else 'u', dtype.bits)}"

    def overlaps(self, load: Node, stores: list[Store]) -> bool:
        """Whether a load, or the tile it comes from, touches what is stored."""
        if load.op is Op.PARAM or load.attr[0] in self.temps:
            return False
        name, stage = load.attr[0], self.scope.lanes.stage
        same = [s for s in stores if s.buffer == name]
        if not same:
            return False
        b = self.kernel.buffer(name)
        if load.args or tiles.rows_of(self.scope, b, load.index) is not None:
            return True
        read = set(flat_index(b, load.index, stage).tolist())
        return any(read & set(flat_index(b, s.index, stage).tolist()) for s in same)

    def store(self, out: Lines, stores: list[Store], values: list[Group]) -> None:
        """Writes values that belong together."""
        b = self.kernel.buffer(stores[0].buffer)
        if b.name in self.temps:
            self.temps.write(stores[0], values[0])
            return
        if len(stores) == 1:
            self._store(out, stores[0], values[0])
        elif stores[0] in self._in_turn:
            self._interleave(out, b, stores, values)
        else:
            tiles.store_rows(self.scope, out, stores, values)
        # Compilers may not move loads of other memory up over the store, either.
        out.lines += [f"DAEDALUS_READ_LATER({name});" for name in self._arrays]

    def _store(self, out: Lines, s: Store, value: Group) -> None:
        """Writes a value by itself."""
        scope = self.scope
        alone = [scope.lanes.stage.stores[n] for n in scope.alone]
        if moves.moved(scope, s.value):
            moves.store(scope, out, s, value)
        elif s.combine:
            merge(scope, out, s, value)
        elif s.mask is None or s not in alone:
            pieces.store(scope, out, s, value)
        else:
            found = lane_conditions(scope, s.mask)
            pieces.store_where(scope, out, s, value, found, whole(scope, s.mask, found))

    def _interleave(self, out: Lines, b: Buffer, stores: list[Store], values: list[Group]) -> None:
        """Stores 2 to 4 values element by element in turn."""
        scope, dtype = self.scope, self.ranges.dtype(b.name)
        width, sign = dtype.bits, "s" if dtype.signed else "u"
        bits, per = scope.shape.bits(width), scope.shape.per_register(width)
        q, k = "q" if bits == 128 else "", len(stores)
        places = scope.lanes.places(stores[0].index)
        vector = f"{'u' if sign == 'u' else ''}int{width}x{bits // width}x{k}_t"
        for r in range(scope.shape.count(width)):
            place = places[r * per]
            assert place is not None
            regs = ", ".join(scope.typed(g, r, dtype) for g in values)
            name = scope.names.fresh("woven")
            out.lines.append(f"{vector} {name} = {{{{{regs}}}}};")
            where = f"&{scope.element(b, place)}"
            out.lines.append(f"vst{k}{q}_{suffix(sign, width)}({where}, {name});")
