# SPDX-License-Identifier: BSD-2-Clause
"""Runs programs in orders other than the written one: any that keeps what virtual.py states may
become a schedule. The interpreter alone does not notice lookups of two spaces that meet."""

import random
from collections.abc import Sequence
from dataclasses import replace

from daedalus.generator.targets.qpu import virtual as v
from daedalus.generator.targets.qpu.interpret import Memory, interpret

_SEEDS = 3


def reordered(
    programs: Sequence[v.Program], memory: Memory, uniforms: dict[v.Uniform, int], threads: int
) -> None:
    """Runs each program as it is written, and in other orders; all must leave the same."""
    before, found = memory.copy(), dict[int, bytes]()
    for program in programs:
        assert program.loop is not None
        body = program.loop.body
        waits = _waits(body)
        for how, rank in {"as it is written": [0] * len(body), **_ranks(body)}.items():
            for at, data in before.buffers.items():
                memory.buffers[at][:] = data
            loop = replace(program.loop, body=tuple(body[n] for n in _order(waits, rank)))
            interpret(replace(program, loop=loop), memory, uniforms, threads)
            left = {at: data.tobytes() for at, data in memory.buffers.items()}
            found = found or left
            assert left == found, f"{program.name} leaves something else: {how}"


def _ranks(body: Sequence[v.Instruction]) -> dict[str, list[int]]:
    """By name, which instructions are wanted first: those of the smallest numbers."""
    many, ranks = len(body), dict[str, list[int]]()
    for how, sign in (("stores first", 1), ("late stores first", -1)):
        ranks[how] = [sign * n if isinstance(i, v.Store) else many + n for n, i in enumerate(body)]
    ranks["loads, then late stores"] = [
        n if isinstance(i, v.Load) else 2 * many - n for n, i in enumerate(body)
    ]
    dice = {f"seed {seed}": random.Random(seed) for seed in range(_SEEDS)}
    return ranks | {how: [one.getrandbits(16) for _ in body] for how, one in dice.items()}


def _waits(body: Sequence[v.Instruction]) -> list[set[int]]:
    """For each instruction those that it waits for, by the last of what it comes after."""
    last, waits = dict[str, int](), list[set[int]]()
    for n, i in enumerate(body):
        after = [*map(str, i.reads()), *(f"f{f.number}" for f in i.flags_read())]
        made = [*map(str, i.results())]
        if isinstance(i, v.Load):  # loads come in the order of all of them
            after, made = [*after, "wait", "load"], [*made, "load", f"load {i.space}"]
        elif isinstance(i, v.Store):
            after, made = [*after, "wait", f"load {i.space}", f"> {i.space}"], [f"> {i.space}"]
        elif isinstance(i, v.WaitStores):
            after, made = ["wait", *(x for x in last if x.startswith(">"))], ["wait"]
        elif isinstance(i, v.LoadUnifa):
            after, made = [*after, "unifa"], [*made, "unifa"]
        elif isinstance(i, v.Compute):
            made += [] if i.flag is None else [f"f{i.flag.number}"]
            after += ["mode"]
            made += ["mode"] * i.forms[0].op.startswith("setnnmode_")
        waits.append({last[x] for x in after if x in last})
        last |= dict.fromkeys(made, n)
    return waits


def _order(waits: Sequence[set[int]], rank: Sequence[int]) -> list[int]:
    """One after the other as they are wanted, each after what it waits for."""
    order = dict[int, None]()
    for n in sorted(range(len(rank)), key=rank.__getitem__):
        stack = [n]
        while stack:
            missing = [x for x in waits[stack[-1]] if x not in order]
            stack += missing
            if not missing:
                order[stack.pop()] = None
    return [*order]
