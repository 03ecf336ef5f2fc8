# SPDX-License-Identifier: BSD-2-Clause
"""Witnesses: conformant items that tell each chosen NEON lowering from the plainer operation.

A few items a kernel are on record; what they show is computed anew each time, so a record that no
longer fits is noticed. A goal (`goals.py`) may have no witness: either nothing that conforms
reaches it, then ranges are too weak and the spec should say so by an assumption; or there is a
reason, which `tools/mutants.toml` states: as a rule that the solver proves that there can be none
(`goal_proofs.py`); or the search has ended before, and then the record lists the goal. Any other is
an error, as a witness that was there is lost.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Op
from daedalus.generator.compile.registry import Entry
from daedalus.generator.targets.neon import simulate
from daedalus.generator.verify.goals import Goal, Plan, lane_limits, plans
from daedalus.generator.verify.mutants import changed, mutants
from daedalus.generator.verify.proofs import goal_proofs, proof_file
from daedalus.generator.verify.witness import reasons, witness_file
from daedalus.generator.verify.witness.reasons import Reason

_TRIED = 64  # items on which a changed operation is run to the end


def shown(plan: Plan, items: Items, goals: list[Goal]) -> dict[Goal, Array]:
    """Of every goal, the numbers of (at most _TRIED a portion) items that are its witnesses.

    All items have to be conformant for the variant.
    """
    found: dict[Goal, list[Array]] = {g: [np.zeros(0, np.int64)] for g in goals}
    at = 0
    for portion in plan.portions(items):
        base = simulate.run(plan.lowered, plan.stages, portion)
        for goal in goals:
            found[goal].append(at + _witnesses_of_any(plan, base, goal))
        at += portion.count
    return {g: np.concatenate(parts) for g, parts in found.items()}


def _witnesses_of_any(plan: Plan, base: simulate.Ran, goal: Goal) -> Array:
    """Those of the first lowering of a goal that has some."""
    found = np.zeros(0, np.int64)
    for need in (goal.need, *goal.alike):
        found = _witnesses(plan, base, replace(goal, need=need))
        if len(found):
            break
    return found


def _witnesses(plan: Plan, base: simulate.Ran, goal: Goal) -> Array:
    """The numbers of (at most _TRIED) items of a run that are a goal's witnesses."""
    if not goal.plain:
        return _thinned(np.flatnonzero(_differs(plan, base, goal).any(axis=1)))
    if goal.op != "dup" and not _differs(plan, base, goal).any():
        return np.zeros(0, np.int64)
    varied = goal_proofs.variation(goal)
    assert varied is not None  # as it has a plain operation
    change = changed(goal.stage, goal.need, varied)
    return simulate.shows(plan.lowered, plan.stages, base, change, _TRIED)


