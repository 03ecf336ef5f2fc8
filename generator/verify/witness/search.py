# SPDX-License-Identifier: BSD-2-Clause
"""Looks for witnesses: among drawn items, by the solver, and around items that come close.

All of it is limited by work, and not by time: what is found is the same on every machine.
"""

from dataclasses import replace

import numpy as np

from daedalus.dsl import vectors
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.console import console
from daedalus.generator.compile.registry import Entry
from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.simulate import Change
from daedalus.generator.verify.goals import SATURATING, TOGETHER, Goal, Plan, plans
from daedalus.generator.verify.proofs import goal_proofs, proof_file
from daedalus.generator.verify.witness import witness_file
from daedalus.generator.verify.witness.shown import (
    Found,
    beyond,
    examine,
    reason_of,
    recorded,
    shown,
    unmet,
)
from daedalus.generator.verify.witness.solver import Purse, solved

_DRAWN = 3000  # items a kernel and class that the search begins with
_MORE = 300  # items a class that are given spots
_SPOTS = 8  # times
_ENDS = 24  # times that planes have the ends of their ranges only
_BEGINNING = 2000  # items, evenly from what there is, that climbing chooses its first ones from
_WIDE = 200  # items that the first round looks around
_KEPT = 48  # best items that each round looks around
_UNSEEN = 1e9  # how much worse a lane is that the result does not depend on
_ATTEMPTS = 6  # for a goal that is not met
_ROUNDS = 80
_WORK = 600_000_000  # values that climbing computes for a kernel, before it gives up


def known_or_searched(entry: Entry, *, anew: bool = False, seed: int = 1) -> Found:
    """A kernel's witnesses: those on file if they show all that is to be shown, else what a search
    finds; that is then put on file.

    What is not found is listed where the search is asked for, or where nothing was on file. Else
    it stays missing: a witness that was there is lost.
    """
    name, found = entry.kernel.id, recorded(entry)
    if not (anew or found.missing):
        return found
    console.print(f"{name}: searching witnesses", markup=False)
    first = not witness_file.known(name)
    items = search(entry, seed, None if anew else found.items).items
    if anew:
        items = _none_lost(entry, items, found.items)
    listed = {} if anew or first else witness_file.listed(name)
    searched = examine(entry, items, listed)
    if anew or first:
        searched = examine(entry, items, searched.unlisted)
    if anew or len(searched.missing) <= len(found.missing):
        found = searched
        witness_file.write(name, found.items, found.listed)
    return found


def _none_lost(entry: Entry, items: Items, before: Items) -> Items:
    """The items, and those of before that show what these do not."""
    for plan in plans(entry):
        left = [g for g in unmet(plan, items) if reason_of(plan, g) is None]
        if left:
            items, _ = _taken(plan, before.take(plan.conformant(before)), items, left)
    return items


def search(entry: Entry, seed: int = 1, start: Items | None = None) -> Found:
    """Looks for witnesses of all goals of a kernel's variants, as few as are easily found.

    A function of kernel, variants, seed and the items it starts with.
    """
    todo = [p for p in plans(entry) if p.goals]
    kernel = entry.kernel
    chosen = witness_file.none(kernel) if start is None else start
    if not todo:
        return examine(entry, chosen)
    usual = vectors.make_items(kernel, _MORE * len(kernel.class_names), seed, "conformant")
    pool, work = _drawn(kernel, seed, max(p.size for p in todo)), _WORK
    purse = Purse()
    for plan in todo:
        mine = pool.take(plan.conformant(pool))
        known = shown(plan, chosen.take(plan.conformant(chosen)), plan.goals)
        left = [g for g in plan.goals if not len(known[g])]
        chosen, left = _taken(plan, mine, chosen, left)
        planes = any(b.kind == "plane" for b in kernel.buffers)
        for draw, times in ((vectors.spotted, _SPOTS), (_at_ends, _ENDS)) if planes else ():
            for n in range(times):
                if left:
                    more = draw(kernel, usual, np.random.default_rng([seed, 3, n]))
                    chosen, left = _taken(plan, more.take(plan.conformant(more)), chosen, left)
        if left and _has_blocks(kernel):
            more = vectors.patterned(kernel, usual, np.random.default_rng([seed, 4]))
            chosen, left = _taken(plan, more.take(plan.conformant(more)), chosen, left)
        left = [g for g in left if not _hopeless(plan, g)]
        again, left = left, []
        for goal in again:
            one = solved(plan, goal, mine, purse)
            if one is None:
                left.append(goal)
            else:
                chosen = vectors.joined(chosen, one)
        for attempt in range(_ATTEMPTS):
            again, left = left, []
            for goal in again:
                if work <= 0:
                    left.append(goal)
                    continue
                # What shows one goal is often near what shows another.
                near = vectors.joined(chosen.take(plan.conformant(chosen)), mine)
                one, spent = _climb(plan, goal, near, seed + attempt, work)
                work -= spent
                if one is None:
                    left.append(goal)
                else:
                    chosen = vectors.joined(chosen, one)
    return examine(entry, chosen)


