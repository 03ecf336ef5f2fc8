# SPDX-License-Identifier: BSD-2-Clause
"""Schedules of the entry, and of the first trip's stage 0 behind it."""

from collections import Counter
from collections.abc import Mapping, Sequence

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.allocate import Compiled, allocate
from daedalus.generator.targets.qpu.block import Block
from daedalus.generator.targets.qpu.depend import (
    add_switches,
    connect,
    in_order,
    is_pop,
    is_unifa,
    starts_load,
)
from daedalus.generator.targets.qpu.flags import in_written_order
from daedalus.generator.targets.qpu.loop import Body, NoSchedule, fresh_value
from daedalus.generator.targets.qpu.lower import Lowering
from daedalus.generator.targets.qpu.nodes import Node, NodeForm
from daedalus.generator.targets.qpu.schedule import PLAIN, Scheduler
from daedalus.generator.targets.qpu.stages import copies
from daedalus.generator.targets.qpu.virtual import Operand, Payload, Program, Value
from daedalus.generator.targets.qpu.webs import Webs, move

PAYLOAD = 0  # the value that is in rf3 when a thread begins
PAYLOAD_REGISTER = 3


class Entry:
    """The entry of a program, which can be scheduled before several loops."""

    def __init__(
        self, program: Program, uses: Counter[Value], threads: int, body: Body | None, *,
        flags_stay: bool = True,
    ) -> None:  # fmt: skip
        self._program = program
        self._threads = threads
        self._body = body
        self._flags_stay = flags_stay
        plain = [i for i in program.entry if not isinstance(i, Payload)]
        nodes = [*_payload(program), *Lowering(plain, uses).nodes]
        self._later = _read_later(program)
        # Copies get numbers that the loop's copies do not have.
        beyond = fresh_value(program) if body is None else body.webs.fresh
        self._webs = Webs(nodes, {}, self._later, beyond)
        connect(self._webs.nodes, plain)
        self._nodes = add_switches(in_order(self._webs.nodes), threads, len(nodes))

    def before(self, loop: Compiled | None, ahead: frozenset[Node]) -> Compiled:
        """Its schedule before a loop whose stage 0 are those nodes of the body."""
        nodes, web, out, fixed = list(self._nodes), {}, frozenset[int](), {}
        for value in _values(nodes):
            web[value] = self._webs.find(value)
        if loop is not None and self._body is not None:
            nodes = self._join(self._body, ahead, web)
            out = loop.block.live_in
            fixed = {w: loop.register[w] for w in out}
        live_in = frozenset({PAYLOAD} if any(PAYLOAD in n.reads for n in nodes) else ())
        if live_in:
            fixed[PAYLOAD] = PAYLOAD_REGISTER
        stay = self._flags_stay
        block = Block(nodes, self._threads, web, live_in, out, flags_stay=stay)
        written = False
        for heuristic in PLAIN:
            if heuristic.static_flags and not written:
                in_written_order(nodes, None)
                nodes = in_order(nodes)
                block = Block(nodes, self._threads, web, live_in, out, flags_stay=stay)
                written = True
            schedule = Scheduler(block, heuristic).run()
            if schedule is None:
                continue
            register = allocate(block, schedule, fixed)
            if register is not None:
                return Compiled(block, schedule, register)
        raise NoSchedule(machine.short_of_registers(self._program.name, "entry", self._threads))

    def _join(self, body: Body, ahead: frozenset[Node], web: dict[int, int]) -> list[Node]:
        """The nodes with moves into what the loop carries and stage 0 of the first trip; the webs
        of all values, those that the loop knows by its names."""
        makers = {n.value: n for n in self._nodes if n.value is not None}
        names = {self._webs.find(v): v for v in self._later}
        into, moves = self._first_values(makers, body, names)
        stage = copies(body.nodes, ahead, 1 + max((n.lookup for n in self._nodes), default=-1))
        for node in stage:
            for value in node.reads:
                maker = into.get(value) or makers.get(value)
                if maker is not None:
                    node.after(maker, maker.latency)
            for value, maker in into.items():
                if node.value is not None and body.webs.find(node.value) == body.webs.find(value):
                    node.after(maker, 1)  # it is the second one
            _mode_before(self._nodes, node)
        _queue_after(self._nodes, stage)
        for value in web:
            root = web[value]
            web[value] = body.webs.find(names[root]) if root in names else root
        web.update({v: body.webs.find(v) for v in _values([*stage, *moves]) if v not in web})
        return in_order([*self._nodes, *moves, *stage])

    def _first_values(
        self, makers: Mapping[int, Node], body: Body, names: dict[int, int]
    ) -> tuple[dict[int, Node], list[Node]]:
        """Who defines what the loop carries: whoever computes its first value, if that is all
        that is done with it, else a move."""
        loop = self._program.loop
        assert loop is not None
        often = Counter(c.first.number for c in loop.carried)
        read = {v.number for i in loop.body for v in i.reads()}
        read |= {v for n in self._nodes for v in n.reads}
        into, moves = {}, []
        for c in loop.carried:
            first, value = c.first.number, c.value.number
            maker = makers[first]
            if often[first] == 1 and first not in read and maker.old is None:
                names[self._webs.find(first)] = value
            else:
                form = move(first)
                made = Node("alu", len(self._nodes), (form,), value, note="first trip")
                made.after(maker, maker.latency)
                moves.append(made)
                maker = made
            into[value] = maker
        return into, moves


def _values(nodes: Sequence[Node]) -> set[int]:
    made = {n.value for n in nodes if n.value is not None}
    return made.union(*(n.reads for n in nodes)) if nodes else made


def _payload(program: Program) -> list[Node]:
    """Moves of the payload out of its register."""
    form = NodeForm("mov", (Operand(Value(PAYLOAD), "ul"),), True, True, False)
    return [
        Node("alu", 0, (form,), i.result.number, note="workgroup")
        for i in program.entry
        if isinstance(i, Payload)
    ]


def _read_later(program: Program) -> set[int]:
    """Values of the entry that the loop's body reads, or begins with."""
    loop = program.loop
    if loop is None:
        return set()
    made = {v for i in program.entry for v in i.results()}
    read = {v for i in loop.body for v in i.reads()} | {c.first for c in loop.carried}
    return {v.number for v in read & made}


def _mode_before(nodes: Sequence[Node], node: Node) -> None:
    if any(f.op == "v8dot" for f in node.forms):
        for other in nodes:
            if other.forms and other.forms[0].op.startswith("setnnmode_"):
                node.after(other, 1)


def _queue_after(nodes: Sequence[Node], stage: Sequence[Node]) -> None:
    """Results of the entry's loads come before those of the first trip's, by unifa as well."""
    for kind in (starts_load, is_pop, is_unifa):
        last = [n for n in nodes if kind(n)][-1:]
        for node in [n for n in stage if kind(n)][:1]:
            for other in last:
                node.after(other, 1)
