# SPDX-License-Identifier: BSD-2-Clause
"""A block to schedule: its nodes, and what holds where it begins and ends."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.depend import is_pop, starts_load
from daedalus.generator.targets.qpu.flags import FlagTable
from daedalus.generator.targets.qpu.nodes import UNIFA, Node
from daedalus.generator.targets.qpu.pressure import LifeTable, Pressure

Life = tuple[int, int]  # a web, and which of its lives


@dataclass
class Block:
    """Nodes that follow those they wait for. Values go by number, registers by web.

    What many schedules of it need is found once: nodes and their edges do not change any more.
    """

    nodes: list[Node]
    threads: int
    web: dict[int, int]  # value -> web
    live_in: frozenset[int]  # webs that hold something at the beginning
    live_out: frozenset[int]  # and at the end
    repeat: Node | None = None  # the push that the branch goes by: the block is a loop's body
    queue: tuple[tuple[int, int], ...] = ()  # lookups whose results wait, and how many words
    writes: int = 0  # stores on their way at the beginning, at most
    flags_stay: bool = True  # at thread switches

    def __post_init__(self) -> None:
        self.makers = {n.value: n for n in self.nodes if n.value is not None}
        ahead = {self.web[n.value] for n in self.nodes if n.value is not None and n.stage == 0}
        # Webs that hold one value until the trip's last use, and then the next trip's.
        self.renewed = ahead & self.live_in
        self._ranks: dict[tuple[str, int, int], tuple[list[int], list[int]]] = {}

    @property
    def registers(self) -> int:
        """Registers that there are."""
        return machine.registers(self.threads)

    def life_of_read(self, node: Node, value: int) -> Life:
        """Which life of which web a node reads: 1 is the one after a renewal."""
        web = self.web[value]
        maker = self.makers.get(value)
        renewed = web in self.renewed and maker is not None and maker.stage == 0 and node.stage == 0
        return web, int(renewed)

    def life_of_result(self, node: Node) -> Life | None:
        """Which life of which web a node defines."""
        if node.value is None:
            return None
        web = self.web[node.value]
        return web, int(web in self.renewed and node.stage == 0)

    def lives_in(self) -> Iterable[Life]:
        """Those at the beginning."""
        return ((w, 0) for w in self.live_in)

    def lives_out(self) -> Iterable[Life]:
        """Those at the end."""
        return ((w, int(w in self.renewed)) for w in self.live_out)

    @cached_property
    def lives(self) -> LifeTable:
        """The lives of its webs."""
        reads = [[self.life_of_read(n, v) for v in n.reads] for n in self.nodes]
        results = [self.life_of_result(n) for n in self.nodes]
        return LifeTable(reads, results, self.lives_in(), self.lives_out())

    @cached_property
    def flags(self) -> FlagTable:
        """What it does with flags."""
        return FlagTable(self.nodes)

    @cached_property
    def followers(self) -> list[list[tuple[int, int]]]:
        """The orders of those that wait for each node, and slots."""
        out: list[list[tuple[int, int]]] = [[] for _ in self.nodes]
        for node in self.nodes:
            for pred, slots in node.preds.items():
                out[pred.order].append((node.order, slots))
        return out

    @cached_property
    def heights(self) -> list[int]:
        """Of each node the longest way to the end, in slots."""
        height = [0] * len(self.nodes)
        for node in reversed(self.nodes):
            below = (height[k] + max(slots, 0) for k, slots in self.followers[node.order])
            height[node.order] = max(below, default=0) + (node.stage == 1)
        return height

    @cached_property
    def places(self) -> list[int]:
        """Where nodes stand in the order in which the block is written, its two stages side by
        side, but none before what it waits for."""
        counts = [sum(n.stage == s for n in self.nodes) for s in (0, 1)]
        seen = [0, 0]
        place = [0] * len(self.nodes)
        for node in self.nodes:
            place[node.order] = seen[node.stage] * len(self.nodes) // counts[node.stage]
            seen[node.stage] += 1
        room = self._room()
        for _ in range(2):  # a load waits for pops, for which other loads wait
            for node in self.nodes:
                before = [*node.preds, *([room[node]] if node in room else [])]
                place[node.order] = max([place[node.order], *(place[p.order] for p in before)])
        return place

    def _room(self) -> dict[Node, Node]:
        """The pops that leave room in the queue for what loads return."""
        trip = sorted(self.nodes, key=lambda n: (-n.stage, n.order))
        pops = [n for n in trip if is_pop(n)]
        words = sum(w for _, w in self.queue) - machine.queue_words(self.threads)
        room = {}
        for load in [n for n in trip if starts_load(n)]:
            words += load.words
            if 0 < words <= len(pops):
                room[load] = pops[words - 1]
        return room

    @cached_property
    def scarce(self) -> set[Node]:
        """Operations that only the ALU has which has more to do."""
        only: dict[bool, set[Node]] = {True: set(), False: set()}
        for n in self.nodes:
            on_add = n.kind == "tmuwt" or any(f.add for f in n.forms)
            on_mul = any(f.mul for f in n.forms)
            if on_add != on_mul:
                only[on_add].add(n)
        return max(only[True], only[False], key=len)

    def bound(self) -> int:
        """Instructions that it takes at least, by the operations that each ALU has to do."""
        add = mul = either = writes = signals = 0
        for n in self.nodes:
            if n.kind == "alu":
                on_add, on_mul = any(f.add for f in n.forms), any(f.mul for f in n.forms)
                either += on_add and on_mul
                add += on_add and not on_mul
                mul += on_mul and not on_add
                writes += n.write not in ("", UNIFA)
            elif n.kind == "tmuwt":
                add += 1
            else:
                signals += n.kind != "thrsw"
        both = -(-(add + mul + either) // 2)
        return max(add, mul, both, writes, signals) + (self.repeat is not None)

    def written_need(self) -> int:
        """Registers that the block takes, one node after the other as it is written."""
        pressure = Pressure(self.lives)
        most = pressure.used
        for node in self.nodes:
            pressure.place(node.order)
            most = max(most, pressure.used)
        return most

    @cached_property
    def oldest(self) -> list[int]:
        """The orders of the nodes, the first place last."""
        return sorted(range(len(self.nodes)), key=lambda k: -self.places[k])

    def ranks(self, by: str, scarce: int, lead: int) -> tuple[list[int], list[int]]:
        """The orders of the nodes, the most urgent first, and the rank of each. What follows on a
        node makes it urgent, or that it is written early; more so what is scarce, and stage 0."""
        key = by, scarce, lead
        if key not in self._ranks:
            height = [len(self.nodes) - k for k in range(len(self.nodes))]
            if by == "height":
                height = self.heights
            urgent = [
                h + scarce * (n in self.scarce) + lead * (n.stage == 0)
                for h, n in zip(height, self.nodes, strict=True)
            ]
            order = sorted(range(len(urgent)), key=lambda k: (-urgent[k], k))
            rank = [0] * len(order)
            for at, k in enumerate(order):
                rank[k] = at
            self._ranks[key] = order, rank
        return self._ranks[key]