def _taken(plan: Plan, pool: Items, chosen: Items, left: list[Goal]) -> tuple[Items, list[Goal]]:
    """What is chosen and left once a pool's witnesses are taken: as few as do."""
    for part in plan.portions(pool):
        found = shown(plan, part, left)
        best = _cover([found[g] for g in left if len(found[g])])
        chosen = vectors.joined(chosen, part.take(np.array(best, np.int64)))
        left = [g for g in left if not len(found[g])]
        if not left:
            break
    return chosen, left


def _hopeless(plan: Plan, goal: Goal) -> bool:
    """Whether a goal need not be looked for: there is a reason, and if that is a proof, it holds
    for this goal."""
    reason = reason_of(plan, goal)
    if reason is None or not reason.proof:
        return reason is not None
    known = proof_file.key(plan, goal) in proof_file.recorded(plan)
    return known or goal_proofs.impossible(plan, goal)


def _cover(sets: list[Array]) -> list[int]:
    """Few numbers of which every set has one: the most frequent first."""
    left = [set(s.tolist()) for s in sets]
    found: list[int] = []
    while left:
        counts: dict[int, int] = {}
        for s in left:
            for n in s:
                counts[n] = counts.get(n, 0) + 1
        best = max(sorted(counts), key=lambda n: counts[n])
        found.append(best)
        left = [s for s in left if best not in s]
    return found


