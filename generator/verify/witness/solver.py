# SPDX-License-Identifier: BSD-2-Clause
"""Witnesses by the solver: the elements that one lane needs so that a goal is met there.

All stages up to the goal's are written as terms of the item's elements; where these are many, all
but a few are nothing. What the solver finds is put into items there are, and these are run.
"""

from collections.abc import Iterator

import numpy as np
import z3

from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Index, Node, Op
from daedalus.generator.targets.neon.simulate import Part
from daedalus.generator.verify.goals import Goal, Plan, lane_limits
from daedalus.generator.verify.proofs import goal_proofs
from daedalus.generator.verify.proofs.equivalence import Prover
from daedalus.generator.verify.proofs.lane_questions import A_SECOND, QUICK
from daedalus.generator.verify.proofs.lane_terms import Names, Terms
from daedalus.generator.verify.proofs.lane_walk import Walk
from daedalus.generator.verify.proofs.symbolic import Number, inputs
from daedalus.generator.verify.witness.shown import shown

_WORK = 5 * A_SECOND  # of the solver, for a question
_PURSE = 24 * A_SECOND  # for all questions about a kernel
_LEAST = A_SECOND // 4  # that a question is taken to be: it has to be put, too
_ANSWERS = 6  # of the solver, for a goal and a lane
_FREE = 3  # elements of blocks that may be other than nothing
_ATTEMPTS = 8  # with other such elements, where stages read what others have stored
_BASES = 40  # items that each of them is put into
_LANES = 4

Place = tuple[str, tuple[int, ...]]  # buffer and index


