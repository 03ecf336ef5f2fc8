# SPDX-License-Identifier: BSD-2-Clause
"""Writes virtual programs.

    b = Builder("scale")
    base, items, step = b.uniform("src"), b.uniform("items"), b.uniform("threads")
    first = b.op("add", b.op("shl", b.workgroup(), 4), b.element())
    with b.loop(ahead=True) as loop:
        item = loop.carried(first)
        (x,) = b.load(b.op("add", base, b.op("shl", item, 2)), space="src")
        b.store(b.op("add", base, b.op("shl", item, 2)), [b.op("smul24", x, 3)], space="src")
        after = b.op("add", item, b.op("shl", step, 4))
        loop.next(item, after)
        loop.repeat(b.flag("pushc", "sub", after, items), "anya")
    program = b.program()

Operands are values, values with a modifier (`x.unpacked("uh")`) or integers; integers that no
instruction can hold become constants, loaded once by the entry. Mistakes raise ValueError.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.virtual import (
    MASK,
    Carried,
    Compute,
    Flag,
    FlagMask,
    Form,
    Immediate,
    Instruction,
    Load,
    LoadUnifa,
    LoadUniform,
    Loop,
    Operand,
    Payload,
    Program,
    Source,
    Store,
    Uniform,
    Value,
    WaitStores,
)

Argument = Value | Operand | int


class LoopBuilder:
    """What a loop is told besides its body."""

    def __init__(self, builder: "Builder") -> None:
        self._builder = builder
        self.first: dict[Value, Value] = {}
        self.after: dict[Value, Value] = {}
        self.condition: tuple[Flag, str] | None = None

    def carried(self, first: Argument, name: str = "") -> Value:
        """A value that is `first` in the first trip, and then what next() says."""
        value = self._builder.fresh(name)
        self.first[value] = self._builder.in_entry(first)
        return value

    def next(self, value: Value, after: Value) -> None:
        """What a carried value is in the next trip."""
        self.after[value] = after

    def repeat(self, flag: Flag, condition: str = "anya") -> None:
        """There is one more trip if the flag holds in any element (anya), in all of them (alla)
        or in the first one (a0)."""
        self.condition = flag, condition


class Builder:
    """Appends to the entry, or to the loop's body while that is open."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._entry: list[Instruction] = []
        self._body: list[Instruction] = []
        self._into = self._entry
        self._loop: Loop | None = None
        self._values = 0
        self._flags = 0
        self._known: dict[Uniform, Value] = {}
        self._element: Value | None = None
        self._tables: dict[str, tuple[int, ...]] = {}
        self._note = ""

    # What there is without computing it.

    def fresh(self, name: str = "") -> Value:
        """A value that nothing defines yet."""
        self._values += 1
        return Value(self._values, name)

    def uniform(self, name: str) -> Value:
        """A word that the runtime passes, the same in all elements and trips."""
        return self._known_uniform(Uniform("value", name))

    def constant(self, bits: int) -> Value:
        """A constant in a register; integers as operands do the same where they must."""
        return self._known_uniform(Uniform("constant", "", bits & MASK))

    def table(self, name: str, words: Sequence[int]) -> Value:
        """The address of words that lie in memory; lookups in it use a space of its own."""
        self._tables[name] = tuple(w & MASK for w in words)
        return self._known_uniform(Uniform("table", name))

    def element(self) -> Value:
        """0 to 15."""
        if self._element is None:
            self._element = self.fresh("element")
            form = Form("eidx", ())
            self._entry.append(Compute(self._note, (form,), self._element))
        return self._element

    def workgroup(self) -> Value:
        """The number of the thread: threads are dispatched as one workgroup of 16 each."""
        result = self.fresh("workgroup")
        self._entry.append(Payload(self._note, result))
        return result

    # Operations.

    def op(
        self,
        name: str,
        *sources: Argument,
        when: Flag | None = None,
        old: Value | None = None,
        pack: str = "",
        name_it: str = "",
    ) -> Value:
        """An operation's result; with `when` that of the elements where it holds, `old` elsewhere.
        With `pack` ("l", "h") one half of the result is `old`'s."""
        return self.either((name, *sources), when=when, old=old, pack=pack, name_it=name_it)

    def either(
        self,
        *forms: tuple[str | Argument, ...],
        when: Flag | None = None,
        old: Value | None = None,
        pack: str = "",
        name_it: str = "",
    ) -> Value:
        """The result of forms that compute the same, of which the scheduler takes one:
        `b.either(("shl", x, 1), ("add", x, x))`."""
        if ((when is not None) or bool(pack)) != (old is not None):
            raise ValueError("`old` goes with `when` or `pack`: what the other elements keep")
        made = self._forms(forms)
        if when is not None and machine.description().operations[made[0].op].sfu:
            # Elements where the condition fails take no part in some of them: no selection.
            raise ValueError(f"{made[0].op} takes no condition: select its result by a mov")
        result = self.fresh(name_it)
        self._into.append(Compute(self._note, made, result, when, old, pack))
        return result

    def select(self, flag: Flag, yes: Argument, no: Argument) -> Value:
        """`yes` where the flag holds, else `no`: one mov where `no` is not needed afterwards."""
        old = no if isinstance(no, Value) else self.op("mov", no)
        return self.op("mov", yes, when=flag, old=old)

    def flag(self, change: str, name: str, *sources: Argument) -> Flag:
        """The flag that an operation pushes: pushz, pushn or pushc; its result is left."""
        return self._change(change, name, sources, None, None)

    def value_and_flag(self, change: str, name: str, *sources: Argument) -> tuple[Value, Flag]:
        """An operation's result and the flag that it pushes."""
        result = self.fresh()
        return result, self._change(change, name, sources, result, None)

    def update(self, flag: Flag, change: str, name: str, *sources: Argument) -> Flag:
        """The flag in place of `flag`: andz is flag & Z, andnz flag & !Z, norz !(flag | Z),
        nornz !(flag | !Z); n and c likewise. `flag` itself is gone then."""
        if flag.inverse:
            raise ValueError(f"{change} of an inverse flag: there is no such update")
        return self._change(change, name, sources, None, flag)

    def mask(self, flag: Flag) -> Value:
        """0x00010001 where the flag holds, else 0."""
        result = self.fresh()
        self._into.append(FlagMask(self._note, result, flag))
        return result

    def state(self, name: str) -> None:
        """An operation without a result, which sets a mode of the thread: setnnmode_us, ..."""
        self._into.append(Compute(self._note, self._forms(((name,),))))

    # Memory.

    def load(
        self, address: Value, type: str = "u32", *, space: str, when: Flag | None = None
    ) -> tuple[Value, ...]:
        """The words that each element finds at its byte address: 1, or those of vec2 to vec4."""
        _, n = self._config(type)
        words = tuple(self.fresh() for _ in range(n))
        self._into.append(Load(self._note, address, type, words, space, when))
        return words

    def load_unifa(self, address: Value, words: int, *, space: str) -> tuple[Value, ...]:
        """So many words from the first element's byte address on, the same in all elements; the
        program may not store to their space."""
        made = tuple(self.fresh() for _ in range(words))
        self._into.append(LoadUnifa(self._note, address, made, space))
        return made

    def store(
        self,
        address: Value,
        data: Sequence[Argument],
        type: str = "u32",
        *,
        space: str,
        when: Flag | None = None,
    ) -> None:
        """Stores each element's words at its byte address."""
        _, n = self._config(type)
        if len(data) != n:
            raise ValueError(f"a store of {type} takes {n} words, not {len(data)}")
        words = tuple(d if isinstance(d, Value) else self.op("mov", d) for d in data)
        self._into.append(Store(self._note, address, type, words, space, when))

    def wait_stores(self) -> None:
        """Lookups after this see what stores before it have stored."""
        self._into.append(WaitStores(self._note))

    # Structure.

    @property
    def noted(self) -> str:
        """The comment that instructions get now."""
        return self._note

    @contextmanager
    def note(self, text: str) -> Iterator[None]:
        """A comment for the instructions within."""
        before, self._note = self._note, text
        yield
        self._note = before

    @contextmanager
    def loop(self, *, ahead: bool) -> Iterator[LoopBuilder]:
        """The loop's body: what is appended within.

        ahead  loads may be executed for one trip more than a thread has: those of the trip after
               its last must not leave the buffers (a clamped number of the item sees to that)
        """
        if self._into is self._body or self._loop is not None:
            raise ValueError("a program has one loop")
        self._into = self._body
        made = LoopBuilder(self)
        yield made
        self._into = self._entry
        if made.condition is None:
            raise ValueError("the loop needs repeat()")
        carried = []
        for value, first in made.first.items():
            if value not in made.after:
                raise ValueError(f"{value} is carried, but next() says nothing of it")
            carried.append(Carried(value, first, made.after[value]))
        flag, condition = made.condition
        self._loop = Loop(tuple(self._body), tuple(carried), flag, condition, ahead)

    @contextmanager
    def before_loop(self) -> Iterator[None]:
        """What is appended within goes into the entry: invariants found while in the loop."""
        into, self._into = self._into, self._entry
        yield
        self._into = into

    def program(self) -> Program:
        """What has been written, verified."""
        from daedalus.generator.targets.qpu.verify import verify

        program = Program(self._name, tuple(self._entry), self._loop, dict(self._tables))
        verify(program)
        return program

    def in_entry(self, argument: Argument) -> Value:
        """A value of the entry: an integer becomes one."""
        if isinstance(argument, int):
            return self.constant(argument)
        if isinstance(argument, Operand):
            raise ValueError("a carried value begins as a value without modifier")
        return argument

    def _known_uniform(self, uniform: Uniform) -> Value:
        if uniform not in self._known:
            name = uniform.name or f"0x{uniform.bits:x}"
            self._known[uniform] = self.fresh(name)
            self._entry.append(LoadUniform(self._note, self._known[uniform], uniform))
        return self._known[uniform]

    def _change(
        self,
        change: str,
        name: str,
        sources: tuple[Argument, ...],
        result: Value | None,
        updates: Flag | None,
    ) -> Flag:
        if change.startswith("push") != (updates is None):
            raise ValueError(f"{change}: flag() pushes, update() combines")
        self._flags += 1
        flag = Flag(self._flags)
        forms = self._forms(((name, *sources),))
        self._into.append(
            Compute(self._note, forms, result, change=change, flag=flag, updates=updates)
        )
        return flag

    def _forms(self, forms: Sequence[tuple[str | Argument, ...]]) -> tuple[Form, ...]:
        made = []
        for name, *arguments in forms:
            operation = machine.description().operations.get(str(name))
            if operation is None:
                raise ValueError(f"there is no operation {name}")
            if len(arguments) != operation.sources:
                raise ValueError(f"{name} takes {operation.sources} sources, not {len(arguments)}")
            immediates = 0
            sources: list[Source] = []
            for argument in arguments:
                if isinstance(argument, str):
                    raise ValueError(f"{name}: an operand is a value or an integer")
                source = self._source(argument, immediates == 0)
                immediates += isinstance(source, Immediate)
                sources.append(source)
            made.append(Form(str(name), tuple(sources)))
        return tuple(made)

    def _source(self, argument: Argument, may_be_immediate: bool) -> Source:
        if isinstance(argument, Value):
            return Operand(argument)
        if isinstance(argument, Operand):
            return argument
        if may_be_immediate and machine.is_immediate(argument):
            return Immediate(argument & MASK)
        return Operand(self.constant(argument))

    @staticmethod
    def _config(type: str) -> tuple[int, int]:
        if type not in machine.CONFIGS:
            raise ValueError(f"there is no element type {type}: {', '.join(machine.CONFIGS)}")
        return machine.CONFIGS[type]
