# SPDX-License-Identifier: BSD-2-Clause
"""A block to schedule: its nodes, and what holds where it begins and ends."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.nodes import Node


@dataclass
class Block:
    """Nodes that follow those they wait for. Values go by number, registers by web."""

    nodes: list[Node]
    threads: int
    web: dict[int, int]  # value -> web
    live_in: frozenset[int]  # webs that hold something at the beginning
    live_out: frozenset[int]  # and at the end
    repeat: Node | None = None  # the push that the branch goes by: the block is a loop's body
    queue: tuple[tuple[int, int], ...] = ()  # lookups whose results wait, and how many words
    writes: int = 0  # stores on their way at the beginning, at most
    spans: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.makers = {n.value: n for n in self.nodes if n.value is not None}
        ahead = {self.web[n.value] for n in self.nodes if n.value is not None and n.stage == 0}
        # Webs that hold one value until the trip's last use, and then the next trip's.
        self.renewed = ahead & self.live_in

    @property
    def registers(self) -> int:
        """Registers that there are."""
        return machine.registers(self.threads)

    def life_of_read(self, node: Node, value: int) -> tuple[int, int]:
        """Which life of which web a node reads: 1 is the one after a renewal."""
        web = self.web[value]
        maker = self.makers.get(value)
        renewed = web in self.renewed and maker is not None and maker.stage == 0 and node.stage == 0
        return web, int(renewed)

    def life_of_result(self, node: Node) -> tuple[int, int] | None:
        """Which life of which web a node defines."""
        if node.value is None:
            return None
        web = self.web[node.value]
        return web, int(web in self.renewed and node.stage == 0)

    def lives_in(self) -> Iterable[tuple[int, int]]:
        """Those at the beginning."""
        return ((w, 0) for w in self.live_in)

    def lives_out(self) -> Iterable[tuple[int, int]]:
        """Those at the end."""
        return ((w, int(w in self.renewed)) for w in self.live_out)

    def bound(self) -> int:
        """Instructions that it takes at least, by the operations that each ALU has to do."""
        add = mul = either = writes = signals = 0
        for n in self.nodes:
            if n.kind == "alu":
                on_add, on_mul = any(f.add for f in n.forms), any(f.mul for f in n.forms)
                either += on_add and on_mul
                add += on_add and not on_mul
                mul += on_mul and not on_add
                writes += bool(n.write)
            elif n.kind == "tmuwt":
                add += 1
            else:
                signals += n.kind != "thrsw"
        both = -(-(add + mul + either) // 2)
        return max(add, mul, both, writes, signals) + (self.repeat is not None)
