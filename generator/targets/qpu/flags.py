# SPDX-License-Identifier: BSD-2-Clause
"""Where flags are while a block is scheduled: A, or B after the next push, then gone.

A cell is what a push begins and updates go on with. A push may happen when what it shifts out is
not read any more, and when no cell that stays can come to wait for yet another push: then the
schedule always goes on. `static` keeps the order in which the block is written instead, which is
possible for every legal program.
"""

from collections.abc import Sequence

from daedalus.generator.targets.qpu.nodes import Node

Cell = int  # the order of the node that pushes it


class Flags:
    """The state of A and B."""

    def __init__(self, nodes: Sequence[Node], repeat: Node | None, static: bool) -> None:
        self.a: Cell | None = None
        self.b: Cell | None = None
        self._static = static
        self._cell: dict[int, Cell] = {}  # of each flag
        self._readers: dict[Cell, int] = {}  # that are left
        self._updates: dict[Cell, int] = {}  # that are left
        self._needs: dict[Cell, int] = {}  # pushes that readers wait for
        self._open = 0  # those not scheduled yet, as bits by their order
        self._before: dict[Cell, int] = {}  # needs that are no consequence of the cell
        self._find(nodes)
        if repeat is not None:
            self._readers[repeat.order] += 1  # the branch

    def _find(self, nodes: Sequence[Node]) -> None:
        critical = [0] * len(nodes)  # ancestors that push
        for node in nodes:
            for pred in node.preds:
                critical[node.order] |= critical[pred.order]
                if self._is_critical(pred):
                    critical[node.order] |= 1 << pred.order
            if self._is_critical(node):
                self._open |= 1 << node.order
            if node.flag is not None:
                cell = node.order if node.updates is None else self._cell[node.updates]
                self._cell[node.flag] = cell
                self._readers.setdefault(cell, 0)
                self._updates.setdefault(cell, 0)
                self._needs.setdefault(cell, 0)
        for node in nodes:
            for flag in node.flags_read:
                cell = self._cell[flag]
                self._readers[cell] += 1
                self._needs[cell] |= critical[node.order]
            if node.updates is not None:
                self._updates[self._cell[node.updates]] += 1
        for cell in self._needs:
            self._needs[cell] &= ~(1 << cell)
            below = sum(1 << n.order for n in nodes if critical[n.order] >> cell & 1)
            self._before[cell] = self._needs[cell] & ~below

    @staticmethod
    def _is_critical(node: Node) -> bool:
        return node.flag is not None and node.updates is None

    def may(self, node: Node) -> bool:
        """Whether a node whose operands are there may be scheduled now."""
        if node.flag is None:
            return True
        if node.updates is not None:
            return self.a == self._cell[node.updates]
        if self.b is not None and self._readers[self.b] > 0:
            # What is in A takes B's place.
            return False
        if self.a is not None and self._updates[self.a] > 0:
            return False
        if self._static:
            return True
        if self._before[node.order] & self._open:
            return False
        stays = self.a is not None and self._readers[self.a] > 0
        left = self._needs[self.a] if stays and self.a is not None else 0
        return not left & self._open & ~(1 << node.order)

    def place(self, flag: int) -> str:
        """ "a" or "b": where a flag that is read now is."""
        cell = self._cell[flag]
        assert cell in (self.a, self.b)
        return "a" if cell == self.a else "b"

    def read(self, node: Node) -> None:
        """The node is scheduled: what it reads is read."""
        for flag in node.flags_read:
            self._readers[self._cell[flag]] -= 1
        if node.updates is not None:
            self._updates[self._cell[node.updates]] -= 1
        if self._is_critical(node):
            self._open &= ~(1 << node.order)

    def push(self, node: Node) -> None:
        """At the end of its instruction a push takes effect."""
        if node.flag is not None and node.updates is None:
            self.a, self.b = node.order, self.a

    def is_repeat(self, repeat: Node) -> bool:
        """Whether the flag that repeats the loop can be branched by."""
        return self.a == repeat.order


def in_written_order(nodes: Sequence[Node], repeat: Node | None) -> None:
    """Adds edges that keep pushes in the order in which they are written, the trip's before those
    of the next one; the flag that repeats the loop comes last."""
    pushes = [n for n in nodes if n.flag is not None and n.updates is None and n is not repeat]
    pushes.sort(key=lambda n: (-n.stage, n.order))
    if repeat is not None:
        pushes.append(repeat)
    cell: dict[int, Node] = {}
    users: dict[Node, list[Node]] = {n: [] for n in pushes}
    for node in nodes:
        if node.flag is not None:
            cell[node.flag] = node if node.updates is None else cell[node.updates]
        for flag in node.flags_read:
            users[cell[flag]].append(node)
    for k, push in enumerate(pushes):
        if k:
            push.after(pushes[k - 1], 1)
            for user in users[pushes[k - 1]]:
                if user.updates is not None:
                    push.after(user, 1)
        if k > 1:
            for user in users[pushes[k - 2]]:
                push.after(user, 0)
