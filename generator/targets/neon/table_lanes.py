# SPDX-License-Identifier: BSD-2-Clause
"""Multipliers out of a table's row that a value chooses, as lanes of a vector: the row is loaded
whole, so that none of them needs a register of its own."""

from collections.abc import Iterable

from daedalus.dsl.ir import Node, Op
from daedalus.generator.targets.neon.lookups import table_row
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import ByLane, Lines, cast

_Key = tuple[str, Node, int]


class TableLanes:
    """The rows of tables that multipliers of a stage stand in."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._vectors: dict[_Key, str] = {}

    def fits(self, node: Node, width: int) -> bool:
        """Whether a multiplier of so many bits is in a vector that is full of its row's entries."""
        if not self._scope.shape.target.rows or node.op is not Op.TABLE or len(node.args) != 2:
            return False
        table, at = self._scope.kernel.table(node.attr[0]), node.args[1]
        if at.op is not Op.CONST or table.dtype.bits != width:
            return False
        end = (at.value // (128 // width) + 1) * (128 // width)
        return at.value >= 0 and end <= len(table.rows[0])

    def load(self, out: Lines, nodes: Iterable[Node]) -> None:
        """Loads what these stand in; what chooses the rows is spelled already."""
        for node in nodes:
            key, _ = self._place(node)
            if key not in self._vectors:
                table = self._scope.kernel.table(node.attr[0])
                sign, width = "s" if table.dtype.signed else "u", table.dtype.bits
                text = f"vld1q_{sign}{width}(&{table_row(self._scope, node)}[{key[2]}])"
                self._vectors[key] = out.let(table.name, sign, width, 128, text)

    def lane(self, node: Node, sign: str) -> ByLane:
        """Where a multiplier that was loaded stands."""
        key, lane = self._place(node)
        dtype = self._scope.kernel.table(node.attr[0]).dtype
        own = ("s" if dtype.signed else "u", dtype.bits)
        return ByLane(cast(self._vectors[key], own, (sign, dtype.bits), 128), lane)

    def _place(self, node: Node) -> tuple[_Key, int]:
        """The vector that it is in, and its lane."""
        row, at = node.args
        per = 128 // self._scope.kernel.table(node.attr[0]).dtype.bits
        return (node.attr[0], row, at.value // per * per), at.value % per
