# SPDX-License-Identifier: BSD-2-Clause
"""Witnesses by the solver: what a stage has to read so that a goal is met there.

It knows one lane of one stage, which has to read the item's buffers; what it finds is put into
items there are, and these are run.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Node, Op
from daedalus.generator import goal_proofs
from daedalus.generator.equivalence import Prover
from daedalus.generator.goals import Goal, Plan
from daedalus.generator.witness import shown

_SECONDS = 20
_ANSWERS = 12  # of the solver, for a goal
_BASES = 40  # items that each of them is put into
_LANES = 4


def solved(plan: Plan, goal: Goal, pool: Items) -> Items | None:
    """A witness of a goal, or None."""
    part = plan.stages[goal.stage]
    loads = [n for n in part.vector.nodes() if n.op is Op.LOAD]
    temps = {t.name for t in plan.lowered.temps}
    if any(n.attr[0] in temps or n.args for n in loads) or not pool.count:
        return None
    prover = Prover(plan.lowered, plan.stages, _SECONDS)
    answers: list[Any] = []
    for _ in range(_ANSWERS):
        values = prover.example(goal.stage, goal.need, goal_proofs.variation(goal), answers)
        if values is None:
            return None
        for items in _patched(plan, goal, values, pool):
            items = items.take(plan.conformant(items))
            found = shown(plan, items, [goal])[goal] if items.count else np.zeros(0, np.int64)
            if len(found):
                return items.take(found[:1])
    return None


def _patched(plan: Plan, goal: Goal, values: dict[Node, int], pool: Items) -> Iterator[Items]:
    """Items with the values where one lane or another reads them: first items that are as near to
    nothing as they may be, then some of the pool."""
    some = pool.take(np.arange(0, pool.count, max(1, pool.count // _BASES))[:_BASES])
    nothing = {b.name: np.clip(0, b.lo, b.hi) for b in plan.kernel.buffers}
    least = {n: np.zeros_like(a) + nothing[n] for n, a in some.buffers.items()}
    stage = plan.stages[goal.stage].vector
    grid = stage.grid()
    for lane in range(0, stage.lanes, max(1, stage.lanes // _LANES)):
        here = {axis: int(places[lane]) for axis, places in grid.items()}
        for buffers in (least, some.buffers):
            made = {n: a.copy() for n, a in buffers.items()}
            for node, value in values.items():
                buffer = plan.kernel.buffer(node.attr[0])
                at = [x.at(here) - lo for x, (lo, _) in zip(node.index, buffer.shape, strict=True)]
                made[buffer.name][(slice(None), *at)] = value
            yield Items(made, some.params)
