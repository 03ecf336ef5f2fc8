# SPDX-License-Identifier: BSD-2-Clause
"""Which values of the entry stay in registers, and which are made again where they are needed.

What the entry computes or loads takes a register all the time; made in the loop it takes one from
there to its use: a word of the uniform stream the signal field of an instruction, anything else an
operation. So while values are too many, operations on what is the same in all trips are moved into
the loop, those used least first; then uniforms.

Where the entry has many values, as it has of many stages, most of them go, and operands with their
results, one after the other: what is made of a value for one of them does for others nearby.
"""

from dataclasses import dataclass, field, replace

from daedalus.generator.targets.qpu.lower import renamed
from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Instruction,
    LoadUniform,
    Program,
    Value,
)

FEW = 2  # uses a trip for which a uniform is worth no register
TO_UNIFORMS = 8  # registers that operations leave to uniforms
MANY = 256  # instructions of an entry from which on results that are made in the loop are shared


def reload(program: Program, registers: int, near: int) -> Program:
    """The program with so much made in its loop that about so many registers suffice.

    near  instructions that a value waits for its next use
    """
    if program.loop is None:
        return program
    moving = _Moving(program, near)
    while moving.busy + len(moving.kept(Compute)) > registers - TO_UNIFORMS:
        if not moving.move(Compute):
            break
    while (n := moving.next(LoadUniform)) is not None and (
        n <= FEW or moving.busy + len(moving.kept(Compute, LoadUniform)) > registers
    ):
        moving.move(LoadUniform)
    return moving.program()


@dataclass(eq=False)
class _Place:
    """An instruction of the body.

    reads  numbers of the values it reads that can be made in the loop
    at     how many instructions stand before it
    users  of a copy of an instruction of the entry, who reads it
    """

    instruction: Instruction
    reads: list[int]
    at: int = 0
    users: list["_Place"] = field(default_factory=list)

    def wanted(self, at: int) -> int:
        """Where a copy is read last up to a place; -1 of one that stands behind it."""
        return -1 if self.at > at else max([self.at, *(p.at for p in self.users if p.at <= at)])


class _Moving:
    """A program of which instructions move from the entry into the loop.

    busy  the most values of the loop that are alive at once, as it is written at first
    """

    def __init__(self, program: Program, near: int) -> None:
        assert program.loop is not None
        self._program, self._reach = program, near
        body, carried = program.loop.body, program.loop.carried
        self._fixed = {c.first for c in carried} | {c.next for c in carried}
        blocks = (program.entry, body)
        numbers = [v.number for block in blocks for i in block for v in i.results()]
        self._number = max([*numbers, *(c.value.number for c in carried)])
        made = {
            i.result: i
            for i in program.entry
            if (isinstance(i, LoadUniform) or (isinstance(i, Compute) and not i.change))
            and i.result is not None
        }
        self._made = {v.number: i for v, i in made.items()}
        self._body = [_Place(i, self._made_of(i)) for i in body]
        self._uses: dict[int, list[_Place]] = {}  # where what can be made in the loop is read
        for place in self._body:
            for v in place.reads:
                self._uses.setdefault(v, []).append(place)
        self._copies: dict[int, list[_Place]] = {}  # of each value, if they are shared
        self._shares = len(program.entry) > MANY
        self._count()
        self.busy = _most_alive(list(body), set(made))

    def _made_of(self, i: Instruction) -> list[int]:
        return [v.number for v in i.reads() if v.number in self._made]

    def _count(self) -> None:
        for n, place in enumerate(self._body):
            place.at = n

    def kept(self, *kinds: type[Instruction]) -> list[int]:
        """Values that stay alive, of instructions of these kinds."""
        return [v for v in self._uses if isinstance(self._made[v], kinds)]

    def _first(self, kind: type[Instruction]) -> int | None:
        """The value that is moved next: of those that are used least the one that is used first."""

        def rank(v: int) -> tuple[int, int]:
            return len(self._uses[v]), self._uses[v][0].at

        kept = self.kept(kind)
        return min(kept, key=rank) if kept else None

    def next(self, kind: type[Instruction]) -> int | None:
        """How often the value that is moved next is used."""
        value = self._first(kind)
        return None if value is None else len(self._uses[value])

    def move(self, kind: type[Instruction]) -> bool:
        """Makes the value that is used least in the loop; whether there was one."""
        value = self._first(kind)
        if value is None:
            return False
        made = self._made[value]
        assert isinstance(made, Compute | LoadUniform) and made.result is not None
        copies = self._copies.setdefault(value, []) if self._shares else []
        inserted: list[_Place] = []
        for place in self._uses.pop(value):
            copy = self._near(copies, place)
            if copy is None:
                self._number += 1
                name = Value(self._number, made.result.name)
                instruction = replace(made, result=name)
                copy = _Place(instruction, self._made_of(instruction), place.at)
                self._body.insert(place.at + len(inserted), copy)
                inserted.append(copy)
                copies.append(copy)
            copy.users.append(place)
            (name,) = copy.instruction.results()
            place.instruction = renamed(place.instruction, {made.result: name})
            place.reads = [v for v in place.reads if v != value]
        self._count()
        for place in inserted:
            for v in place.reads:
                self._uses.setdefault(v, []).append(place)
        for v in {v for place in inserted for v in place.reads}:
            self._uses[v].sort(key=lambda place: place.at)
        return True

    def _near(self, copies: list[_Place], user: _Place) -> _Place | None:
        """Of copies of a value the one that waits least for a place; None if all wait long."""
        best = max(copies, key=lambda c: c.wanted(user.at), default=None)
        if best is None or (last := best.wanted(user.at)) < 0 or user.at - last > self._reach:
            return None
        return best

    def program(self) -> Program:
        """What has become of it."""
        program, wanted = self._program, set(self._fixed)
        assert program.loop is not None
        body = tuple(place.instruction for place in self._body)
        wanted.update(v for i in body for v in i.reads())
        entry: list[Instruction] = []
        for i in reversed(program.entry):
            if not any(v.number in self._made for v in i.results()) or wanted & set(i.results()):
                entry.append(i)
                wanted.update(i.reads())
        loop = replace(program.loop, body=body)
        return replace(program, entry=tuple(reversed(entry)), loop=loop)


def _most_alive(body: list[Instruction], outside: set[Value]) -> int:
    """The most values of the loop that are alive at once, as it is written."""
    last: dict[Value, int] = {}
    for n, i in enumerate(body):
        last.update(dict.fromkeys(i.reads(), n))
    alive = most = 0
    ends: dict[int, int] = {}
    for n, i in enumerate(body):
        alive -= ends.pop(n, 0)
        for v in i.results():
            if v in last and v not in outside:
                alive += 1
                ends[last[v]] = ends.get(last[v], 0) + 1
        most = max(most, alive)
    return most