def _thinned(where: Array) -> Array:
    return where[:: max(1, len(where) // _TRIED)][:_TRIED]


def _differs(plan: Plan, base: simulate.Ran, goal: Goal) -> Array:
    """Where the value itself differs: bool [items, lanes]."""
    forms, values = base.forms[goal.stage], base.values[goal.stage]
    if goal.plain:
        choice = plan.stages[goal.stage].selection.chosen[goal.need]
        plain = simulate.compute(goal.plain, choice, goal.need[1], forms, values)
        return np.asarray(plain != forms[goal.need]) & base.active[goal.stage]
    return np.asarray(beyond(plan, base, goal) > 0) & base.active[goal.stage]


def beyond(plan: Plan, base: simulate.Ran, goal: Goal) -> Array:
    """How far the value is beyond the lane; negative inside: what the search raises."""
    node, demand = goal.need
    values = base.values[goal.stage]
    if node.op in (Op.LE, Op.GT):  # strictness shows where both sides are equal
        return np.asarray(-np.abs(values[node.args[0]].astype(np.int64) - values[node.args[1]]))
    lo, hi = lane_limits(demand, plan.stages[goal.stage].selection.ranges.of(node))
    return np.asarray(np.maximum(lo - values[node], values[node] - hi))


@dataclass(frozen=True)
class Found:
    """What is known of a kernel's witnesses.

    items     the witnesses, of all variants
    counts    per function of a NEON variant: goals, those with a witness, and how many lowerings
              they are
    missing   a line for every goal without one that is neither listed, nor has a reason in
              tools/mutants.toml; and for every entry in either that nothing needs
    unproven  a line for every goal whose reason is said to be a proof that is not on record
    listed    the goals without one that the record lists, as it does; `wanted` a line for each,
              with what would be a witness
    unlisted  those that it could list: also the missing ones
    """

    items: Items
    counts: dict[str, tuple[int, int, int]]
    missing: list[str]
    unproven: list[str]
    listed: dict[str, list[str]] = field(default_factory=dict)
    wanted: list[str] = field(default_factory=list)
    unlisted: dict[str, list[str]] = field(default_factory=dict)


def examine(
    entry: Entry, items: Items, listed: Mapping[str, Collection[str]] = {}
) -> Found:  # fmt: skip
    """What the items show; listed are the goals that the search found no witness of."""
    name = entry.kernel.id
    result = Found(items, {}, [], [])
    excused: set[Reason] = set()
    for plan in plans(entry):
        left = unmet(plan, items)
        lowerings = sum(1 + len(g.alike) for g in plan.goals)
        result.counts[plan.title] = (len(plan.goals), len(plan.goals) - len(left), lowerings)
        proven = proof_file.recorded(plan)
        for goal in left:
            reason = reason_of(plan, goal)
            if reason is None:
                _without(result, plan, goal, listed)
                continue
            excused.add(reason)
            if reason.proof and proof_file.key(plan, goal) not in proven:
                result.unproven.append(f"{plan.title}: {goal}: {proof_file.missing(name)}")
    needless = [
        f"{place}: {key}"
        for place, keys in listed.items()
        for key in keys
        if key not in result.listed.get(place, [])
    ]
    result.missing.extend(
        f"{line}: it has a witness, or is none; ./daedalus witness {name} --search takes it out"
        for line in needless
    )
    stale = [r for r in reasons.read() if r.kernel == name and r not in excused]
    if stale:  # but `mutate` says whether those are needed that are of no goal
        others = {(p.name, m.text) for p in plans(entry) for m in mutants(p) if m.goal is None}
        stale = [r for r in stale if (r.variant, r.goal) not in others]
    result.missing.extend(
        f"{reasons.NAME}: {r}: it has a witness, or is none; take it out" for r in stale
    )
    return result


def _without(
    result: Found, plan: Plan, goal: Goal, listed: Mapping[str, Collection[str]]
) -> None:  # fmt: skip
    """Notes a goal that has neither a witness nor a reason."""
    place, key = proof_file.place(plan), proof_file.key(plan, goal)
    result.unlisted.setdefault(place, []).append(key)
    if key in listed.get(place, ()):
        result.listed.setdefault(place, []).append(key)
        result.wanted.append(f"{plan.title}: {goal}: {wanted(plan, goal)}")
    else:
        result.missing.append(f"{plan.title}: {goal}: no witness was found")


def wanted(plan: Plan, goal: Goal) -> str:
    """What would be a witness."""
    if goal.op == "dup":
        return f"an item whose result the constant, {goal.plain}, would change"
    if goal.plain:
        return f"an item whose result {goal.plain} in place of {goal.op} would change"
    node, demand = goal.need
    lo, hi = lane_limits(demand, plan.stages[goal.stage].selection.ranges.of(node))
    return f"an item whose value leaves {lo} to {hi}"


def not_found(plan: Plan) -> list[Goal]:
    """The goals that the record lists."""
    keys = witness_file.listed(plan.kernel.id).get(proof_file.place(plan), [])
    return [g for g in plan.goals if proof_file.key(plan, g) in keys]


def unmet(plan: Plan, items: Items) -> list[Goal]:
    """The goals that the conformant ones of the items do not meet."""
    found = shown(plan, items.take(plan.conformant(items)), plan.goals)
    return [g for g in plan.goals if not len(found[g])]


def reason_of(plan: Plan, goal: Goal) -> Reason | None:
    """The entry that says why a goal has no witness; one that is no proof names the variant."""
    return reasons.of(plan.kernel.id, plan.name, goal.text)


def said_to_be_proven(plan: Plan, items: Items) -> list[Goal]:
    """The goals that the items do not meet, for a reason that is said to be a proof."""
    every = [(g, reason_of(plan, g)) for g in unmet(plan, items)]
    return [g for g, r in every if r is not None and r.proof]


def recorded(entry: Entry) -> Found:
    """What the items on file show."""
    name = entry.kernel.id
    return examine(entry, witness_file.read(entry.kernel), witness_file.listed(name))
