# SPDX-License-Identifier: BSD-2-Clause
"""Which values share a register by their meaning, and the moves where they cannot.

A conditional write goes on with the register of the value that it keeps in other elements, and the
next value of what a loop carries with that of the present one. That is right as long as nobody
reads the older value afterwards, in the order in which the block is written; else it is copied.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from daedalus.generator.targets.qpu.nodes import UNIFA, Node, NodeForm
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
                    node.goes_on_with(copy)
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


def copies_for_late(
    nodes: Sequence[Node], carried: Mapping[int, int], fresh: int
) -> tuple[list[Node], int] | None:
    """The nodes, changed, with copies of what loads go by for those readers that no load waits for,
    and the first number that is free then; None if there are no such readers.

    A trip's loads can be done in the trip before, with the next values of what they go by. A late
    reader of the present ones would have them wait until it has read.

    carried  next value -> present one
    """
    early = _loads_go_by(nodes, set(carried.values()))
    made: dict[int, Node] = {}
    out = []
    for node in nodes:
        reads = node.words or node.write == UNIFA
        late = not (reads or node.value in early or node.value in carried)
        olds = [v for v in node.reads if v in early and v != node.old] if late else []
        for value in olds:
            if value not in made:
                made[value] = Node("alu", 0, (move(value),), fresh, note="for later in the trip")
                out.append(made[value])
                fresh += 1
        names = {v: made[v].value for v in olds}
        node.computes(tuple(_renamed(f, names) for f in node.forms))
        out.append(node)
    return (out, fresh) if made else None


def _loads_go_by(nodes: Sequence[Node], present: set[int]) -> set[int]:
    """Values that addresses of loads come from, and results that come before them."""
    makers = {n.value: n for n in nodes if n.value is not None}
    chains = {kind: [n for n in nodes if n.kind == kind] for kind in ("ldtmu", "ldunifa")}
    early: set[int] = set()
    work = [v for n in nodes if n.words or n.write == UNIFA for v in n.reads]
    for value in work:
        maker = makers.get(value)
        if value in early or (maker is None and value not in present):
            continue
        early.add(value)
        if maker is not None and maker.kind in chains:
            chain = chains[maker.kind]
            work += [p.value for p in chain[: chain.index(maker)] if p.value is not None]
        work += maker.reads if maker is not None else ()
    return early


def _renamed(form: NodeForm, names: Mapping[int, int | None]) -> NodeForm:
    sources = []
    for s in form.sources:
        if isinstance(s, Operand) and (other := names.get(s.value.number)) is not None:
            s = replace(s, value=Value(other))
        sources.append(s)
    return replace(form, sources=tuple(sources))
