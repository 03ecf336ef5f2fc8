# SPDX-License-Identifier: BSD-2-Clause
"""Sets values aside in scratch memory, by the TMU, where more are alive than registers hold.

As a program is written, a value is alive from what makes it to its last use. Where too many are
alive at once, those that wait longest there for their next use are stored as soon as they are made,
and loaded again for it. What it costs are the lookups: a word stored a value, and a word loaded
each time. What is the same in all trips, and what a trip passes to the next, stays: of the former
`reload` takes care.

Each value has a place of its own, so its lookups wait for no others. The thread waits for all its
stores before it loads one of what they stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from daedalus.generator.targets.qpu.loop import fresh_value
from daedalus.generator.targets.qpu.lower import renamed
from daedalus.generator.targets.qpu.machine import LANES
from daedalus.generator.targets.qpu.temps import SPACE
from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Form,
    Immediate,
    Instruction,
    Load,
    LoadUniform,
    Loop,
    Operand,
    Payload,
    Program,
    Store,
    Uniform,
    Value,
    WaitStores,
)

# Registers that are left to addresses and constants, by program: how many do is seen when one is
# scheduled.
SPARE = (6, 14, 22, 30)
FAR = 16  # instructions that a value waits at least, to be set aside
PLACE = 4 * LANES  # bytes of a value
_NOTE = "set aside"


@dataclass(frozen=True)
class Wait:
    """A value waits from one instruction of the body, by its number, to the next that reads it."""

    value: Value
    begin: int
    end: int


def with_aside(program: Program, scratch: int, registers: int) -> list[Program]:
    """Programs that compute the same and leave more and more registers free; the program itself
    where there is nothing to set aside.

    scratch  bytes of scratch memory a thread that it takes for its temps
    """
    found: dict[str, Program] = {}
    for spare in SPARE:
        made = set_aside(program, scratch, registers - spare)
        if made.aside:
            found.setdefault(str(made), made)
    return [*found.values()] or [program]


def set_aside(program: Program, scratch: int, most: int) -> Program:
    """The program with so much set aside that about `most` values are alive at once as it is
    written."""
    if program.loop is None:
        return program
    waits = _chosen(program.loop.body, _fixed(program.loop), most)
    if not waits:
        return program
    values = list(dict.fromkeys(w.value for w in waits))
    own = PLACE * len(values)
    entry = _Entry(program, scratch, own)
    places = {v: entry.place(n) for n, v in enumerate(values)}
    body = _moved(program.loop.body, waits, places, entry)
    return replace(
        program,
        entry=(*program.entry, *entry.instructions),
        loop=replace(program.loop, body=tuple(body)),
        aside=own,
    )


def _fixed(loop: Loop) -> set[Value]:
    """What a trip passes to the next."""
    return {c.next for c in loop.carried}


def _chosen(body: Sequence[Instruction], fixed: set[Value], most: int) -> list[Wait]:
    """Which waits of which values are spent aside."""
    begun: dict[Value, int] = {}
    alive = [0] * len(body)  # behind each instruction
    waits: list[Wait] = []
    for n, i in enumerate(body):
        for v in dict.fromkeys(i.reads()):
            if v in begun:
                waits.append(Wait(v, begun[v], n))
                for k in range(begun[v], n):
                    alive[k] += 1
                begun[v] = n
        begun |= dict.fromkeys(i.results(), n)
    waits = [w for w in waits if w.value not in fixed and w.end - w.begin >= FAR]
    chosen: list[Wait] = []
    while alive and max(alive) > most:
        at = alive.index(max(alive))
        longest = max(
            (w for w in waits if w.begin <= at < w.end),
            key=lambda w: w.end - w.begin,
            default=None,
        )
        if longest is None:  # nothing that is alive there can go
            alive[at] = 0
            continue
        waits.remove(longest)
        chosen.append(longest)
        for k in range(longest.begin, longest.end):
            alive[k] -= 1
    return chosen


class _Entry:
    """What is added to a program's entry: where the places are."""

    def __init__(self, program: Program, scratch: int, own: int) -> None:
        self._number = fresh_value(program)
        self.instructions: list[Instruction] = []
        (thread,) = (i.result for i in program.entry if isinstance(i, Payload))
        base = self._uniform(Uniform("value", SPACE))
        base = self._compute("add", base, self._times(thread, own))
        if scratch:  # what other scratch memory all threads take
            threads = self._uniform(Uniform("value", "threads"))
            base = self._compute("add", base, self._times(threads, scratch))
        element = self._compute("shl", self._compute("eidx"), 2)
        self._base = self._compute("add", base, element)

    def fresh(self, name: str = "") -> Value:
        """A value that the program has not yet."""
        made = Value(self._number, name)
        self._number += 1
        return made

    def place(self, number: int) -> Value:
        """The address of each element's word of a place."""
        if number == 0:
            return self._base
        return self._compute("add", self._base, self._constant(PLACE * number))

    def _times(self, value: Value, by: int) -> Value:
        return self._compute("umul24", value, self._constant(by))

    def _constant(self, bits: int) -> Value:
        return self._uniform(Uniform("constant", bits=bits))

    def _uniform(self, uniform: Uniform) -> Value:
        made = self.fresh()
        self.instructions.append(LoadUniform(_NOTE, made, uniform))
        return made

    def _compute(self, op: str, *sources: Value | int) -> Value:
        made = self.fresh()
        operands = tuple(Operand(s) if isinstance(s, Value) else Immediate(s) for s in sources)
        self.instructions.append(Compute(_NOTE, (Form(op, operands),), made))
        return made


def _moved(
    body: Sequence[Instruction], waits: Sequence[Wait], places: dict[Value, Value], entry: _Entry
) -> list[Instruction]:
    """The body with the lookups; behind one that loads a value again it is the value loaded."""
    back = {(w.value, w.end) for w in waits}
    names: dict[Value, Value] = {}
    made: list[Instruction] = []
    waiting: set[Value] = set()  # stored, and the thread has not waited since
    for n, i in enumerate(body):
        for v in dict.fromkeys(i.reads()):
            if (v, n) not in back:
                continue
            if v in waiting:
                made.append(WaitStores(i.note))
                waiting.clear()
            names[v] = entry.fresh(v.name)
            made.append(Load(i.note, places[v], "u32", (names[v],), _space(v)))
        made.append(renamed(i, names))
        for v in i.results():
            if v in places:
                made.append(Store(i.note, places[v], "u32", (v,), _space(v)))
                waiting.add(v)
    return made


def _space(value: Value) -> str:
    return f"{SPACE} aside {value.number}"
