# SPDX-License-Identifier: BSD-2-Clause
"""Schedules of a loop's body: ways to cut it into two stages, and heuristics for each."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.allocate import Compiled, allocate
from daedalus.generator.targets.qpu.block import Block
from daedalus.generator.targets.qpu.depend import (
    Circular,
    add_switches,
    connect,
    in_order,
    is_address,
    late_pops,
)
from daedalus.generator.targets.qpu.flags import in_written_order
from daedalus.generator.targets.qpu.linear import fewer_registers
from daedalus.generator.targets.qpu.lower import Lowering
from daedalus.generator.targets.qpu.nodes import UNIFA, Node
from daedalus.generator.targets.qpu.renew import renewed, segments
from daedalus.generator.targets.qpu.schedule import PLAIN, Heuristic, Schedule, Scheduler
from daedalus.generator.targets.qpu.slot import Slot
from daedalus.generator.targets.qpu.stages import combine, crossing, stage_zero, waiting
from daedalus.generator.targets.qpu.virtual import Loop, Program, Value
from daedalus.generator.targets.qpu.webs import Webs, copies_for_late

CUTS = (2, 4, 6, 8, 12, 16, 24, 32, 48)  # cycles of a trip that may be done in the one before

SMALL = 300  # nodes of a body that is tried with copies, too: larger ones lack registers


class NoSchedule(Exception):
    """A program that cannot be scheduled: what is short, and what to do."""


@dataclass
class Body:
    """A loop's body before it is cut."""

    nodes: list[Node]
    webs: Webs
    repeat: Node
    stores: int
    invariants: set[int]
    flags_stay: bool  # at thread switches
    # Blocks to schedule, by stage 0 and whether flags keep their order; None: there is none.
    _cut: dict[tuple[frozenset[Node], bool], Block | None] = field(default_factory=dict)
    # What leads to no schedule: stage 0 and the heuristic.
    vain: set[tuple[frozenset[Node], Heuristic]] = field(default_factory=set)

    def block(
        self,
        threads: int,
        nodes: list[Node] | None = None,
        cross: Collection[int] = (),
        queue: tuple[tuple[int, int], ...] = (),
    ) -> Block:
        """Of these nodes, or of the whole body, with what passes from trip to trip: besides what
        the loop carries and the entry has computed the values `cross` and results in the queue."""
        nodes = self.nodes if nodes is None else nodes
        find = self.webs.find
        passed = {find(v) for v in (*self.invariants, *self.webs.next, *cross)}
        values = {v for n in nodes for v in n.reads} | {n.value for n in nodes} - {None}
        return Block(
            nodes,
            threads,
            {v: find(v) for v in values if v is not None},
            frozenset(passed),
            frozenset(passed),
            self.repeat,
            queue,
            min(machine.MAX_LOOKUPS, self.stores),
            self.flags_stay,
        )

    def cut(self, ahead: frozenset[Node], threads: int, *, static_flags: bool) -> Block | None:
        """The body with those nodes as stage 0; None if they cannot be that."""
        key = ahead, static_flags
        if key not in self._cut:
            self._cut[key] = self._made_cut(ahead, threads, static_flags=static_flags)
        return self._cut[key]

    def _made_cut(
        self, ahead: frozenset[Node], threads: int, *, static_flags: bool
    ) -> Block | None:
        copy = combine(self.nodes, ahead, self.webs, self.webs.next)
        trip = [copy[n] for n in self.nodes if n not in ahead]
        nodes = [*trip, *(copy[n] for n in self.nodes if n in ahead)]
        repeat = copy[self.repeat]
        for node in nodes:
            # The branch goes by A: nothing pushes after it, and no switch loses it.
            if node.stage == 0 and node.flag is not None:
                repeat.after(node, 1)
            elif node.kind == "thrsw" and not self.flags_stay:
                repeat.after(node, machine.THRSW_SLOTS + 1)
        if static_flags:
            in_written_order(nodes, repeat)
        try:
            nodes = in_order(nodes)
        except Circular:
            return None
        block = self.block(threads, nodes, crossing(nodes), waiting(nodes))
        block.repeat = repeat
        return block


