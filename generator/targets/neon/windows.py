# SPDX-License-Identifier: BSD-2-Clause
"""Overlapping runs of a row, cut from two loads by `ext`: what loading each again is set beside.

Only runs of 64 bits of a plane's row, at places that are known, that overlap and lie within 16
elements: the first eight and the last eight bytes are loaded, so nothing else is read.
"""

from daedalus.dsl.ir import Affine, Buffer, Node, Op
from daedalus.generator.targets.neon.lanes import Place, run_length
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import Group, Lines, suffix

_RUN = 64  # bits


class Windows:
    """The windows that a stage has loaded, by row: first column, and the registers."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._loaded: dict[tuple[object, ...], tuple[str, str, int]] = {}

    def load(self, out: Lines, node: Node) -> Group | None:
        """The group of a load, cut from its row's window; None where it lies in none."""
        where = self._at(node)
        if where is None:
            return None
        row, col = where
        at = sorted(c for r, c in map(self._at_or_none, self._loads(node)) if r == row)
        dtype = self.scope.dtype(node)
        per = _RUN // dtype.bits
        first, last = at[0], at[-1]
        if not 0 < last - first <= per:
            return None
        t = suffix("s" if dtype.signed else "u", dtype.bits)
        if row not in self._loaded:
            self._loaded[row] = self._load(out, node, first, last, t)
        low, high, _ = self._loaded[row]
        if col in (first, last):
            name = low if col == first else high
        else:
            # `high` is what follows `low` only where the window is full; else it is moved up.
            moved = self._moved(out, row, high, first + per - last, t)
            name = out.let(node.name or f"t{node.seq}", *self._kind(node), _RUN,
                           f"vext_{t}({low}, {moved}, {col - first})")  # fmt: skip
        return Group((name,), dtype.bits, "s" if dtype.signed else "u")

    def _kind(self, node: Node) -> tuple[str, int]:
        dtype = self.scope.dtype(node)
        return ("s" if dtype.signed else "u"), dtype.bits

    def _load(self, out: Lines, node: Node, first: int, last: int, t: str) -> tuple[str, str, int]:
        b = self.scope.kernel.buffer(node.attr[0])
        place = self._place(node)
        names = []
        for col, wanted in ((first, "window"), (last, "window_end")):
            index = (place.index[0], Affine(col, place.index[1].terms))
            at = self.scope.element(b, Place(place.item, index), node.args)
            names.append(out.let(wanted, *self._kind(node), _RUN, f"vld1_{t}(&{at})"))
        return names[0], names[1], 0

    def _moved(self, out: Lines, row: tuple[object, ...], high: str, by: int, t: str) -> str:
        """The last run moved so that it begins where the first one ends."""
        if by == 0:
            return high
        key = (*row, "moved")
        if key not in self._loaded:
            sign, bits = t[0], int(t[1:])
            name = out.let("window_rest", sign, bits, _RUN, f"vext_{t}({high}, {high}, {by})")
            self._loaded[key] = (name, name, by)
        return self._loaded[key][0]

    def _place(self, node: Node) -> Place:
        place = self.scope.lanes.places(node.index)[0]
        assert place is not None
        return place

    def _loads(self, node: Node) -> list[Node]:
        """The stage's loads of the same plane."""
        return [
            n for n in self.scope.lanes.stage.nodes()
            if n.op is Op.LOAD and n.attr[0] == node.attr[0]
        ]  # fmt: skip

    def _at_or_none(self, node: Node) -> tuple[tuple[object, ...], int]:
        return self._at(node) or ((), 0)

    def _at(self, node: Node) -> tuple[tuple[object, ...], int] | None:
        """Row and column of a run of 64 bits of a plane; None of other loads."""
        if node.op is not Op.LOAD or node.args:
            return None
        b: Buffer = self.scope.kernel.buffer(node.attr[0])
        width = self.scope.dtype(node).bits
        places = self.scope.lanes.places(node.index)
        if b.kind != "plane" or self.scope.shape.bits(width) != _RUN:
            return None
        if self.scope.shape.count(width) != 1 or run_length(b, places) * width != _RUN:
            return None
        place = self._place(node)
        row, col = place.index
        return (b.name, place.item, row, col.terms), col.const
