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
prove to be the same on all items is no goal.
"""

from collections.abc import Iterator
from dataclasses import dataclass

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
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.targets.neon.rules import limits
from daedalus.generator.targets.neon.select import Need, Selection
from daedalus.generator.targets.neon.simulate import Change

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
_WIDE = 200  # items that the first round looks around
_KEPT = 48  # best items that each round looks around
_UNSEEN = 1e9  # how much worse a lane is that the result does not depend on
_ATTEMPTS = 6  # for a goal that is not met
_ROUNDS = 80
_TRIED = 64  # items on which a changed operation is run to the end


@dataclass(frozen=True)
class Goal:
    """One lowering of a variant, and the operation that it has to be told from.

    plain  the operation, or "" where the lane holds the value modulo 2**w only
    """

    stage: int
    need: Need
    rule: str
    op: str
    plain: str

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
    selections: list[Selection]
    goals: list[Goal]

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
        goals = [g for n, s in enumerate(selections) for g in _goals(n, s)]
        yield Plan(name, schedule, entry.kernel, lowered, selections, goals)


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
    """Of every goal, the numbers of (at most _TRIED) items that are its witnesses.

    All items have to be conformant for the variant.
    """
    found: dict[Goal, Array] = {}
    if not items.count:
        return {g: np.zeros(0, np.int64) for g in goals}
    base = simulate.run(plan.lowered, plan.selections, items)
    for goal in goals:
        differs = _differs(plan, base, goal)
        where = np.flatnonzero(np.broadcast_to(differs, (items.count, differs.shape[1])).any(1))
        if goal.op != "dup":  # of a constant, only trying tells whether it shows
            where = where[:: max(1, len(where) // _TRIED)][:_TRIED]
        if goal.plain and len(where):
            change = Change(goal.stage, goal.need, goal.plain)
            got = simulate.run(plan.lowered, plan.selections, items.take(where), change)
            wrong = np.zeros(len(where), dtype=bool)
            for name, values in got.outputs.items():
                other = values != base.outputs[name][where]
                wrong |= other.reshape(len(where), -1).any(axis=1)
            where = where[wrong]
        found[goal] = where
    return found


def _differs(plan: Plan, base: simulate.Ran, goal: Goal) -> Array:
    """Where the value itself differs: bool, broadcasts to [items, lanes]."""
    forms, values = base.forms[goal.stage], base.values[goal.stage]
    if goal.op == "dup":
        return np.asarray(base.active[goal.stage])
    if goal.plain:
        choice = plan.selections[goal.stage].chosen[goal.need]
        plain = simulate.compute(goal.plain, choice, goal.need[1], forms, values)
        return np.asarray(plain != forms[goal.need]) & base.active[goal.stage]
    return np.asarray(_beyond(plan, base, goal) > 0) & base.active[goal.stage]


def _beyond(plan: Plan, base: simulate.Ran, goal: Goal) -> Array:
    """How far the value is beyond the lane; negative inside: what the search raises."""
    node, demand = goal.need
    values = base.values[goal.stage]
    if node.op in (Op.LE, Op.GT):  # strictness shows where both sides are equal
        return np.asarray(-np.abs(values[node.args[0]].astype(np.int64) - values[node.args[1]]))
    held = plan.selections[goal.stage].ranges.of(node)
    signed = demand.kind == "sat_s" or (demand.kind == "bits" and held.lo < 0)
    lo, hi = limits(demand.width, signed)
    return np.asarray(np.maximum(lo - values[node], values[node] - hi))


# ------------------------------------------------------------------ search


@dataclass(frozen=True)
class Found:
    """What is known of a kernel's witnesses.

    items    the witnesses, of all variants
    counts   per NEON variant: goals, and how many of them have a witness
    missing  a line for every goal without one, and without a reason in tools/mutants.toml
    """

    items: Items
    counts: dict[str, tuple[int, int]]
    missing: list[str]


def examine(entry: Entry, items: Items) -> Found:
    """What the items show."""
    name = entry.kernel.id
    counts: dict[str, tuple[int, int]] = {}
    missing: list[str] = []
    excused: set[Reason] = set()
    for plan in plans(entry):
        found = shown(plan, items.take(plan.conformant(items)), plan.goals)
        left = [g for g in plan.goals if not len(found[g])]
        counts[plan.name] = (len(plan.goals), len(plan.goals) - len(left))
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


def search(entry: Entry, seed: int = 1) -> Found:
    """Looks for witnesses of all goals of a kernel's variants, as few as are easily found.

    A function of kernel, schedules and seed.
    """
    todo = [p for p in plans(entry) if p.goals]
    kernel = entry.kernel
    chosen = witness_file.none(kernel)
    if not todo:
        return examine(entry, chosen)
    pool = _drawn(kernel, seed)
    for plan in todo:
        mine = pool.take(plan.conformant(pool))
        known = shown(plan, chosen.take(plan.conformant(chosen)), plan.goals)
        left = [g for g in plan.goals if not len(known[g])]
        for start in range(0, mine.count, 1000):
            part = mine.take(np.arange(start, min(start + 1000, mine.count)))
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
                one = _climb(plan, goal, near, seed + attempt)
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


def _drawn(kernel: Kernel, seed: int) -> Items:
    """Items of several manners; not all conformant."""
    count = _DRAWN * len(kernel.class_names)
    usual = vectors.make_items(kernel, count, seed, "conformant")
    pool = vectors.joined(usual, vectors.make_items(kernel, count, seed, "boundary"))
    if any(b.kind == "block" and b.access != "out" for b in kernel.buffers):
        rng = np.random.default_rng([seed, 1])
        pool = vectors.joined(pool, vectors.spiked(kernel, usual, rng))
    return pool


def _climb(plan: Plan, goal: Goal, start: Items, seed: int) -> Items | None:
    """Looks around the items that come closest, for some rounds."""
    rng = np.random.default_rng([seed, goal.stage, goal.need[0].seq, goal.need[1].width])
    pool = start.take(np.argsort(-_closeness(plan, goal, start), kind="stable")[:_WIDE])
    for _ in range(_ROUNDS):
        found = shown(plan, pool, [goal])[goal]
        if len(found):
            return pool.take(found[:1])
        best = pool.take(np.argsort(-_closeness(plan, goal, pool), kind="stable")[:_KEPT])
        pool = best
        for _ in range(4):
            pool = vectors.joined(pool, vectors.neighbours(plan.kernel, best, rng))
            pool = vectors.joined(pool, vectors.shaken(plan.kernel, best, rng))
            pool = vectors.joined(pool, vectors.shaken(plan.kernel, best, rng))
            pool = vectors.joined(pool, vectors.crossed(best, rng))
        pool = pool.take(plan.conformant(pool))
    return None


def _closeness(plan: Plan, goal: Goal, items: Items) -> Array:
    """Per item, larger where it is closer to being a witness: how far the value is beyond the lane,
    on lanes of which the result depends on this value at all. Nothing leads to a constant's."""
    if goal.op == "dup":
        return np.random.default_rng(items.count).random(items.count)
    base = simulate.run(plan.lowered, plan.selections, items)
    lanes = (items.count, plan.lowered.stages[goal.stage].lanes)
    beyond = np.broadcast_to(_beyond(plan, base, goal), lanes).astype(np.float64)
    if goal.plain:
        change = Change(goal.stage, goal.need, simulate.INVERTED)
        got = simulate.run(plan.lowered, plan.selections, items, change)
        beyond = np.where(_seen(plan, goal, base, got), beyond, beyond - _UNSEEN)
    best: Array = beyond.max(axis=1)
    return best


def _seen(plan: Plan, goal: Goal, base: simulate.Ran, got: simulate.Ran) -> Array:
    """Where two runs differ in what they store: a lane of the last stage, else an item."""
    seen = np.zeros((), dtype=bool)
    if goal.stage == len(plan.selections) - 1:
        for root in plan.selections[-1].roots[: len(plan.lowered.stages[-1].stores)]:
            seen = seen | (base.forms[-1][root] != got.forms[-1][root])
        return np.asarray(seen)
    for name, values in got.outputs.items():
        other = (values != base.outputs[name]).reshape(len(values), -1)
        seen = seen | other.any(axis=1)[:, None]
    return np.asarray(seen)
