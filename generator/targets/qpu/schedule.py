# SPDX-License-Identifier: BSD-2-Clause
"""A list scheduler: fills instructions one after the other with what can go on, most urgent first.

It follows the state that decides what may be done: flags, the TMU's queues, a store that is begun,
thread switches and their slots, registers in use. What it makes keeps the rules of v3d-rules.md by
construction; the validator says whether that is so.
"""

from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass, field

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.block import Block
from daedalus.generator.targets.qpu.depend import is_address
from daedalus.generator.targets.qpu.flags import Flags, is_push
from daedalus.generator.targets.qpu.nodes import TMUD, UNIFA, Node, NodeForm
from daedalus.generator.targets.qpu.pressure import Pressure
from daedalus.generator.targets.qpu.slot import Slot

# Instructions without a node after which it will not go on: more than any latency.
_LEAST_WINDOW = 4
_ON_ALU = frozenset({"alu", "tmuwt"})  # kinds of nodes
_IDLE = machine.THRSW_SLOTS + machine.BRANCH_SLOTS + 2


@dataclass(frozen=True)
class Heuristic:
    """What is urgent, and how near to the last register.

    by      "height": the longest way to the end first; "written": as the block is written
    spare   registers below the last one from which on only what frees registers is urgent
    scarce  slots that an operation counts as higher which only the busier of the ALUs has
    lead    slots that the next trip's instructions count as higher
    window  how far beyond the oldest one that waits, in the order in which the block is written,
            it goes for each free register; 0: as far as it likes. Of two stages either has its
            place in its own order
    static_flags  flags keep the order in which the block is written
    """

    by: str
    spare: int = 0
    scarce: int = 0
    lead: int = 0
    window: int = 0
    static_flags: bool = False


# The first of them are what most programs are best with; those with a window are for programs that
# need most registers.
HEURISTICS = (
    Heuristic("height", 0, 20, 16),
    Heuristic("written", 0, 50, 0, 8),
    Heuristic("written", 0, 20, 0, 16),
    Heuristic("height", 0, 20, 0, 4),
    Heuristic("height", 0, 50, 8),
    Heuristic("written", 0, 0, 0, 4),
    Heuristic("height", 0, 20, 0, 1),
    Heuristic("height", 0, 20, 0),
    Heuristic("written", 0, 8, 0, 32),
    Heuristic("height", 0, 20, 0, 8),
    Heuristic("height", 0, 8, 32),
    Heuristic("height", 4, 20, 0, 4),
    Heuristic("height", 0, 20, 0, 2),
    Heuristic("height", 6, 20, 16),
)
# For what is not worth many attempts, and always finds a schedule if registers suffice.
PLAIN = (
    Heuristic("height", scarce=20),
    Heuristic("height", scarce=20, window=2),
    Heuristic("written", window=1),
    Heuristic("height", static_flags=True),
    Heuristic("height", scarce=20, window=2, static_flags=True),
    Heuristic("written", window=1, static_flags=True),
)


@dataclass
class Schedule:
    """Instructions, and where the flags are that they read."""

    slots: list[Slot]
    places: dict[tuple[Node, int], str] = field(default_factory=dict)  # (node, flag) -> a or b
    most_live: int = 0
    pending: int = 0  # result words on their way at the end
    branch_at: int = -1


