# SPDX-License-Identifier: BSD-2-Clause
"""Takes out of a virtual program what nobody needs."""

from dataclasses import replace

from daedalus.generator.targets.qpu.virtual import (
    Compute,
    FlagMask,
    Instruction,
    Load,
    LoadUnifa,
    LoadUniform,
    Payload,
    Program,
    Value,
)


def prune(program: Program) -> Program:
    """The program without instructions whose results are not used.

    Pushes stay: what lies in B depends on them.
    """
    wanted: set[Value] = set()
    loop = program.loop
    if loop is not None:
        carried = loop.carried
        wanted.update(c.next for c in carried)
        body = _kept(loop.body, wanted)
        wanted.update(c.first for c in carried)
        loop = replace(loop, body=body)
    entry = _kept(program.entry, wanted)
    return replace(program, entry=entry, loop=loop)


def _kept(block: tuple[Instruction, ...], wanted: set[Value]) -> tuple[Instruction, ...]:
    kept: list[Instruction] = []
    for i in reversed(block):
        pure = isinstance(i, FlagMask | Load | LoadUnifa | LoadUniform | Payload) or (
            isinstance(i, Compute) and i.flag is None and i.result is not None
        )
        if pure and not any(v in wanted for v in i.results()):
            continue
        wanted.update(i.reads())
        kept.append(i)
    return tuple(reversed(kept))