def _drawn(kernel: Kernel, seed: int, size: int) -> Items:
    """Items of several manners, fewer of large kernels; not all conformant."""
    count = max(40, min(_DRAWN, 3 * TOGETHER // size)) * len(kernel.class_names)
    usual = vectors.make_items(kernel, count, seed, "conformant")
    pool = vectors.joined(usual, vectors.make_items(kernel, count, seed, "boundary"))
    if _has_blocks(kernel):
        rng = np.random.default_rng([seed, 1])
        spiked = vectors.spiked(kernel, usual, rng)
        pool = vectors.joined(vectors.joined(pool, spiked), _coarse(kernel, spiked, rng))
    if any(b.kind == "plane" and b.access != "out" for b in kernel.buffers):
        rng = np.random.default_rng([seed, 2])
        pool = vectors.joined(pool, vectors.spotted(kernel, usual, rng))
    return pool


def _has_blocks(kernel: Kernel) -> bool:
    """Whether a kernel reads some."""
    return any(b.kind == "block" and b.access != "out" for b in kernel.buffers)


def _coarse(kernel: Kernel, items: Items, rng: np.random.Generator) -> Items:
    """The items with the elements of blocks at multiples of some power of two: what is exactly
    between two results of a rounding shift is near those."""
    buffers = dict(items.buffers)
    for b in kernel.buffers:
        if b.kind == "block" and b.access != "out":
            low = rng.integers(0, max(1, b.hi.bit_length()), (items.count, *[1] * len(b.extents)))
            buffers[b.name] = np.clip((items.buffers[b.name] >> low) << low, b.lo, b.hi)
    return Items(buffers, items.params)


def _at_ends(kernel: Kernel, items: Items, rng: np.random.Generator) -> Items:
    """The items with what planes hold at either end of its range: each element for itself, those of
    a row alike, or those of a column. So the sums of filters' taps get to their ends."""
    buffers = dict(items.buffers)
    for b in kernel.buffers:
        if b.kind == "plane" and b.access != "out":
            (rows, cols), n = b.extents, items.count
            shapes = ((n, rows, cols), (n, rows, 1), (n, 1, cols))
            ways = [np.broadcast_to(rng.random(s) < 0.5, shapes[0]) for s in shapes]
            high = np.choose(rng.integers(0, len(ways), (n, 1, 1)), ways)
            buffers[b.name] = np.where(high, b.hi, b.lo)
    return Items(buffers, items.params)


def _climb(plan: Plan, goal: Goal, start: Items, seed: int, work: int) -> tuple[Items | None, int]:
    """Looks around the items that come closest, for some rounds, or as long as there is work left;
    a witness, and the work done."""
    rng = np.random.default_rng([seed, goal.stage, goal.need[0].seq, goal.need[1].width])
    most = max(1, min(_BEGINNING, work // (2 * plan.size)))
    start = start.take(np.arange(0, start.count, max(1, -(-start.count // most))))
    spent = start.count * plan.size
    goal = replace(goal, need=(goal.need, *goal.alike)[seed % (1 + len(goal.alike))], alike=())
    if not start.count:
        return None, spent
    pool = start.take(np.argsort(-_closeness(plan, goal, start), kind="stable")[:_WIDE])
    for _ in range(_ROUNDS):
        found = shown(plan, pool, [goal])[goal]
        if len(found):
            return pool.take(found[:1]), spent
        spent += pool.count * plan.size
        if spent > work:
            break
        best = pool.take(np.argsort(-_closeness(plan, goal, pool), kind="stable")[:_KEPT])
        pool = best
        for _ in range(4):
            pool = vectors.joined(pool, vectors.neighbours(plan.kernel, best, rng))
            pool = vectors.joined(pool, vectors.shaken(plan.kernel, best, rng))
            pool = vectors.joined(pool, vectors.shaken(plan.kernel, best, rng))
            pool = vectors.joined(pool, vectors.crossed(best, rng))
        pool = pool.take(plan.conformant(pool))
    return None, spent


def _closeness(plan: Plan, goal: Goal, items: Items) -> Array:
    """Per item, larger where it is closer to being a witness: how far the value is beyond the lane,
    on lanes of which the result depends on this value at all. Of a constant's: how far what is
    limited after it was added or taken away is beyond its limits; else whether the stage shows it.
    """
    if goal.op == "dup":
        limited = _limited_users(plan, goal)
        if not limited:
            return _shown_by_stage(plan, goal, items)
        return np.asarray(np.max([_closeness(plan, u, items) for u in limited], axis=0))
    found = []
    for portion in plan.portions(items):
        base = simulate.run(plan.lowered, plan.stages, portion)
        lanes = (portion.count, plan.stages[goal.stage].vector.lanes)
        far = np.broadcast_to(beyond(plan, base, goal), lanes).astype(np.float64)
        far = np.where(base.active[goal.stage], far, far - _UNSEEN)
        if goal.plain:
            far = np.where(_seen(plan, goal, base), far, far - _UNSEEN)
        found.append(far.max(axis=1))
    closest: Array = np.concatenate(found)
    return closest


def _shown_by_stage(plan: Plan, goal: Goal, items: Items) -> Array:
    """Per item, in how many lanes a change of a constant changes what its stage stores; ties are
    broken at random."""
    found = [np.random.default_rng(items.count).random(items.count)]
    for portion in plan.portions(items):
        base = simulate.run(plan.lowered, plan.stages, portion)
        part, counts = plan.stages[goal.stage], np.zeros(portion.count)
        forms = simulate.changed_forms(part, base, Change(goal.stage, goal.need, goal.plain))
        for root in part.selection.roots if forms is not None else ():
            assert forms is not None
            other = forms[root] != base.forms[goal.stage][root]
            counts = counts + (other & base.active[goal.stage]).sum(axis=1)
        found.append(counts)
    return np.asarray(found[0] + np.concatenate(found[1:]))


def _limited_users(plan: Plan, goal: Goal) -> list[Goal]:
    """The saturating operations that a value goes into, as goals."""
    part = plan.stages[goal.stage]
    chosen = part.selection.chosen
    return [
        Goal(goal.stage, user, chosen[user].rule, chosen[user].op, "")
        for user in part.order
        if goal.need in chosen[user].inputs and chosen[user].op in SATURATING
    ]


def _seen(plan: Plan, goal: Goal, base: simulate.Ran) -> Array:
    """Where it is seen in the result that all bits of a value are others: a lane of the last
    stage, else an item."""
    change = Change(goal.stage, goal.need, simulate.INVERTED)
    part = plan.stages[goal.stage]
    seen = np.zeros((base.items.count, 1), dtype=bool)
    if goal.stage == len(plan.stages) - 1:
        forms = simulate.changed_forms(part, base, change)
        if forms is None:
            return seen
        for root in part.selection.roots[: len(part.vector.stores)]:
            seen = seen | (base.forms[goal.stage][root] != forms[root])
        return np.asarray(seen)
    which = simulate.shows(plan.lowered, plan.stages, base, change, base.items.count)
    seen[which] = True
    return seen
