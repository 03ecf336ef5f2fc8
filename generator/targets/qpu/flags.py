# SPDX-License-Identifier: BSD-2-Clause
"""Where flags are while a block is scheduled: A, or B after the next push, then gone.

A cell is what a push begins and updates go on with. A push may happen when what it shifts out is
not read any more, and when no cell that stays can come to wait for yet another push: then the
schedule always goes on. `static` keeps the order in which the block is written instead, which is
possible for every legal program.

Whether flags stay while other threads run is asked of a block. Where they shall not have to, a
switch waits until nothing in A and B is still to be read, and no cell begins whose readers wait for
a switch.
"""

from collections.abc import Sequence

from daedalus.generator.targets.qpu.nodes import Node

Cell = int  # the order of the node that pushes it


class FlagTable:
    """What a block does with flags, whichever the order.

    cell     of each flag
    readers  of each cell, how many
    updates  of each cell, how many
    needs    of each cell, pushes that its readers wait for, as bits by their order
    before   of each cell, needs that are no consequence of it
    behind   of each cell, thread switches that its readers wait for
    towards  of each cell, its readers and all that they wait for
    pushes   all of them, as bits; switches: likewise
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.cell: dict[int, Cell] = {}
        self.readers: dict[Cell, int] = {}
        self.updates: dict[Cell, int] = {}
        self.needs: dict[Cell, int] = {}
        self.before: dict[Cell, int] = {}
        self.behind: dict[Cell, int] = {}
        self.towards: dict[Cell, int] = {}
        self.pushes = self.switches = 0
        ancestors = [0] * len(nodes)
        for node in nodes:
            own = 0
            for pred in node.preds:
                own |= ancestors[pred.order] | 1 << pred.order
            ancestors[node.order] = own
            if is_push(node):
                self.pushes |= 1 << node.order
            elif node.kind == "thrsw":
                self.switches |= 1 << node.order
            if node.flag is not None:
                cell = node.order if node.updates is None else self.cell[node.updates]
                self.cell[node.flag] = cell
                self.readers.setdefault(cell, 0)
                self.updates.setdefault(cell, 0)
                self.needs.setdefault(cell, 0)
                self.behind.setdefault(cell, 0)
                self.towards.setdefault(cell, 0)
        below = dict.fromkeys(self.needs, 0)  # pushes that are consequences of each cell
        for node in nodes:
            for flag in node.flags_read:
                cell = self.cell[flag]
                self.readers[cell] += 1
                self.needs[cell] |= ancestors[node.order] & self.pushes
                self.behind[cell] |= ancestors[node.order] & self.switches
                self.towards[cell] |= ancestors[node.order] | 1 << node.order
            if node.updates is not None:
                self.updates[self.cell[node.updates]] += 1
            left = ancestors[node.order] & self.pushes if is_push(node) else 0
            while left:
                cell = left.bit_length() - 1
                below[cell] |= 1 << node.order
                left ^= 1 << cell
        for cell in self.needs:
            self.needs[cell] &= ~(1 << cell)
            self.before[cell] = self.needs[cell] & ~below[cell]


def is_push(node: Node) -> bool:
    """Whether it begins a cell."""
    return node.flag is not None and node.updates is None


class Flags:
    """The state of A and B. `static`: pushes keep the written order; `stay`: flags stay at thread
    switches."""

    def __init__(self, table: FlagTable, repeat: Node | None, *, static: bool, stay: bool) -> None:
        self.a: Cell | None = None
        self.b: Cell | None = None
        self._static, self._stay = static, stay
        self._table = table
        self._cell = table.cell
        self._readers = dict(table.readers)  # that are left
        self._updates = dict(table.updates)  # that are left
        self._open = table.pushes | table.switches  # those not scheduled yet
        if repeat is not None:
            self._readers[repeat.order] += 1  # the branch

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
        if not self._stay and self._table.behind[node.order] & self._open:
            return False
        if self._static:
            return True
        if self._table.before[node.order] & self._open:
            return False
        stays = self.a is not None and self._readers[self.a] > 0
        left = self._table.needs[self.a] if stays and self.a is not None else 0
        return not left & self._open & ~(1 << node.order)

    def may_switch(self) -> bool:
        """Whether a thread switch loses nothing."""
        return self._stay or not self._live()

    def wanted(self) -> int:
        """Who is still to read what is in A and B, and all that they wait for; bits by order."""
        out = 0
        for cell in self._live():
            out |= self._table.towards[cell]
        return out

    def _live(self) -> list[Cell]:
        return [c for c in (self.a, self.b) if c is not None and self._readers[c] > 0]

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
        if is_push(node) or node.kind == "thrsw":
            self._open &= ~(1 << node.order)

    def push(self, node: Node) -> None:
        """At the end of its instruction a push takes effect."""
        if is_push(node):
            self.a, self.b = node.order, self.a

    def is_repeat(self, repeat: Node) -> bool:
        """Whether the flag that repeats the loop can be branched by."""
        return self.a == repeat.order


def in_written_order(nodes: Sequence[Node], repeat: Node | None) -> None:
    """Adds edges that keep pushes in the order in which they are written, the trip's before those
    of the next one; the flag that repeats the loop comes last."""
    pushes = [n for n in nodes if is_push(n) and n is not repeat]
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