class Purse:
    """The solver's work for a kernel.

    What a question takes is counted in steps of _LEAST, as it depends a little on what was asked
    before.
    """

    def __init__(self) -> None:
        self._left = _PURSE

    @property
    def empty(self) -> bool:
        return self._left <= 0

    def spend(self, work: int) -> None:
        self._left -= -(-max(work, 1) // _LEAST) * _LEAST


def solved(plan: Plan, goal: Goal, pool: Items, purse: Purse) -> Items | None:
    """A witness of a goal, or None."""
    loads = [n for p in plan.stages[: goal.stage + 1] for n in p.vector.nodes() if n.op is Op.LOAD]
    if any(n.args for n in loads) or any(p.axis for p in plan.stages) or not pool.count:
        return None
    lanes = plan.stages[goal.stage].vector.lanes
    for lane in range(0, lanes, max(1, lanes // _LANES)):
        if purse.empty:
            break
        for values in _Item(plan, lane, purse).answers(goal):
            for items in _patched(plan, values, pool):
                items = items.take(plan.conformant(items))
                found = shown(plan, items, [goal])[goal] if items.count else np.zeros(0, np.int64)
                if len(found):
                    return items.take(found[:1])
    return None


class _Item(Prover):
    """Terms of the elements that one lane depends on, through all stages."""

    def __init__(self, plan: Plan, lane: int, purse: Purse) -> None:
        super().__init__(plan.lowered, plan.stages, _WORK / A_SECOND)
        self._purse = purse
        self._lane = lane
        self._temps = {t.name: t for t in plan.lowered.temps}
        self.elements: dict[Place, Number] = {}
        self._names = Names()

    def terms(self, stage: int, names: Names | None = None) -> Terms:
        return self._at(stage, self._lane)

    def _at(self, stage: int, lane: int) -> Terms:
        """The terms of a lane, with what it loads."""
        made = Terms(self, stage, self._names)
        vector = self.stages[stage].vector
        made.opened = set(vector.nodes())
        for node in vector.nodes():
            if node.op is Op.LOAD:
                made.assign(node, self._element(made, stage, node, self._place(stage, node, lane)))
        return made

    def _place(self, stage: int, node: Node, lane: int) -> Place:
        return node.attr[0], _index(self.stages[stage], node.index, lane)

    def _element(self, made: Terms, stage: int, node: Node, place: Place) -> Number:
        if place not in self.elements:
            writer = self._writer(stage, place) if place[0] in self._temps else None
            if writer is None:
                self.elements[place] = made.fresh([self.range_of(node)])
            else:
                there = self._at(writer[0], writer[2])
                value = there.value(writer[1])
                made.own += there.own
                return Number(value.term)
        return self.elements[place]

    def _writer(self, stage: int, place: Place) -> tuple[int, Node, int] | None:
        """Stage, value and lane that a temp's element is from."""
        for n in reversed(range(stage)):
            part = self.stages[n]
            for store in part.vector.stores:
                if store.buffer != place[0]:
                    continue
                for lane in range(part.vector.lanes):
                    if _index(part, store.index, lane) == place[1]:
                        return n, store.value, lane
        return None

    def answers(self, goal: Goal) -> Iterator[dict[Place, int]]:
        """Elements with which a goal is met on the lane."""
        changed = goal_proofs.variation(goal)
        node, demand = goal.need
        if changed is not None:
            found = Walk(self, goal.stage, {goal.need: changed}, {}).differences(
                early=goal.stage > 0
            )
            if found is None:
                return
            terms, wanted = found
        else:
            terms = self.terms(goal.stage)
            self.open_assumptions(terms, goal.stage, node)
            lo, hi = lane_limits(demand, self.range_of(node))
            x = terms.value(node)
            wanted = z3.Or((x < lo).term, (x > hi).term)
        known = [*(k.term for k in terms.known), wanted]
        # Of the first stage all, as assumptions are about all; else what the question is about.
        needed = inputs(wanted)
        asked = {
            p: x for p, x in self.elements.items() if goal.stage == 0 or inputs(x.term) & needed
        }
        for few in self._few(goal):
            solver = z3.Then(*QUICK).solver()
            solver.set("rlimit", _WORK)
            solver.add(*known, *few)
            for _ in range(0 if self._purse.empty else _ANSWERS):
                before = _work_done()
                answer = solver.check()
                self._purse.spend(_work_done() - before)
                if answer != z3.sat:
                    break
                model = solver.model()
                values = {
                    place: model.eval(x.term, model_completion=True).as_signed_long()
                    for place, x in asked.items()
                }
                yield values
                solver.add(z3.Or(*(x.term != values[place] for place, x in asked.items())))

    def _few(self, goal: Goal) -> Iterator[list[z3.BoolRef]]:
        """What is to be nothing: nothing at all for a first stage, else most of the blocks."""
        blocks = [p for p in self.elements if self.kernel.buffer(p[0]).kind == "block"]
        if goal.stage == 0 or len(blocks) <= _FREE:
            yield []
            return
        rng = np.random.default_rng([goal.stage, self._lane, len(blocks)])
        for _ in range(_ATTEMPTS):
            free = {blocks[n] for n in rng.permutation(len(blocks))[:_FREE]}
            yield [
                self.elements[p].term == int(np.clip(0, b.lo, b.hi))
                for p in blocks
                if p not in free
                for b in (self.kernel.buffer(p[0]),)
            ]


def _work_done() -> int:
    """By the solver, since it was loaded."""
    probe = z3.Solver()
    probe.check()
    return int(probe.statistics().get_key_value("rlimit count"))


def _index(part: Part, index: Index, lane: int) -> tuple[int, ...]:
    grid = {axis: int(places[lane]) for axis, places in part.vector.grid().items()}
    return tuple(int(affine.at(grid)) for affine in index)


def _patched(plan: Plan, values: dict[Place, int], pool: Items) -> Iterator[Items]:
    """Items with these elements: first items that are as near to nothing as they may be, then some
    of the pool."""
    some = pool.take(np.arange(0, pool.count, max(1, pool.count // _BASES))[:_BASES])
    least = {
        b.name: np.zeros_like(some.buffers[b.name]) + np.clip(0, b.lo, b.hi)
        for b in plan.kernel.buffers
    }
    for buffers in (least, some.buffers):
        made = {n: a.copy() for n, a in buffers.items()}
        for (name, at), value in values.items():
            origin = [lo for lo, _ in plan.kernel.buffer(name).shape]
            where: tuple[int | slice, ...] = tuple(
                [slice(None), *(x - lo for x, lo in zip(at, origin, strict=True))]
            )
            made[name][where] = value
        yield Items(made, some.params)
