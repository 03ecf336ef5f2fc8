# SPDX-License-Identifier: BSD-2-Clause
"""Makes one instruction of two: an operation that is only computed to be moved under a condition is
computed under it; a push repeats no operation whose result is computed anyway."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Form,
    Instruction,
    Operand,
    Program,
    Value,
)

_Cells = tuple[int | None, int | None]  # the numbers of the flags in A and B


def fuse(program: Program) -> Program:
    """The program with such pairs joined, in its loop."""
    loop = program.loop
    if loop is None:
        return program
    uses = Counter(v for i in loop.body for v in _operands(i))
    uses.update(c.next for c in loop.carried)
    body = _push_with_results(loop.body)
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


def _push_with_results(body: tuple[Instruction, ...]) -> list[Instruction]:
    """Joins a push with the first operation, before it or after it, that computes the same."""
    left: list[Instruction | None] = list(body)  # at each place; None: it went to another
    same: dict[Form, list[int]] = {}  # places of what computes a form and does nothing else
    for k, i in enumerate(body):
        if isinstance(i, Compute) and _plain(i):
            for form in i.forms:
                same.setdefault(form, []).append(k)
    cells = _cells(body)
    at = 0
    while at < len(left):
        push, here = left[at], at
        at += 1
        if not (isinstance(push, Compute) and push.flag is not None and push.result is None):
            continue
        # What is joined already is not plain any more.
        places = (k for k in same.get(push.forms[0], ()) if left[k] is body[k])
        found = next(places, None)
        if found is None:
            continue
        value = body[found]
        assert isinstance(value, Compute)
        if found < here:
            moved = _cells_with_push_at(found, here, left, cells)
            if moved is None:
                continue
            cells[found : found + len(moved)] = moved
            at = found + 1
        left[here] = left[found] = None
        left[min(here, found)] = replace(push, result=value.result)
    return [i for i in left if i is not None]


def _cells(body: Sequence[Instruction]) -> list[_Cells]:
    """A and B before each instruction of a verified block."""
    out: list[_Cells] = []
    now: _Cells | None = (None, None)
    for i in body:
        assert now is not None
        out.append(now)
        now = _after(i, now)
    return out


def _cells_with_push_at(
    first: int, push: int, body: Sequence[Instruction | None], cells: Sequence[_Cells]
) -> list[_Cells] | None:
    """A and B before each place from `first` to where they are what they were, if the push comes
    first; None if a flag is then not where it is used."""
    out: list[_Cells] = []
    now = cells[first]
    for k in range(first, len(body)):
        if k > push and now == cells[k]:
            break
        out.append(now)
        i = body[push] if k == first else body[k]
        if i is None or k == push:
            continue
        after = _after(i, now)
        if after is None:
            return None
        now = after
    return out


def _after(i: Instruction, cells: _Cells) -> _Cells | None:
    """A and B after an instruction; None if a flag is not in them that it reads, or not in A what
    it updates."""
    if any(flag.number not in cells for flag in i.flags_read()):
        return None
    if not isinstance(i, Compute) or i.flag is None:
        return cells
    if i.updates is None:
        return i.flag.number, cells[0]
    return (i.flag.number, cells[1]) if i.updates.number == cells[0] else None
