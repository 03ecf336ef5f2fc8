# SPDX-License-Identifier: BSD-2-Clause
"""Flags made anew behind thread switches, for programs that do not count on flags to stay there.

A *segment* is what stands between two switches in an order of the block. Where one begins, what is
in A and B and still read in it is pushed once more, so that both hold there what they do as it is
written; what nobody reads any more is left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from daedalus.generator.targets.qpu.nodes import Node


def segments(nodes: Iterable[Node]) -> dict[Node, int]:
    """The segment of each node, of nodes in an order with their switches."""
    out: dict[Node, int] = {}
    segment = 0
    for node in nodes:
        segment += node.kind == "thrsw"
        out[node] = segment
    return out


def renewed(nodes: Sequence[Node], segment: Mapping[Node, int], repeat: int) -> list[Node]:
    """The nodes, some changed, with copies of pushes and updates.

    segment  of each node
    repeat   the flag that repeats the loop: it is made behind the last switch, for the branch alone
    """
    return _Renewal(nodes, segment, repeat).out


class _Renewal:
    def __init__(self, nodes: Sequence[Node], segment: Mapping[Node, int], repeat: int) -> None:
        self._makers = {n.flag: n for n in nodes if n.flag is not None}
        self._updates = {f: n.updates for f, n in self._makers.items()}
        self._fresh = max(self._makers) + 1
        self._a: int | None = None
        self._b: int | None = None
        self._names: dict[int, int] = {}  # what flags are called in this segment
        self.out: list[Node] = []
        branch = {m.flag for m in self._chain(repeat)}
        left = [(segment[n], f) for n in nodes for f in n.flags_read]  # reads to come
        current = 0
        for node in nodes:
            if segment[node] != current and (node.flags_read or node.flag is not None):
                current = segment[node]
                for held in (self._b, self._a):
                    if held is not None and (current, held) in left:
                        self._copy(held)
            for flag in node.flags_read:
                left.remove((segment[node], flag))
                if flag in branch and node.flag not in branch and self._names[flag] == flag:
                    self._copy(flag)
                if node.flag not in branch:
                    _reads_instead(node, flag, self._names[flag])
            self.out.append(node)
            self._follow(node)
        self._leave_out_dead(repeat)

    def _follow(self, node: Node) -> None:
        """A and B as it is written."""
        if node.flag is not None:
            self._names[node.flag] = node.flag
            if node.updates is None:
                self._b = self._a
            self._a = node.flag

    def _chain(self, flag: int) -> list[Node]:
        """The push and the updates that make a flag, the push first; as they are written."""
        out: list[Node] = []
        at: int | None = flag
        while at is not None:
            out.append(self._makers[at])
            at = self._updates[at]
        return out[::-1]

    def _copy(self, flag: int) -> None:
        before: int | None = None
        for maker in self._chain(flag):
            made = maker.copy()
            made.flag, made.updates, made.value = self._fresh, before, None
            made.__post_init__()
            self.out.append(made)
            before = self._fresh
            self._fresh += 1
        assert before is not None
        self._names[flag] = before

    def _leave_out_dead(self, repeat: int) -> None:
        while True:
            read = {f for n in self.out for f in n.flags_read} | {repeat}
            alive = [n for n in self.out if n.flag is None or n.flag in read or n.value is not None]
            if len(alive) == len(self.out):
                return
            self.out = alive


def _reads_instead(node: Node, flag: int, other: int) -> None:
    if node.when is not None and node.when.number == flag:
        node.when = replace(node.when, number=other)
    if node.mask is not None and node.mask.number == flag:
        node.mask = replace(node.mask, number=other)
    if node.updates == flag:
        node.updates = other
    node.__post_init__()