def make_bodies(
    program: Program, uses: Counter[Value], threads: int, *, flags_stay: bool = True
) -> list[Body]:
    """The body; and a small one once more with copies that let its loads go ahead."""
    loop = program.loop
    assert loop is not None
    carried = {c.next.number: c.value.number for c in loop.carried}
    fresh = fresh_value(program)

    def body(nodes: list[Node], fresh: int) -> Body:
        return _body(program, nodes, fresh, carried, threads, flags_stay=flags_stay)

    out = [body(Lowering(loop.body, uses).nodes, fresh)]
    if loop.ahead and len(out[0].nodes) <= SMALL:
        copied = copies_for_late(Lowering(loop.body, uses).nodes, carried, fresh)
        out += [] if copied is None else [body(*copied)]
    return out


def _body(
    program: Program, lowered: list[Node], fresh: int, carried: dict[int, int], threads: int, *,
    flags_stay: bool,
) -> Body:  # fmt: skip
    loop = program.loop
    assert loop is not None

    def ordered(lowered: list[Node]) -> tuple[list[Node], Webs, Node, int]:
        webs = Webs(lowered, carried, set(), fresh)
        nodes, repeat, stores = _connected(webs.nodes, loop)
        switched = add_switches(in_order(nodes), threads, len(nodes))
        return late_pops(switched, threads), webs, repeat, stores

    if not flags_stay:
        # Which switches there are, and where, is known once the nodes are in order.
        tried = [n.copy() for n in lowered]
        segment = segments(ordered(tried)[0])
        of = {n: segment[t] for n, t in zip(lowered, tried, strict=True)}
        lowered = renewed(lowered, of, loop.repeat.number)
    nodes, webs, repeat, stores = ordered(lowered)
    made = {n.value for n in nodes} | set(carried.values())
    invariants = {v for n in nodes for v in n.reads} - made
    body = Body(nodes, webs, repeat, stores, invariants, flags_stay)
    body.nodes = fewer_registers(body.block(threads))
    return body


def _connected(nodes: list[Node], loop: Loop) -> tuple[list[Node], Node, int]:
    """The nodes of a body with what they wait for; who makes the flag that repeats the loop; and
    the number of stores."""
    connect(nodes, loop.body)
    first = _first_flag(nodes, loop.repeat.number)
    repeat = next(n for n in nodes if n.flag == first)
    chain = _chain(nodes, repeat)
    for node in nodes:
        if node.flag is not None and node.flag not in chain:
            repeat.after(node, 1)
    stores = sum(is_address(n) and n.store for n in nodes)
    if stores:
        nodes = [*nodes, _wait_for_last_trip(nodes)]
    return nodes, repeat, stores


def _first_flag(nodes: Sequence[Node], flag: int) -> int:
    """The push that an updated flag goes back to."""
    maker = {n.flag: n for n in nodes if n.flag is not None}
    while (updates := maker[flag].updates) is not None:
        flag = updates
    return flag


def _chain(nodes: Sequence[Node], push: Node) -> set[int]:
    """The flags that a push and its updates make."""
    chain = {push.flag}
    for node in nodes:
        if node.updates in chain:
            chain.add(node.flag)
    return {f for f in chain if f is not None}


def _wait_for_last_trip(nodes: Sequence[Node]) -> Node:
    """A tmuwt before the first store, when what that needs is there: more than eight lookups on
    their way are too many, and stores of a trip are on their way until somebody waits."""
    first = next(n for n in nodes if n.store)
    wait = Node("tmuwt", first.order, note="the last trip's stores")
    for pred, slots in first.preds.items():
        wait.after(pred, slots)
    first.after(wait, 1)
    return wait


