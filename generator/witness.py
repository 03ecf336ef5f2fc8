# SPDX-License-Identifier: BSD-2-Clause
"""Witnesses: conformant items that tell each chosen NEON lowering from the plainer operation.

A lowering that saturates, rounds, compares or relies on arithmetic modulo 2**w is right for all
items; on most of them a plainer operation is right, too. A *goal* is one such lowering; an item is
its *witness* where the variant's result would be another with the plainer operation in its place,
or, for modular ones, where the value is beyond the lane that holds it (whoever takes the lane for
the value is wrong there).

`generated/witnesses.json` keeps a few items a kernel; what they show is computed anew each time,
so a file that no longer fits is noticed. A goal that has no witness is an error: either nothing
that conforms reaches it, then ranges are too weak and the spec should say so by an assumption; or
the search is; or there is a reason, which `tools/mutants.toml` states. What ranges and assumptions
prove to be the same on all items is no goal. Lowerings that a variant has more than _ALIKE times,
of one line in one form, as unrolled rows do, are one goal: a witness of any of them is one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Interval
from daedalus.generator import reasons, witness_file
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.reasons import Reason
from daedalus.generator.registry import Entry
from daedalus.generator.schedule import Schedule, variant_name
from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.emit import emit
from daedalus.generator.targets.neon.forms import Need
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.targets.neon.rules import limits
from daedalus.generator.targets.neon.select import Selection
from daedalus.generator.targets.neon.simulate import Change, Part

# The operation without saturation or rounding, or of the other strictness, on the same operands.
PLAIN = {
    "qadd_u": "add", "qadd_s": "add", "sqadd_u": "add", "qsub_u": "sub", "qsub_s": "sub",
    "qshl_n_u": "shl_n", "qmovn_u": "movn", "qmovn_s": "movn", "qmovun": "movn",
    "qshrn_n_u": "shrn_n", "qshrn_n_s": "shrn_n", "qshrun_n": "shrn_n",
    "qrshrn_n_u": "rshrn_n", "qrshrn_n_s": "rshrn_n", "qrshrun_n": "rshrn_n",
    "rshrn_n": "shrn_n", "rshr_n_u": "shr_n_u", "rshr_n_s": "shr_n_s",
    "rhadd_u": "hadd_u", "rhadd_s": "hadd_s",
    "cge_u": "cgt_u", "cge_s": "cgt_s", "cgt_u": "cge_u", "cgt_s": "cge_s",
}  # fmt: skip

SATURATING = frozenset(n for n in PLAIN if n.startswith(("q", "sq")))

_DRAWN = 3000  # items a kernel and class that the search begins with
_BEGINNING = 2000  # items, evenly from what there is, that climbing chooses its first ones from
_WIDE = 200  # items that the first round looks around
_KEPT = 48  # best items that each round looks around
_UNSEEN = 1e9  # how much worse a lane is that the result does not depend on
_ATTEMPTS = 6  # for a goal that is not met
_ROUNDS = 80
_TRIED = 64  # items on which a changed operation is run to the end
_ALIKE = 4  # goals of one line and form, in a stage; more are one
_TOGETHER = 2_000_000  # values computed at once: operations times points times items
_WORK = 1_200_000_000  # values that climbing computes for a kernel, before it gives up


@dataclass(frozen=True)
class Goal:
    """One lowering of a variant, and the operation that it has to be told from.

    plain  the operation, or "" where the lane holds the value modulo 2**w only
    alike  the others of a goal that is many lowerings
    """

    stage: int
    need: Need
    rule: str
    op: str
    plain: str
    alike: tuple[Need, ...] = ()

    def __str__(self) -> str:
        node = self.need[0]
        return f"{node.loc}: {self.text}"

    @property
    def text(self) -> str:
        """What it is, without the line: by this a reason names it."""
        node, demand = self.need
        what = f"{self.op} for {self.plain}" if self.plain else "wraps"
        if self.op == "dup":
            what = self.plain
        name = f" {node.value}" if node.op is Op.CONST else f" {node.name}" if node.name else ""
        return f"{node.op}{name} as {demand.kind} {demand.width} (rule {self.rule}, {what})"


@dataclass(frozen=True)
class Plan:
    """A variant as the search sees it: its program, what was selected, the goals."""

    name: str
    schedule: Schedule
    kernel: Kernel  # as the spec has it
    lowered: Kernel
    stages: list[Part]
    goals: list[Goal]

    @property
    def size(self) -> int:
        """Values that an item takes."""
        return sum(len(p.order) * p.vector.lanes for p in self.stages)

    def portions(self, items: Items) -> Iterator[Items]:
        """The items in order, as many at a time as are simulated at once."""
        step = min(1000, max(8, _TOGETHER // self.size))
        for at in range(0, items.count, step):
            yield items.take(np.arange(at, min(at + step, items.count)))

    def conformant(self, items: Items) -> Array:
        """Which items the variant has to get right."""
        if not items.count:
            return np.zeros(0, dtype=bool)
        assume = self.kernel.defaults | set(self.schedule.assume)
        ok: Array = interp.run(self.kernel, items).conformant(assume)
        return ok & interp.in_class(self.kernel, self.schedule.class_name, items)


def plans(entry: Entry) -> Iterator[Plan]:
    """The NEON variants of a kernel."""
    for schedule, _ in entry.schedules:
        if schedule.target != "neon":
            continue
        lowered = lower(entry.kernel, schedule)
        seen: list[Selection] = []
        emit(lowered, seen.append)
        # Bodies for several items and for one left over; goals are the same but for shapes.
        selections = seen[: len(lowered.stages)]
        name = variant_name(entry.kernel.id, schedule)
        every = [g for n, s in enumerate(selections) for g in _goals(n, s)]
        goals = _joined(every)
        stages = simulate.parts(lowered, selections)
        yield Plan(name, schedule, entry.kernel, lowered, stages, goals)


def _joined(goals: list[Goal]) -> list[Goal]:
    """The goals; more than _ALIKE of one line and form in a stage are one."""
    groups: dict[tuple[int, str], list[Goal]] = {}
    for g in goals:
        groups.setdefault((g.stage, str(g)), []).append(g)
    found: list[Goal] = []
    for group in groups.values():
        first, *others = group
        if len(group) > _ALIKE:
            found.append(replace(first, alike=tuple(g.need for g in others)))
        else:
            found += group
    return found


def _goals(stage: int, selection: Selection) -> Iterator[Goal]:
    known = _bounds(selection)
    for need in selection.reached():
        node, demand = need
        choice, held = selection.chosen[need], known[node]
        if choice.op == "dup" and node.op is Op.CONST and demand.kind == "bits":
            yield from (Goal(stage, need, "dup", "dup", c) for c in (simulate.LESS, simulate.MORE))
        if choice.op in SATURATING and held.within(*limits(demand.width, demand.kind == "sat_s")):
            continue  # it cannot bind: with the plain operation the lane holds the same
        if choice.op in PLAIN:
            yield Goal(stage, need, choice.rule, choice.op, PLAIN[choice.op])
        fits = any(held.within(*limits(demand.width, s)) for s in (False, True))
        if demand.kind == "bits" and choice.op in OPS and not node.is_bool and not fits:
            yield Goal(stage, need, choice.rule, choice.op, "")


def _bounds(selection: Selection) -> dict[Node, Interval]:
    """Of every value, what ranges prove and what assumptions say of it to whoever uses it."""
    found = {n: selection.ranges.of(n) for n in selection.stage.nodes()}
    for n in selection.stage.nodes():
        if n.op is Op.ASSUME:
            held = found[n.args[0]]
            lo, hi = max(held.lo, n.attr[1]), min(held.hi, n.attr[2])
            found[n.args[0]] = Interval(lo, max(lo, hi))
    return found


# ------------------------------------------------------------------ what items show


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
    change = Change(goal.stage, goal.need, goal.plain)
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
    return np.asarray(_beyond(plan, base, goal) > 0) & base.active[goal.stage]


def _beyond(plan: Plan, base: simulate.Ran, goal: Goal) -> Array:
    """How far the value is beyond the lane; negative inside: what the search raises."""
    node, demand = goal.need
    values = base.values[goal.stage]
    if node.op in (Op.LE, Op.GT):  # strictness shows where both sides are equal
        return np.asarray(-np.abs(values[node.args[0]].astype(np.int64) - values[node.args[1]]))
    held = plan.stages[goal.stage].selection.ranges.of(node)
    signed = demand.kind == "sat_s" or (demand.kind == "bits" and held.lo < 0)
    lo, hi = limits(demand.width, signed)
    return np.asarray(np.maximum(lo - values[node], values[node] - hi))


# ------------------------------------------------------------------ search


@dataclass(frozen=True)
class Found:
    """What is known of a kernel's witnesses.

    items    the witnesses, of all variants
    counts   per NEON variant: goals, those with a witness, and how many lowerings they are
    missing  a line for every goal without one, and without a reason in tools/mutants.toml
    """

    items: Items
    counts: dict[str, tuple[int, int, int]]
    missing: list[str]


def examine(entry: Entry, items: Items) -> Found:
    """What the items show."""
    name = entry.kernel.id
    counts: dict[str, tuple[int, int, int]] = {}
    missing: list[str] = []
    excused: set[Reason] = set()
    for plan in plans(entry):
        found = shown(plan, items.take(plan.conformant(items)), plan.goals)
        left = [g for g in plan.goals if not len(found[g])]
        lowerings = sum(1 + len(g.alike) for g in plan.goals)
        counts[plan.name] = (len(plan.goals), len(plan.goals) - len(left), lowerings)
        for goal in left:
            reason = reasons.of("unwitnessed", name, goal.text)
            if reason is None:
                missing.append(f"{plan.name}: {goal}")
            else:
                excused.add(reason)
    stale = [r for r in reasons.read("unwitnessed") if r.kernel == name and r not in excused]
    missing += [f"{reasons.NAME}: {r}: it has one, or is none; take it out" for r in stale]
    return Found(items, counts, missing)


def recorded(entry: Entry) -> Found:
    """What the items on file show."""
    return examine(entry, witness_file.read(entry.kernel))


def search(entry: Entry, seed: int = 1, start: Items | None = None) -> Found:
    """Looks for witnesses of all goals of a kernel's variants, as few as are easily found.

    A function of kernel, schedules, seed and the items it starts with.
    """
    todo = [p for p in plans(entry) if p.goals]
    kernel = entry.kernel
    chosen = witness_file.none(kernel) if start is None else start
    if not todo:
        return examine(entry, chosen)
    pool, work = _drawn(kernel, seed, max(p.size for p in todo)), _WORK
    for plan in todo:
        mine = pool.take(plan.conformant(pool))
        known = shown(plan, chosen.take(plan.conformant(chosen)), plan.goals)
        left = [g for g in plan.goals if not len(known[g])]
        for part in plan.portions(mine):
            found = shown(plan, part, left)
            best = _cover([found[g] for g in left if len(found[g])])
            chosen = vectors.joined(chosen, part.take(np.array(best, np.int64)))
            left = [g for g in left if not len(found[g])]
            if not left:
                break
        left = [g for g in left if reasons.of("unwitnessed", kernel.id, g.text) is None]
        for attempt in range(_ATTEMPTS):
            again, left = left, []
            for goal in again:
                # What shows one goal is often near what shows another.
                near = vectors.joined(chosen.take(plan.conformant(chosen)), mine)
                one, spent = _climb(plan, goal, near, seed + attempt, work)
                work -= spent
                if one is None:
                    left.append(goal)
                else:
                    chosen = vectors.joined(chosen, one)
    return examine(entry, chosen)


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
    count = max(40, min(_DRAWN, 3 * _TOGETHER // size)) * len(kernel.class_names)
    usual = vectors.make_items(kernel, count, seed, "conformant")
    pool = vectors.joined(usual, vectors.make_items(kernel, count, seed, "boundary"))
    if any(b.kind == "block" and b.access != "out" for b in kernel.buffers):
        rng = np.random.default_rng([seed, 1])
        spiked = vectors.spiked(kernel, usual, rng)
        pool = vectors.joined(vectors.joined(pool, spiked), _coarse(kernel, spiked, rng))
    return pool


def _coarse(kernel: Kernel, items: Items, rng: np.random.Generator) -> Items:
    """The items with the elements of blocks at multiples of some power of two: what is exactly
    between two results of a rounding shift is near those."""
    buffers = dict(items.buffers)
    for b in kernel.buffers:
        if b.kind == "block" and b.access != "out":
            low = rng.integers(0, max(1, b.hi.bit_length()), (items.count, *[1] * len(b.extents)))
            buffers[b.name] = np.clip((items.buffers[b.name] >> low) << low, b.lo, b.hi)
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
        beyond = np.broadcast_to(_beyond(plan, base, goal), lanes).astype(np.float64)
        beyond = np.where(base.active[goal.stage], beyond, beyond - _UNSEEN)
        if goal.plain:
            beyond = np.where(_seen(plan, goal, base), beyond, beyond - _UNSEEN)
        found.append(beyond.max(axis=1))
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
