# SPDX-License-Identifier: BSD-2-Clause
"""Mutants: every small error in a plan's lowerings that the checks have to notice.

All changes that goals (`goals.py`) are about, and beside them: a halving rounds, a saturating shift
keeps its limits and cuts off, a shift or a factor is one more or less. Each is of one
instruction: where a value takes several, an error in one of them is a mutant of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from daedalus.dsl.interp import Array
from daedalus.dsl.ir import Op
from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.forms import Choice, Need
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.targets.neon.simulate import Change, Part
from daedalus.generator.verify.goals import Goal, Plan, described, plainer
from daedalus.generator.verify.proofs.lane_walk import Variation

# What a lowering becomes beside what PLAIN says.
_ALSO = {
    "hadd_u": "rhadd_u", "hadd_s": "rhadd_s",
    "qrshrn_n_u": "qshrn_n_u", "qrshrn_n_s": "qshrn_n_s", "qrshrun_n": "qshrun_n",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A lowering that is varied, in one of its instructions.

    count  how many it has
    goal   that this is a case of; None if there is none
    """

    plan: Plan
    stage: int
    need: Need
    varied: Variation
    number: int
    count: int
    goal: Goal | None

    def __str__(self) -> str:
        one = f", instruction {self.number + 1} of {self.count}" if self.count > 1 else ""
        return f"{self.need[0].loc}: {self.text}{one}"

    @property
    def text(self) -> str:
        """What it is, without line and instruction: by this a reason names it."""
        choice, v = self.plan.stages[self.stage].selection.chosen[self.need], self.varied
        more = "one more" if v.imm + v.scalar + v.result > 0 else "one less"
        what = f"{choice.op} for {v.op}" if v.op else more
        if v.imm:
            what = f"{choice.op} by {choice.imm}, {more}"
        elif v.scalar:
            what = f"{choice.op} by {choice.scalars[0].value}, {more}"
        return described(self.need, choice.rule, what)

    @property
    def change(self) -> Change:
        """What the simulation takes for it."""
        part = self.plan.stages[self.stage]
        where = _instructions(part, self.need) == self.number if self.count > 1 else None
        return changed(self.stage, self.need, self.varied, where)


def changed(stage: int, need: Need, varied: Variation, lanes: Array | None = None) -> Change:
    """A variation as the simulation has it, on some lanes (bool [lanes]) or on all."""
    op = varied.op or {1: simulate.MORE, -1: simulate.LESS, 0: ""}[varied.result]
    return Change(stage, need, op, varied.imm, varied.scalar, lanes)


def mutants(plan: Plan) -> Iterator[Mutant]:
    """All mutants of a function."""
    goals = {(g.stage, n, g.plain): g for g in plan.goals if g.plain for n in (g.need, *g.alike)}
    for stage, part in enumerate(plan.stages):
        for need in part.order:
            choice = part.selection.chosen[need]
            count = 1 if choice.op == "dup" else int(_instructions(part, need).max()) + 1
            for plain, varied in _variations(need, choice):
                for n in range(count):
                    yield Mutant(
                        plan, stage, need, varied, n, count, goals.get((stage, need, plain))
                    )


def _variations(need: Need, choice: Choice) -> Iterator[tuple[str, Variation]]:
    """What a lowering is varied to; first what a goal calls it, "" where none can be about it."""
    for plain in plainer(need, choice):
        by = {simulate.MORE: 1, simulate.LESS: -1}.get(plain, 0)
        yield plain, Variation(result=by) if by else Variation(op=plain)
    if choice.op in _ALSO:
        yield "", Variation(op=_ALSO[choice.op])
    form = OPS[choice.op].form if choice.op in OPS else ""
    if form == "n":
        low, high = _shifts(choice.op, need[1].width)
        yield from (("", Variation(imm=n)) for n in (-1, 1) if low <= choice.imm + n <= high)
    if form == "k" and choice.scalars[0].op is Op.CONST:
        yield from (("", Variation(scalar=n)) for n in (-1, 1))


def _shifts(op: str, width: int) -> tuple[int, int]:
    """By how much the architecture shifts at least and at most."""
    if "shl" in op:
        return 0, (width // 2 if OPS[op].shape == "long" else width) - 1
    return 1, width


def _instructions(part: Part, need: Need) -> Array:
    """By which of an item's instructions for a form every lane is computed: there is one for each
    register, of the result or of what is narrowed."""
    selection, width = part.selection, need[1].width
    op = OPS.get(selection.chosen[need].op)
    points = np.arange(part.vector.lanes) % selection.lanes.count
    narrows = op is not None and op.shape == "narrow"
    return points // selection.shape.per_register(2 * width if narrows else width)
