# SPDX-License-Identifier: BSD-2-Clause
"""Which virtual programs are legal: virtual.py states the rules."""

from collections.abc import Sequence

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Flag,
    Form,
    Immediate,
    Instruction,
    Load,
    LoadUnifa,
    Operand,
    Program,
    Store,
    Value,
    WaitStores,
)

CONDITIONS = ("a0", "anya", "alla")
_REFUSED = {
    "multop": "leaves something to the next umul24, which the scheduler does not follow",
    "flapush": "FlagMask reads flags",
    "flbpush": "FlagMask reads flags",
    "flpop": "flags are made by pushes",
    "vfla": "FlagMask reads flags",
    "vflna": "FlagMask reads flags",
    "vflb": "FlagMask reads flags",
    "vflnb": "FlagMask reads flags",
    "flafirst": "the scheduler does not know which flag it reads",
    "flnafirst": "the scheduler does not know which flag it reads",
    "setmsf": "all elements of a thread take part",
    "tmuwt": "WaitStores does that",
    "lr": "there are no calls",
    "barrierid": "threads do not wait for each other",
}


class IllegalProgram(ValueError):
    """A virtual program that no schedule can make right."""

    def __init__(self, program: Program, at: Instruction | None, why: str) -> None:
        where = f": `{at}`" if at is not None else ""
        super().__init__(f"{program.name}{where}: {why}")


def verify(program: Program) -> None:
    """Raises IllegalProgram."""
    defined: set[Value] = set()
    _verify_block(program, program.entry, defined)
    loop = program.loop
    _verify_unifa(program, [*program.entry, *(() if loop is None else loop.body)])
    if loop is None:
        return
    for c in loop.carried:
        if c.first not in defined:
            raise IllegalProgram(
                program, None, f"{c.first}, the first {c.value}, is not of the entry"
            )
    nexts = [c.next for c in loop.carried]
    if len(set(nexts)) < len(nexts):
        raise IllegalProgram(program, None, "two carried values have one next: copy it by a mov")
    defined.update(c.value for c in loop.carried)
    before = set(defined)
    _verify_block(program, loop.body, defined, loop.repeat)
    for c in loop.carried:
        if c.next not in defined - before:
            raise IllegalProgram(program, None, f"{c.next}, the next {c.value}, is not in the body")
    if loop.condition not in CONDITIONS:
        raise IllegalProgram(program, None, f"repeat: {loop.condition} is none of {CONDITIONS}")


def _verify_block(
    program: Program,
    block: Sequence[Instruction],
    defined: set[Value],
    last: Flag | None = None,
) -> None:
    a: int | None = None
    b: int | None = None
    stored: set[str] = set()
    for i in block:
        for value in i.reads():
            if value not in defined:
                raise IllegalProgram(program, i, f"{value} is not defined before")
        for flag in i.flags_read():
            if flag.number not in (a, b):
                raise IllegalProgram(program, i, f"{flag} is gone: two pushes came after it")
        for value in i.results():
            if value in defined:
                raise IllegalProgram(program, i, f"{value} is defined twice")
            defined.add(value)
        if isinstance(i, Compute):
            for form in i.forms:
                _verify_form(program, i, form)
            if i.when is not None and i.change:
                raise IllegalProgram(program, i, "an operation has a condition or changes flags")
            if i.flag is not None:
                if i.updates is not None and i.updates.number != a:
                    raise IllegalProgram(program, i, f"{i.updates} is in B: updates change A")
                if i.updates is None:
                    b = a
                a = i.flag.number
        elif isinstance(i, Load) and i.space in stored:
            raise IllegalProgram(program, i, "a load after a store needs WaitStores between")
        elif isinstance(i, Store):
            stored.add(i.space)
        elif isinstance(i, WaitStores):
            stored.clear()
    if last is not None and last.number != a:
        raise IllegalProgram(program, None, f"{last}, which repeats the loop, is not the last flag")


def _verify_unifa(program: Program, all_: Sequence[Instruction]) -> None:
    stored = {i.space for i in all_ if isinstance(i, Store)}
    for i in all_:
        if isinstance(i, LoadUnifa):
            if i.space in stored:
                raise IllegalProgram(
                    program, i, f"unifa does not see stores, and {i.space} is stored to: load it"
                )
            if not i.words:
                raise IllegalProgram(program, i, "it reads no words")


def _verify_form(program: Program, i: Compute, form: Form) -> None:
    operation = machine.description().operations.get(form.op)
    if operation is None:
        raise IllegalProgram(program, i, f"there is no operation {form.op}")
    if form.op in _REFUSED:
        raise IllegalProgram(program, i, f"{form.op}: {_REFUSED[form.op]}")
    if operation.traits & {"graphics", "vpm"}:
        raise IllegalProgram(program, i, f"{form.op} is for graphics")
    if sum(isinstance(s, Immediate) for s in form.sources) > 1:
        raise IllegalProgram(program, i, "an instruction holds one small immediate")
    for k, source in enumerate(form.sources):
        if isinstance(source, Immediate) and not machine.is_immediate(source.bits):
            raise IllegalProgram(program, i, f"{source} is no small immediate")
        takes = operation.second_unpacks or k == 0
        unpack = source.unpack if isinstance(source, Operand) else ""
        if unpack and not (takes and unpack in operation.unpacks):
            raise IllegalProgram(program, i, f"{form.op} takes no .{unpack} there")
    if i.pack and i.pack not in operation.packs:
        raise IllegalProgram(program, i, f"{form.op} has no result .{i.pack}")
    if i.result is None and not i.change and "no_dest" not in operation.traits:
        raise IllegalProgram(program, i, "it computes nothing that is kept")
