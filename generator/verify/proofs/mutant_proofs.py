# SPDX-License-Identifier: BSD-2-Clause
"""Mutants for the solver (`equivalence.py`): which change of which lowering they are.

A mutant that survives is right if the change is proven to give the same results for all conformant
items.
"""

import re
from collections.abc import Iterable

from daedalus.dsl.ir import Op
from daedalus.generator.targets.neon.forms import Choice, Need
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.verify.goals import Goal, Plan
from daedalus.generator.verify.mutants import Mutant
from daedalus.generator.verify.proofs.equivalence import Prover
from daedalus.generator.verify.proofs.goal_proofs import variation
from daedalus.generator.verify.proofs.lane_walk import Variation


def equivalent(plan: Plan, mutant: Mutant, seconds: float = 60) -> bool:
    """Whether a mutant is proven to compute the same."""
    found = lowering(plan, mutant)
    if found is None:
        return False
    return Prover(plan.lowered, plan.stages, seconds).same(*found)


def is_one_of(goals: Iterable[Goal], plan: Plan, mutant: Mutant) -> bool:
    """Whether a mutant is what one of the goals of its function is about."""
    found = lowering(plan, mutant)
    return found is not None and any(
        goal.stage == found[0]
        and found[1] in (goal.need, *goal.alike)
        and variation(goal) == found[2]
        for goal in goals
    )


def lowering(plan: Plan, mutant: Mutant) -> tuple[int, Need, Variation] | None:
    """Stage and lowering that a mutant of the plan's function changes, and how; None if it is not
    known, or not the only one."""
    assert mutant.function == plan.function
    found = []
    for stage, part in enumerate(plan.stages):
        for need, names in part.selection.registers.items():
            choice = part.selection.chosen.get(need)
            if mutant.variable not in names or choice is None or choice.op == "":
                continue
            changed = varied(choice, mutant)
            found.append(None if changed is None else (stage, need, changed))
    return found[0] if len(found) == 1 else None


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
    if old is None or new is None or old[1] == new[1]:
        return None  # the same number is no change, of which anything could be proven
    return Variation(**{what: int(new[1]) - int(old[1])})  # type: ignore[arg-type]
