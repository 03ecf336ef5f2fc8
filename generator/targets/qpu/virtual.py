# SPDX-License-Identifier: BSD-2-Clause
"""Virtual instructions: what a QPU program computes, before anything has a place or a time.

Values are vectors of 16 elements of 32 bits, each defined once. They know no registers, flags know
neither A nor B, and instructions no order but that of their operands, of lookups in one `space`
and of flags. A program is

    entry, executed once by each thread, and then
    a loop (if it has one), executed at least once: its body is one trip.

Semantics of the operations are those of docs/v3d-arithmetic.md; semantics.py states those that
may occur, interpret.py runs whole programs.

Rules beyond those of the machine, which verify.py checks:
- A flag that is pushed lives in A, and in B once the next one is pushed, and is lost with the one
  after that. In the order in which instructions are written each flag must be where it is used;
  the scheduler may find another such order. An update changes A.
- Flags do not live from one trip of the loop to the next, nor into it.
- A store waits for lookups before it in its space; a load after a store in the same space needs
  `WaitStores` between.
- What `LoadUnifa` reads is in a space that the program does not store to.
- The loads of a loop's body may be executed for one trip more than there are (the one after a
  thread's last), if Loop.ahead says so; its stores never are.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class Value:
    """What an instruction computes; 16 elements."""

    number: int  # of the program
    name: str = field(default="", compare=False)  # for comments

    def __str__(self) -> str:
        return f"v{self.number}"

    def unpacked(self, how: str) -> "Operand":
        """The value with an operand modifier, as the assembly names it: `x.unpacked("il")`."""
        return Operand(self, how)


@dataclass(frozen=True)
class Flag:
    """A bit for each element, and whether it is asked for the bit or for its inverse."""

    number: int
    inverse: bool = False

    def __invert__(self) -> "Flag":
        return Flag(self.number, not self.inverse)

    def __str__(self) -> str:
        return f"{'~' if self.inverse else ''}f{self.number}"


@dataclass(frozen=True)
class Operand:
    """A value as an operation reads it."""

    value: Value
    unpack: str = ""

    def __str__(self) -> str:
        return f"{self.value}.{self.unpack}" if self.unpack else str(self.value)


@dataclass(frozen=True)
class Immediate:
    """A small immediate: one an instruction, in place of all signals."""

    bits: int

    def __str__(self) -> str:
        signed = self.bits - (1 << 32) if self.bits >> 31 else self.bits
        return str(signed) if -16 <= signed < 16 else f"0x{self.bits:08x}"


Source = Operand | Immediate


@dataclass(frozen=True)
class Uniform:
    """A word of the uniform stream."""

    kind: str  # "value": the runtime's, by name; "constant"; "table": address of a table
    name: str = ""
    bits: int = 0

    def __str__(self) -> str:
        return f"0x{self.bits:08x}" if self.kind == "constant" else f"{self.kind}:{self.name}"


@dataclass(frozen=True)
class Form:
    """One way to compute a result: an operation and its operands."""

    op: str
    sources: tuple[Source, ...]

    def __str__(self) -> str:
        return f"{self.op} {', '.join(map(str, self.sources))}".rstrip()


@dataclass(frozen=True, eq=False)
class Instruction:
    """What all have; `note` goes into the assembly's comments."""

    note: str

    def reads(self) -> tuple[Value, ...]:
        """The values it reads; an instruction with several forms reads those of all."""
        return ()

    def results(self) -> tuple[Value, ...]:
        """The values that it defines."""
        return ()

    def flags_read(self) -> tuple[Flag, ...]:
        """The flags it reads, as conditions, as data or to update them."""
        return ()


@dataclass(frozen=True, eq=False)
class Compute(Instruction):
    """An ALU operation. `forms` compute the same; the scheduler takes whichever fits."""

    forms: tuple[Form, ...]
    result: Value | None = None
    when: Flag | None = None  # elements in which the result is written
    old: Value | None = None  # what the others, or the other half (pack), keep
    pack: str = ""
    change: str = ""  # what it does to flags: pushz, andnz, ...
    flag: Flag | None = None  # the flag that makes
    updates: Flag | None = None  # the flag that it replaces (and.., nor..)

    def reads(self) -> tuple[Value, ...]:
        return self._reads

    @cached_property
    def _reads(self) -> tuple[Value, ...]:
        sources = [s for form in self.forms for s in form.sources]
        seen = [s.value for s in sources if isinstance(s, Operand)]
        return tuple(dict.fromkeys(seen + ([self.old] if self.old is not None else [])))

    def results(self) -> tuple[Value, ...]:
        return () if self.result is None else (self.result,)

    def flags_read(self) -> tuple[Flag, ...]:
        if self.when is None and self.updates is None:
            return ()
        return tuple(f for f in (self.when, self.updates) if f is not None)

    def __str__(self) -> str:
        made = ", ".join(str(x) for x in (self.result, self.flag) if x is not None)
        text = " | ".join(map(str, self.forms))
        change = f" {self.change}" if self.change else ""
        change += f" of {self.updates}" if self.updates is not None else ""
        when = f" when {self.when}" if self.when is not None else ""
        pack = f" into .{self.pack}" if self.pack else ""
        old = f" else {self.old}" if self.old is not None else ""
        return f"{made} = {text}{change}{pack}{when}{old}"


