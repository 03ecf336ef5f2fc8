# SPDX-License-Identifier: BSD-2-Clause
"""Goals for the solver (`equivalence.py`): which change of which lowering they are.

A goal without a witness is right if the change is proven to give the same results for all
conformant items.
"""

from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.forms import Need
from daedalus.generator.verify.goals import Goal, Plan, lane_limits
from daedalus.generator.verify.proofs.equivalence import Prover
from daedalus.generator.verify.proofs.lane_walk import Variation


def variation(goal: Goal) -> Variation | None:
    """What a goal's lowering would be; None where the goal is a value beyond its lane."""
    if goal.op == "dup":
        return Variation(result=1 if goal.plain == simulate.MORE else -1)
    return Variation(op=goal.plain) if goal.plain else None


def impossible(plan: Plan, goal: Goal, seconds: float = 400) -> bool:
    """Whether it is proven that a goal can have no witness, of none of its lowerings.

    `seconds` is work, as in `Questions`.
    """
    prover = Prover(plan.lowered, plan.stages, seconds)
    return all(_impossible(prover, goal, need) for need in (goal.need, *goal.alike))


def _impossible(prover: Prover, goal: Goal, need: Need) -> bool:
    changed = variation(goal)
    if changed is not None:
        return prover.same(goal.stage, need, changed)
    node, demand = need
    return prover.within(goal.stage, node, *lane_limits(demand, prover.range_of(node)))