class Scheduler:
    """One attempt. `end` is the number of instructions that a loop's body shall have, if known."""

    def __init__(self, block: Block, heuristic: Heuristic, end: int | None = None) -> None:
        self._block = block
        self._heuristic = heuristic
        self._end = end
        nodes = block.nodes
        self._by_rank, self._rank = block.ranks(heuristic.by, heuristic.scarce, heuristic.lead)
        self._oldest = list(block.oldest)
        self._done = [False] * len(nodes)
        self._missing = [len(n.preds) for n in nodes]
        self._earliest = [0] * len(nodes)
        self._later: dict[int, list[int]] = {}  # cycle in which operands come -> ranks
        self._ready: list[int] = []  # ranks, sorted
        self._ready_signals: list[int] = []  # of them those that take no ALU
        self._flags = Flags(
            block.flags, block.repeat, static=heuristic.static_flags, stay=block.flags_stay
        )
        self._cycle = 0
        self._switch = -machine.THRSW_SLOTS - 1  # cycle of the last thrsw
        self._held = -1  # cycle in which a switch waited for readers of flags
        self._unifa = -machine.UNIFA_GAP  # cycle of the last write of unifa
        self._store = -1  # lookup whose data have begun to be written
        self._reads = deque(block.queue)  # (lookup, words left)
        self._words = sum(w for _, w in block.queue)
        self._writes = block.writes
        self._begun = (
            0  # stores that this instruction looks up: a tmuwt in it does not wait for them
        )
        self._branched = False
        self._pressure = Pressure(block.lives)
        self._registers = block.registers
        self._made = Schedule([], most_live=self._pressure.used)

    def run(self) -> Schedule | None:
        """The schedule, or None if this heuristic finds none."""
        nodes = self._block.nodes
        for node in nodes:
            if not self._missing[node.order]:
                self._wait(node.order, 0)
        left = len(nodes)
        idle = 0
        while left or self._must_go_on():
            placed = self._instruction()
            left -= placed
            idle = 0 if placed else idle + 1
            if idle > _IDLE or (self._end is not None and self._cycle > self._end):
                return None
        self._made.pending = self._words
        for slot in self._made.slots:
            slot.settle()
        return self._made

    def _must_go_on(self) -> bool:
        """Whether slots are left to fill."""
        if self._end is not None:
            return self._cycle < self._end
        # Behind the entry, where the loop may begin with ldunifa or end at once.
        gap = self._block.repeat is None and self._cycle < self._unifa + machine.UNIFA_GAP
        return gap or self._cycle <= self._switch + machine.THRSW_SLOTS

    # One instruction.

    def _instruction(self) -> int:
        slot = Slot()
        self._made.slots.append(slot)
        for rank in self._later.pop(self._cycle, ()):
            self._begin(rank)
        placed: list[Node] = []
        if self._end is not None and self._cycle == self._end - 1 - machine.BRANCH_SLOTS:
            self._branch(slot)
        else:
            while (node := self._choose(slot)) is not None:
                placed.append(node)
                if len(slot.placed) + slot.wait == 2 and len(slot.signals) > 1:
                    break
        for node in placed:
            self._flags.push(node)
        if slot.wait:
            self._writes = self._begun
        self._begun = 0
        self._made.most_live = max(self._made.most_live, self._pressure.used)
        self._cycle += 1
        return len(placed)

    def _branch(self, slot: Slot) -> None:
        assert self._block.repeat is not None
        near = self._cycle - self._switch <= machine.THRSW_SLOTS
        if near or not self._flags.is_repeat(self._block.repeat):
            self._end = -1  # the attempt has failed
            return
        slot.branch = True
        self._branched = True
        self._made.branch_at = self._cycle

    def _choose(self, slot: Slot) -> Node | None:
        """Places the most urgent node that fits; None if none does."""
        limit = self._registers
        soft = limit - self._heuristic.spare
        spilling: tuple[int, Node, NodeForm | None] | None = None
        nodes, by_rank, places = self._block.nodes, self._by_rank, self._block.places
        pressure, farthest = self._pressure, self._farthest()
        full = len(slot.placed) + slot.wait == 2
        if full and slot.silent:
            return None
        ready = self._ready_signals if full else self._ready
        if self._is_held():
            wanted = self._flags.wanted()
            ready = sorted(ready, key=lambda rank: not wanted >> by_rank[rank] & 1)
        for rank in ready:
            order = by_rank[rank]
            if places[order] > farthest:
                continue
            node = nodes[order]
            form: NodeForm | None = None
            if node.kind in _ON_ALU:
                if (form := slot.fit(node)) is None:
                    continue
            elif not slot.fit_signal(node):
                continue
            grows = pressure.growth(order)
            if grows > 0 and pressure.used + grows > limit:
                continue
            if not self._may(node, slot):
                continue
            if grows > 0 and pressure.used + grows > soft:
                if spilling is None or grows < spilling[0]:
                    spilling = grows, node, form
                continue
            self._place(node, slot, form)
            return node
        if spilling is None or slot.placed or slot.signals:
            return None
        _, node, form = spilling
        if form is not None and (form := slot.fit(node)) is None:
            return None  # a tmuwt has come in between
        self._place(node, slot, form)
        return node

    def _is_held(self) -> bool:
        """Whether a switch waits for flags to be read: who reads them goes first then."""
        return self._held >= self._cycle - 1 and not self._flags.may_switch()

    def _farthest(self) -> int:
        """The last place that may be scheduled now."""
        if not self._heuristic.window:
            return len(self._done)
        while self._oldest and self._done[self._oldest[-1]]:
            self._oldest.pop()
        free = self._registers - self._pressure.used
        reach = max(_LEAST_WINDOW, self._heuristic.window * free)
        return self._block.places[self._oldest[-1]] + reach if self._oldest else 0

    def _may(self, node: Node, slot: Slot) -> bool:
        """Whether the thread's state allows it now."""
        switching = self._cycle - self._switch <= machine.THRSW_SLOTS
        if self._branched and (node.uniform is not None or node.kind == "thrsw"):
            return False
        if node.kind == "thrsw":
            quiet = not any(_pushes(n) or n.write == UNIFA for n in slot.nodes())
            opens = self._store >= 0 or (
                self._end is not None
                and self._cycle + machine.THRSW_SLOTS >= self._end - 1 - machine.BRANCH_SLOTS
            )
            if not quiet or switching or opens:
                return False
            if not self._flags.may_switch():
                self._held = self._cycle
                return False
            return True
        if switching and self._in_switch(node):
            return False
        if node.kind == "ldtmu":
            return bool(self._reads) and self._reads[0][0] == node.lookup
        if not self._flags.may(node):
            return False
        if is_push(node) and self._is_held() and not self._flags.wanted() >> node.order & 1:
            return False
        if node.write == UNIFA:
            return self._may_point()
        if node.write == TMUD:
            return self._store in (-1, node.lookup)
        if is_address(node):
            return self._may_look_up(node, slot)
        return True

    def _may_point(self) -> bool:
        """Whether unifa may be written: no branch comes soon, and none was."""
        last = self._end is None or (
            self._cycle + machine.UNIFA_GAP <= self._end - 1 - machine.BRANCH_SLOTS
        )
        return last and not self._branched

    def _in_switch(self, node: Node) -> bool:
        """Whether a node may not stand with a thrsw or in its slots."""
        if node.latency > 1 and node.kind == "alu" and self._cycle > self._switch:
            return True  # an SFU operation
        if node.write == UNIFA or (node.write == TMUD and self._store == -1):
            return True
        # Whether or not flags stay, they are not written in the slots (v3d-rules.md).
        return _pushes(node)

    def _may_look_up(self, node: Node, slot: Slot) -> bool:
        if self._store not in ((node.lookup,) if node.store else (-1,)):
            return False
        if len(self._reads) + self._writes >= machine.MAX_LOOKUPS:
            if self._writes and slot.fit_wait():
                slot.wait = True
            return False
        if not node.words:
            return True
        popped = any(n.kind == "ldtmu" for n in slot.signals)
        room = machine.queue_words(self._block.threads)
        return self._words + node.words + popped <= room

    # Consequences.

    def _place(self, node: Node, slot: Slot, form: NodeForm | None) -> None:
        order = node.order
        self._end_wait(self._ready, order)
        self._done[order] = True
        if form is not None:
            slot.put(node, form)
        else:
            self._end_wait(self._ready_signals, order)
            slot.put_signal(node)
        for flag in node.flags_read:
            self._made.places[node, flag] = self._flags.place(flag)
        self._flags.read(node)
        self._queues(node)
        self._pressure.place(order)
        for k, slots in self._block.followers[order]:
            self._earliest[k] = max(self._earliest[k], self._cycle + slots)
            self._missing[k] -= 1
            if not self._missing[k]:
                self._wait(k, self._earliest[k])

    def _wait(self, order: int, cycle: int) -> None:
        """A node for which nothing is missing but time."""
        if cycle <= self._cycle and self._made.slots:
            self._begin(self._rank[order])
        else:
            self._later.setdefault(cycle, []).append(self._rank[order])

    def _begin(self, rank: int) -> None:
        insort(self._ready, rank)
        if self._block.nodes[self._by_rank[rank]].kind not in _ON_ALU:
            insort(self._ready_signals, rank)

    def _end_wait(self, ready: list[int], order: int) -> None:
        del ready[bisect_left(ready, self._rank[order])]

    def _queues(self, node: Node) -> None:
        if node.kind == "thrsw":
            self._switch = self._cycle
        elif node.kind == "tmuwt":
            self._writes = self._begun
        elif node.kind == "ldtmu":
            lookup, words = self._reads.popleft()
            if words > 1:
                self._reads.appendleft((lookup, words - 1))
            self._words -= 1
        elif node.write == UNIFA:
            self._unifa = self._cycle
        elif node.write == TMUD:
            self._store = node.lookup
        elif is_address(node):
            self._store = -1
            if node.words:
                self._reads.append((node.lookup, node.words))
                self._words += node.words
            else:
                self._writes += 1
                self._begun += 1


def _pushes(node: Node) -> bool:
    return node.flag is not None
