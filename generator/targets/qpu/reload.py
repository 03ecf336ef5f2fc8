# SPDX-License-Identifier: BSD-2-Clause
"""Which values of the entry stay in registers, and which are made again where they are needed.

What the entry computes or loads takes a register all the time; made in the loop it takes one from
there to its use: a word of the uniform stream the signal field of an instruction, anything else an
operation. So while values are too many, operations on what is the same in all trips are moved into
the loop, those used least first; then uniforms.
"""

from dataclasses import replace

from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Form,
    Instruction,
    Load,
    LoadUnifa,
    LoadUniform,
    Operand,
    Program,
    Source,
    Store,
    Value,
)

FEW = 2  # uses a trip for which a uniform is worth no register
TO_UNIFORMS = 8  # registers that operations leave to uniforms


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


class _Moving:
    """A program of which instructions move from the entry into the loop.

    busy  the most values of the loop that are alive at once, as it is written at first
    """

    def __init__(self, program: Program, near: int) -> None:
        assert program.loop is not None
        self._program, self._near = program, near
        self._body = list(program.loop.body)
        carried = program.loop.carried
        self._fixed = {c.first for c in carried} | {c.next for c in carried}
        blocks = (program.entry, self._body)
        numbers = [v.number for block in blocks for i in block for v in i.results()]
        self._number = max([*numbers, *(c.value.number for c in carried)])
        self._made: dict[Value, Instruction] = {
            i.result: i
            for i in program.entry
            if (isinstance(i, LoadUniform) or (isinstance(i, Compute) and not i.change))
            and i.result is not None
        }
        # What each instruction of it reads that can be made in the loop, and where that is read.
        self._reads = [self._made_of(i) for i in self._body]
        self._places = self._uses()
        self.busy = _most_alive(self._body, set(self._made))

    def _made_of(self, i: Instruction) -> list[Value]:
        return [v for v in i.reads() if v in self._made]

    def _uses(self) -> dict[Value, list[int]]:
        found: dict[Value, list[int]] = {}
        for n, values in enumerate(self._reads):
            for v in values:
                found.setdefault(v, []).append(n)
        return found

    def kept(self, *kinds: type[Instruction]) -> list[Value]:
        """Values that stay alive, of instructions of these kinds, those used least first."""
        mine = [v for v in self._places if isinstance(self._made[v], kinds)]
        return sorted(mine, key=lambda v: len(self._places[v]))

    def next(self, kind: type[Instruction]) -> int | None:
        """How often the value that is moved next is used."""
        values = self.kept(kind)
        return len(self._places[values[0]]) if values else None

    def move(self, kind: type[Instruction]) -> bool:
        """Makes the value that is used least in the loop; whether there was one."""
        values = self.kept(kind)
        if not values:
            return False
        value, last, shift = values[0], -1, 0
        name = value
        for at in self._places[value]:
            if last < 0 or at - last > self._near:
                self._number += 1
                name = Value(self._number, value.name)
                made = self._made[value]
                assert isinstance(made, Compute | LoadUniform)
                self._insert(at + shift, replace(made, result=name))
                shift += 1
            last = at
            here = at + shift
            self._body[here] = _renamed(self._body[here], {value: name})
            self._reads[here] = [v for v in self._reads[here] if v != value]
        self._places = self._uses()
        return True

    def _insert(self, at: int, i: Instruction) -> None:
        self._body.insert(at, i)
        self._reads.insert(at, self._made_of(i))

    def program(self) -> Program:
        """What has become of it."""
        program, wanted = self._program, set(self._fixed)
        assert program.loop is not None
        wanted.update(v for i in self._body for v in i.reads())
        entry: list[Instruction] = []
        for i in reversed(program.entry):
            if not any(v in self._made for v in i.results()) or wanted & set(i.results()):
                entry.append(i)
                wanted.update(i.reads())
        loop = replace(program.loop, body=tuple(self._body))
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


def _renamed(i: Instruction, names: dict[Value, Value]) -> Instruction:
    def source(s: Source) -> Source:
        return replace(s, value=names.get(s.value, s.value)) if isinstance(s, Operand) else s

    def value(v: Value) -> Value:
        return names.get(v, v)

    match i:
        case Compute():
            forms = tuple(Form(f.op, tuple(map(source, f.sources))) for f in i.forms)
            return replace(i, forms=forms, old=None if i.old is None else value(i.old))
        case Load() | LoadUnifa():
            return replace(i, address=value(i.address))
        case Store():
            return replace(i, address=value(i.address), data=tuple(map(value, i.data)))
    return i
