# SPDX-License-Identifier: BSD-2-Clause
"""Makes one instruction of two: an operation that is only computed to be moved under a condition is
computed under it; a push repeats no operation whose result is computed anyway."""

from collections import Counter
from dataclasses import replace

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Flag,
    Instruction,
    Operand,
    Program,
    Value,
)


def fuse(program: Program) -> Program:
    """The program with such pairs joined, in its loop."""
    loop = program.loop
    if loop is None:
        return program
    uses = Counter(v for i in loop.body for v in _operands(i))
    uses.update(c.next for c in loop.carried)
    body = _push_with_results(list(loop.body))
    body = _compute_under_conditions(body, uses)
    return replace(program, loop=replace(loop, body=tuple(body)))


def _operands(i: Instruction) -> list[Value]:
    """Every value that an instruction reads, each time it does."""
    if not isinstance(i, Compute):
        return list(i.reads())
    seen = [s.value for s in i.forms[0].sources if isinstance(s, Operand)]
    return seen + ([i.old] if i.old is not None else [])


def _plain(i: Instruction) -> bool:
    """Whether it computes a value and does nothing else."""
    return (
        isinstance(i, Compute)
        and i.result is not None
        and i.when is None
        and not i.change
        and not i.pack
    )


def _compute_under_conditions(body: list[Instruction], uses: Counter[Value]) -> list[Instruction]:
    made = {
        i.result: i for i in body if isinstance(i, Compute) and _plain(i) and i.result is not None
    }
    gone: set[Instruction] = set()
    out: list[Instruction] = []
    for i in body:
        moved = _moved(i)
        if isinstance(i, Compute) and moved is not None and uses[moved] == 1 and moved in made:
            source = made[moved]
            if not any(machine.description().operations[f.op].sfu for f in source.forms):
                out.append(replace(i, forms=source.forms))
                gone.add(source)
                made.pop(moved)
                continue
        out.append(i)
    return [i for i in out if i not in gone]


def _moved(i: Instruction) -> Value | None:
    """What a conditional move moves."""
    if not isinstance(i, Compute) or i.when is None or i.forms[0].op != "mov":
        return None
    (source,) = i.forms[0].sources
    return source.value if isinstance(source, Operand) and not source.unpack else None


def _push_with_results(body: list[Instruction]) -> list[Instruction]:
    """Joins a push with the operation before it, or after it, that computes the same."""
    at = 0
    while at < len(body):
        push = body[at]
        if not (isinstance(push, Compute) and push.flag is not None and push.result is None):
            at += 1
            continue
        found = _same(body, at)
        if found is None:
            at += 1
            continue
        value = body[found]
        assert isinstance(value, Compute)
        both = replace(push, result=value.result)
        first, last = min(at, found), max(at, found)
        trial = [*body[:first], both, *body[first + 1 : last], *body[last + 1 :]]
        if found < at and not _flags_last(trial[first:], body[:first]):
            at += 1
            continue
        body = trial
        at = first + 1 if found < at else at + 1
    return body


def _same(body: list[Instruction], at: int) -> int | None:
    """Where the operation of a push is computed for its result."""
    push = body[at]
    assert isinstance(push, Compute)
    for k, i in enumerate(body):
        if isinstance(i, Compute) and _plain(i) and push.forms[0] in i.forms:
            return k
    return None


def _flags_last(after: list[Instruction], before: list[Instruction]) -> bool:
    """Whether each flag is in A or B where it is used, and what is updated in A."""
    a: Flag | None = None
    b: Flag | None = None
    for n, i in enumerate((*before, *after)):
        for flag in i.flags_read():
            if n >= len(before) and flag.number not in {f.number for f in (a, b) if f is not None}:
                return False
        if isinstance(i, Compute) and i.flag is not None:
            if i.updates is None:
                a, b = i.flag, a
            elif a is None or i.updates.number != a.number:
                return False
            else:
                a = i.flag
    return True
