# SPDX-License-Identifier: BSD-2-Clause
"""Which values share a register by their meaning, and the moves where they cannot.

A conditional write goes on with the register of the value that it keeps in other elements, and the
next value of what a loop carries with that of the present one. That is right as long as nobody
reads the older value afterwards, in the order in which the block is written; else it is copied.
"""

from collections.abc import Mapping, Sequence

from daedalus.generator.targets.qpu.nodes import Node, NodeForm
from daedalus.generator.targets.qpu.virtual import Operand, Value


class Webs:
    """A block's nodes, copies among them, and the webs of its values.

    carried  next value -> present one, of the loop whose body the block is
    kept     values that are read after the block, or by its next trip
    fresh    number of the first value that nobody has
    """

    def __init__(
        self, nodes: Sequence[Node], carried: Mapping[int, int], kept: set[int], fresh: int
    ) -> None:
        self._fresh = fresh
        self._parent: dict[int, int] = {}
        self.nodes = list(nodes)
        self._copy_kept(carried, kept)
        # What a loop passes on, under the names that copies may have given it.
        self.next: dict[int, int] = {}
        self._tie_carried(carried)
        for i, node in enumerate(self.nodes):
            node.order = i
        self._order()

    @property
    def fresh(self) -> int:
        """Number of the first value that nobody has now."""
        return self._fresh

    def find(self, value: int) -> int:
        """The web of a value: the number of one of its members."""
        root = value
        while (above := self._parent.get(root, root)) != root:
            root = above
        while (above := self._parent.get(value, value)) != root:
            self._parent[value] = root
            value = above
        return root

    def _union(self, a: int, b: int) -> None:
        self._parent[self.find(b)] = self.find(a)

    def _new(self) -> int:
        self._fresh += 1
        return self._fresh - 1

    def _copy_kept(self, carried: Mapping[int, int], kept: set[int]) -> None:
        """Copies `old` where its register cannot be taken, and ties it where it can."""
        last = self._last_reads(kept | set(carried))
        defined = {n.value for n in self.nodes if n.value is not None}
        out: list[Node] = []
        for at, node in enumerate(self.nodes):
            if node.old is not None:
                assert node.value is not None
                own = node.old in defined or carried.get(node.value) == node.old
                if not own or last[node.old] > at:
                    copy = self._new()
                    form = move(node.old)
                    out.append(Node("alu", 0, (form,), copy, note=node.note))
                    node.old = copy
                self._union(node.old, node.value)
            out.append(node)
        self.nodes = out

    def _last_reads(self, beyond: set[int]) -> dict[int, int]:
        last = {v: at for at, n in enumerate(self.nodes) for v in n.reads}
        last.update({v: len(self.nodes) for v in beyond})
        return last

    def _tie_carried(self, carried: Mapping[int, int]) -> None:
        last = self._last_reads(set())
        makers = {n.value: at for at, n in enumerate(self.nodes) if n.value is not None}
        for after, value in carried.items():
            at = makers[after]
            tied = self.nodes[at].old is not None
            same = self.find(after) == self.find(value)
            if same or (last.get(value, -1) <= at and not tied):
                self._union(value, after)
                self.next[value] = after
                continue
            copy = self._new()
            self.nodes.append(Node("alu", 0, (move(after),), copy, note="next trip"))
            self._union(value, copy)
            self.next[value] = copy

    def _order(self) -> None:
        """Whoever reads what a register held before does so before it is written anew."""
        readers: dict[int, list[Node]] = {}
        for node in self.nodes:
            for v in node.reads:
                readers.setdefault(v, []).append(node)
        olds = {after: value for value, after in self.next.items()}
        for node in self.nodes:
            if node.value is None:
                continue
            for older in {node.old, olds.get(node.value)} - {None}:
                assert older is not None
                for reader in readers.get(older, ()):
                    if reader is not node:
                        node.after(reader, 0)


def move(value: int) -> NodeForm:
    """A copy of a value."""
    return NodeForm("mov", (Operand(Value(value)),), True, True, False)