def fresh_value(program: Program) -> int:
    blocks = [*program.entry, *(program.loop.body if program.loop is not None else ())]
    carried = program.loop.carried if program.loop is not None else ()
    numbers = [v.number for i in blocks for v in (*i.results(), *i.reads())]
    return max(numbers + [c.value.number for c in carried], default=0) + 1


def cuts(program: Program, body: Body, threads: int) -> Iterator[frozenset[Node]]:
    """Stage 0 of each way to cut the body, all different."""
    loop = program.loop
    assert loop is not None
    yield frozenset()
    if not loop.ahead:
        return
    block = body.block(threads)
    block.repeat = None
    tried = (Scheduler(block, heuristic).run() for heuristic in PLAIN)
    plain = next((s for s in tried if s is not None), None)
    if plain is None:
        return
    seen: list[set[Node]] = [set()]
    for cut in CUTS:
        early = {n for slot in plain.slots[:cut] for n in slot.nodes()}
        ahead = stage_zero(body.nodes, early, body.repeat, body.webs.next, threads)
        if ahead not in seen:
            seen.append(ahead)
            yield frozenset(ahead)


@dataclass(frozen=True)
class Attempt:
    """A schedule of the loop's body without its branch."""

    ahead: frozenset[Node]
    heuristic: Heuristic
    block: Block
    schedule: Schedule

    def cost(self) -> tuple[int, int]:
        """Less is better."""
        return len(self.schedule.slots), self.schedule.most_live


def attempt(
    body: Body, ahead: frozenset[Node], threads: int, heuristic: Heuristic
) -> Attempt | None:
    """One schedule of the loop's body; None if the heuristic finds none."""
    if (ahead, heuristic) in body.vain:
        return None
    block = body.cut(ahead, threads, static_flags=heuristic.static_flags)
    schedule = None if block is None else Scheduler(block, heuristic).run()
    if block is None or schedule is None:
        body.vain.add((ahead, heuristic))
        return None
    return Attempt(ahead, heuristic, block, schedule)


def finish(found: Attempt) -> Compiled | None:
    """The attempt with its branch, as short as can be, and registers; None without enough."""
    block, least = found.block, len(found.schedule.slots) + 1
    for end in (*range(least, least + machine.BRANCH_SLOTS), None):
        schedule = (
            _append_branch(block, found.schedule)
            if end is None
            else Scheduler(block, found.heuristic, end).run()
        )
        register = None if schedule is None else allocate(block, schedule, {})
        if schedule is not None and register is not None:
            return Compiled(block, schedule, register)
    return None


def _append_branch(block: Block, schedule: Schedule) -> Schedule:
    """Puts the branch behind the last instruction that its slots cannot hold."""
    assert block.repeat is not None
    slots = schedule.slots
    tail = 0
    while tail < machine.BRANCH_SLOTS and tail < len(slots):
        slot = slots[-1 - tail]
        if slot.consumes() or any(
            n.kind == "thrsw" or n.flag is not None or n.write == UNIFA for n in slot.nodes()
        ):
            break
        tail += 1
    at = len(slots) - tail
    missing = max(_missing(slots, at, k) for k in range(max(0, at - machine.UNIFA_GAP), at + 1))
    made = slots[:at] + [Slot() for _ in range(missing)]
    branch_at = len(made)
    made += [Slot(branch=True), *slots[at:]]
    made += [Slot() for _ in range(machine.BRANCH_SLOTS - tail)]
    return replace(schedule, slots=made, branch_at=branch_at)


def _missing(slots: Sequence[Slot], at: int, k: int) -> int:
    """Instructions that are missing between that of number k and a branch at `at`."""
    nodes = slots[k].nodes() if k < at else []
    switches = any(n.kind == "thrsw" for n in nodes)
    points = any(n.write == UNIFA for n in nodes)
    least = max(machine.THRSW_SLOTS + 1 if switches else 0, machine.UNIFA_GAP if points else 0)
    return max(least - (at - k), 0)
