# SPDX-License-Identifier: BSD-2-Clause
"""Goals and mutants for the solver: which change of which lowering they are (`equivalence.py`).

A goal without a witness, and a mutant that survives, are right if the change is proven to give the
same results for all conformant items.
"""

import re

from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Op
from daedalus.generator import reasons
from daedalus.generator.equivalence import Prover
from daedalus.generator.goals import Goal, Plan
from daedalus.generator.lane_walk import Variation
from daedalus.generator.mutants import Mutant
from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.forms import Choice, Need
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.targets.neon.rules import limits
from daedalus.generator.witness import shown


def variation(goal: Goal) -> Variation | None:
    """What a goal's lowering would be; None where the goal is a value beyond its lane."""
    if goal.op == "dup":
        return Variation(result=1 if goal.plain == simulate.MORE else -1)
    return Variation(op=goal.plain) if goal.plain else None


def impossible(plan: Plan, goal: Goal, seconds: float = 400) -> bool:
    """Whether it is proven that a goal can have no witness, of none of its lowerings."""
    prover = Prover(plan.lowered, plan.stages, seconds)
    return all(_impossible(prover, goal, need) for need in (goal.need, *goal.alike))


def excused(plan: Plan, items: Items) -> list[Goal]:
    """A variant's goals that the items do not meet, for a reason that is said to be a proof."""
    found = shown(plan, items.take(plan.conformant(items)), plan.goals)
    every = [(g, reasons.of("unwitnessed", plan.kernel.id, g.text)) for g in plan.goals]
    return [g for g, r in every if not len(found[g]) and r is not None and r.proof]


def prove(plan: Plan, items: Items) -> tuple[int, list[Goal]]:
    """Of the goals that are excused by proofs: how many are proven to be impossible, and those that
    are not."""
    goals = excused(plan, items)
    left = [g for g in goals if not impossible(plan, g)]
    return len(goals) - len(left), left


def _impossible(prover: Prover, goal: Goal, need: Need) -> bool:
    changed = variation(goal)
    if changed is not None:
        return prover.same(goal.stage, need, changed)
    node, demand = need
    signed = demand.kind == "sat_s" or prover.range_of(node).lo < 0
    return prover.within(goal.stage, node, *limits(demand.width, signed))


def equivalent(plan: Plan, mutant: Mutant, seconds: float = 60) -> bool:
    """Whether a mutant is proven to compute the same."""
    found = lowering(plan, mutant)
    if found is None:
        return False
    return Prover(plan.lowered, plan.bodies[mutant.function], seconds).same(*found)


def is_one_of(goals: list[Goal], plan: Plan, mutant: Mutant) -> bool:
    """Whether a mutant is what one of a variant's goals is about."""
    found = lowering(plan, mutant)
    return found is not None and any(
        goal.stage == found[0]
        and found[1] in (goal.need, *goal.alike)
        and variation(goal) == found[2]
        for goal in goals
    )


def lowering(plan: Plan, mutant: Mutant) -> tuple[int, Need, Variation] | None:
    """Stage and lowering that a mutant changes, and how; None if it is not known."""
    for stage, part in enumerate(plan.bodies.get(mutant.function, [])):
        for need, names in part.selection.registers.items():
            choice = part.selection.chosen.get(need)
            if mutant.variable not in names or choice is None or choice.op == "":
                continue
            changed = varied(choice, mutant)
            if changed is not None:
                return stage, need, changed
    return None


# ------------------------------------------------------------------ what a mutant is

_NUMBER = re.compile(r"(-?\d+)\)+$")
_MULTIPLIER = re.compile(r"vdupq_n_[us]\d+\(\(u?int\d+_t\)(-?\d+)\), 0\)$")


def _stem(call: str) -> str:
    """Of an intrinsic, what it does: "vqrshrn_high_n_s16" is a "qrshrn"."""
    while m := re.match(r"vreinterpretq?_\w+\((.*)\)$", call):
        call = m[1]
    name = re.match(r"v([a-z0-9]+)_", call)
    return name[1] if name else ""


def _is(call: str, choice: Choice) -> bool:
    stem = "dup" if choice.op == "dup" else OPS[choice.op].stem if choice.op in OPS else None
    return stem is not None and _stem(call) in (stem, f"{stem}q")


def varied(choice: Choice, mutant: Mutant) -> Variation | None:
    """What a mutant of the code for a choice computes instead; None if it is none of that."""
    if choice.op in OPS and OPS[choice.op].form == "m" and _stem(mutant.before) in ("dup", "dupq"):
        return _moved(mutant, "imm")
    if not _is(mutant.before, choice):
        return None
    if choice.op == "dup":
        return _moved(mutant, "result")
    if m := _MULTIPLIER.search(mutant.after):
        (scalar,) = choice.scalars
        known = scalar.op is Op.CONST
        return Variation(scalar=int(m[1]) - scalar.value) if known else None
    if _stem(mutant.before) == _stem(mutant.after):
        return _moved(mutant, "imm")
    op = OPS[choice.op]
    like = [
        name
        for name, o in OPS.items()
        if _stem(mutant.after) in (o.stem, f"{o.stem}q")
        and (o.shape, o.form, len(o.signs)) == (op.shape, op.form, len(op.signs))
        and all(s in ("=", t) for s, t in zip(o.signs[:-1], op.signs[:-1], strict=True))
    ]
    return Variation(op=like[0]) if len(like) == 1 else None


def _moved(mutant: Mutant, what: str) -> Variation | None:
    """By how much the last number of a call is another."""
    old, new = _NUMBER.search(mutant.before), _NUMBER.search(mutant.after)
    if old is None or new is None:
        return None
    return Variation(**{what: int(new[1]) - int(old[1])})  # type: ignore[arg-type]
