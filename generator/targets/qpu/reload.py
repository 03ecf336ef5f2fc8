# SPDX-License-Identifier: BSD-2-Clause
"""Which uniforms stay in registers, and which are read again where they are needed.

A word of the uniform stream that the entry loads takes a register all the time; one that the loop
loads takes it from there to its use, and the signal field of an instruction. So what is used once
or twice a trip is always loaded in the loop, and more of it while values are too many: first what
is used least.
"""

from dataclasses import replace

from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Form,
    Instruction,
    Load,
    LoadUniform,
    Operand,
    Program,
    Source,
    Store,
    Value,
)

FEW = 2  # uses a trip that are worth no register


def reload(program: Program, registers: int, near: int) -> Program:
    """The program with uniforms loaded in its loop, such that about so many registers suffice.

    near  instructions that a loaded uniform waits for its next use
    """
    loop = program.loop
    if loop is None:
        return program
    elsewhere = {c.first for c in loop.carried} | {c.next for c in loop.carried}
    elsewhere |= {v for i in program.entry for v in i.reads()}
    body = list(loop.body)
    uses: dict[Value, list[int]] = {}
    for n, i in enumerate(body):
        for v in i.reads():
            uses.setdefault(v, []).append(n)
    loads = [
        i for i in program.entry
        if isinstance(i, LoadUniform) and i.result in uses
    ]  # fmt: skip
    loads.sort(key=lambda i: len(uses[i.result]))
    kept = {v for i in program.entry for v in i.results() if v in uses}
    busy = _most_alive(body, kept)
    number = max(
        v.number for block in (program.entry, body) for i in block for v in i.results()
    )  # fmt: skip
    number = max([number, *(c.value.number for c in loop.carried)])
    before: dict[int, list[LoadUniform]] = {}
    renamed: dict[tuple[int, Value], Value] = {}
    for load in loads:
        places = uses[load.result]
        if len(places) > FEW and len(kept) + busy <= registers:
            break
        kept.discard(load.result)
        last = None
        for n in places:
            if last is None or n - last[0] > near:
                number += 1
                fresh = Value(number, load.result.name)
                before.setdefault(n, []).append(replace(load, result=fresh))
                last = (n, fresh)
            else:
                last = (n, last[1])
            renamed[n, load.result] = last[1]
    made: list[Instruction] = []
    for n, i in enumerate(body):
        made += before.get(n, [])
        names = {v: renamed[n, v] for v in i.reads() if (n, v) in renamed}
        made.append(_renamed(i, names) if names else i)
    gone = {i.result for i in loads} - kept - elsewhere
    entry = tuple(i for i in program.entry if not (isinstance(i, LoadUniform) and i.result in gone))
    return replace(program, entry=entry, loop=replace(loop, body=tuple(made)))


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
        case Load():
            return replace(i, address=value(i.address))
        case Store():
            return replace(i, address=value(i.address), data=tuple(map(value, i.data)))
    return i