@dataclass(frozen=True, eq=False)
class FlagMask(Instruction):
    """0x00010001 where the flag (or its inverse) holds, else 0."""

    result: Value
    flag: Flag

    def results(self) -> tuple[Value, ...]:
        return (self.result,)

    def flags_read(self) -> tuple[Flag, ...]:
        return (self.flag,)

    def __str__(self) -> str:
        return f"{self.result} = mask {self.flag}"


@dataclass(frozen=True, eq=False)
class Load(Instruction):
    """A lookup that reads: each element's words at its byte address."""

    address: Value
    type: str  # key of machine.CONFIGS
    words: tuple[Value, ...]
    space: str  # lookups in different spaces do not meet
    when: Flag | None = None  # elements that take part; results of the others mean nothing

    def reads(self) -> tuple[Value, ...]:
        return (self.address,)

    def results(self) -> tuple[Value, ...]:
        return self.words

    def flags_read(self) -> tuple[Flag, ...]:
        return () if self.when is None else (self.when,)

    def __str__(self) -> str:
        when = f" when {self.when}" if self.when is not None else ""
        words = ", ".join(map(str, self.words))
        return f"{words} = load {self.type} {self.space}[{self.address}]{when}"


@dataclass(frozen=True, eq=False)
class LoadUnifa(Instruction):
    """Neighbouring words, the same in all elements: those at the first element's address, which is
    a multiple of 4. They are read through the uniforms' cache and take the TMU nothing."""

    address: Value
    words: tuple[Value, ...]
    space: str

    def reads(self) -> tuple[Value, ...]:
        return (self.address,)

    def results(self) -> tuple[Value, ...]:
        return self.words

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.words))} = unifa {self.space}[{self.address}]"


@dataclass(frozen=True, eq=False)
class Store(Instruction):
    """A lookup that writes."""

    address: Value
    type: str
    data: tuple[Value, ...]
    space: str
    when: Flag | None = None

    def reads(self) -> tuple[Value, ...]:
        return (*self.data, self.address)

    def flags_read(self) -> tuple[Flag, ...]:
        return () if self.when is None else (self.when,)

    def __str__(self) -> str:
        when = f" when {self.when}" if self.when is not None else ""
        data = ", ".join(map(str, self.data))
        return f"store {self.type} {self.space}[{self.address}] = {data}{when}"


@dataclass(frozen=True, eq=False)
class WaitStores(Instruction):
    """The thread's stores before it are done before its lookups after it."""

    def __str__(self) -> str:
        return "wait for stores"


@dataclass(frozen=True, eq=False)
class LoadUniform(Instruction):
    """A word of the uniform stream, the same in all elements."""

    result: Value
    uniform: Uniform

    def results(self) -> tuple[Value, ...]:
        return (self.result,)

    def __str__(self) -> str:
        return f"{self.result} = uniform {self.uniform}"


@dataclass(frozen=True, eq=False)
class Payload(Instruction):
    """The number of the thread's workgroup along x: threads are dispatched one a workgroup."""

    result: Value

    def results(self) -> tuple[Value, ...]:
        return (self.result,)

    def __str__(self) -> str:
        return f"{self.result} = workgroup"


@dataclass(frozen=True)
class Carried:
    """A value that a loop's trip passes to the next."""

    value: Value  # what the body reads
    first: Value  # of the first trip, defined by the entry
    next: Value  # of the next trip, defined by the body


@dataclass(frozen=True)
class Loop:
    """Trips until the condition fails; the first is not asked for."""

    body: tuple[Instruction, ...]
    carried: tuple[Carried, ...]
    repeat: Flag  # one more trip, if `condition` of it holds
    condition: str  # a0, anya, alla (of the flag; of its inverse if that is asked for)
    ahead: bool  # loads may be executed for one trip more than there are

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.body)


@dataclass(frozen=True)
class Program:
    """What the scheduler takes."""

    name: str
    entry: tuple[Instruction, ...]
    loop: Loop | None
    tables: dict[str, tuple[int, ...]] = field(default_factory=dict)  # words, by name
    aside: int = 0  # bytes of scratch memory a thread that it takes for values set aside

    def __str__(self) -> str:
        lines = [f"program {self.name}", *(f"  {i}" for i in self.entry)]
        if self.loop is not None:
            carried = ", ".join(f"{c.value} = {c.first}" for c in self.loop.carried)
            lines += [f"loop {carried}", *(f"  {i}" for i in self.loop.body)]
            nexts = ", ".join(f"{c.value} = {c.next}" for c in self.loop.carried)
            lines.append(f"repeat {nexts} while {self.loop.condition} of {self.loop.repeat}")
        return "\n".join(lines)
