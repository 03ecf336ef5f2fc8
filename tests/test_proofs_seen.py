# SPDX-License-Identifier: BSD-2-Clause
"""The proofs say no of what is known to be seen: changes that an item shows.

Left alone the solver often gives up on such a question, or takes a minute, and that would say
little. So it is asked about the lane that shows it: every value is confined to what it is there.
All that is taken for known must then admit the lane, the question is easy, and "the same" would be
a lie.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import z3

from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Node
from daedalus.dsl.ranges import Interval
from daedalus.generator.compile.registry import find, load
from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.forms import Need
from daedalus.generator.targets.neon.simulate import Change, Ran
from daedalus.generator.verify import goals
from daedalus.generator.verify.goals import Plan, lane_limits
from daedalus.generator.verify.mutants import changed, mutants
from daedalus.generator.verify.proofs import goal_proofs
from daedalus.generator.verify.proofs.equivalence import Prover
from daedalus.generator.verify.proofs.lane_walk import Variation
from daedalus.generator.verify.proofs.symbolic import Truth
from daedalus.generator.verify.witness import shown as witness
from daedalus.generator.verify.witness import witness_file

# Variants of one stage and of several, with run-time indices, tables, strips, and functions for
# several items.
SEEN = {
    "h264_idct4": "x2", "h264_deblock_luma_v": "full", "vp9_lpf8_v": "early",
    "vp9_idct8": "eob12", "vp9_mc_8h_avg": "rows8", "av1_cdef8": "pri", "sand128_p010": "full",
}  # fmt: skip
# Those that the solver takes longest over are a campaign's.
LONG = ("av1_cdef8", "vp9_idct8", "vp9_lpf8_v")
KERNELS = [pytest.param(k, marks=pytest.mark.campaign) if k in LONG else k for k in SEEN]
AT_ONCE = 4  # changes of a function that are asked about


class There(Prover):
    """A prover that knows the values that nodes have on one item, on one lane of one stage."""

    def __init__(self, plan: Plan, ran: Ran, item: int, stage: int, lane: int | None) -> None:
        super().__init__(plan.lowered, plan.stages, seconds=20)
        self._seen: dict[Node, list[int]] = {}
        for n, values in enumerate(ran.values):
            for node, some in values.items():
                at = np.broadcast_to(some, (ran.items.count, some.shape[1]))
                one = n == stage and lane is not None and at.shape[1] > 1
                seen = at[item, lane] if one else at[item]
                self._seen[node] = np.unique(seen.astype(np.int64)).tolist()
        self.refuted = 0

    def range_of(self, node: Node) -> Interval:
        seen = self._seen[node]
        return Interval(seen[0], seen[-1])

    def loaded(self, stage: int, node: Node) -> list[Interval]:
        return [Interval(v, v) for v in self._seen[node]]

    def cases(self, stage: int, roots: list[Node]) -> list[Prover]:
        return []

    def holds(self, known: list[Truth], claim: Any, seconds: float) -> bool:
        if seconds > self.short:  # about all of the stage
            facts = [k.term for k in known]
            assert self._asked(facts, seconds) == z3.sat, "what is known rules the lane out"
            self.refuted += self._asked([*facts, z3.Not(claim)], seconds) == z3.sat
        return super().holds(known, claim, seconds)


def seen_plans(kernel: str) -> Iterator[tuple[Plan, Items]]:
    """The functions of the kernel's variant, with its witnesses."""
    entry = find(load(), kernel)
    assert entry is not None
    found = [p for p in goals.plans(entry) if p.name.endswith(SEEN[kernel])]
    assert found
    kept = witness_file.read(entry.kernel)
    for plan in found:
        yield plan, kept.take(plan.conformant(kept))


def spread(every: list[Any]) -> list[Any]:
    """AT_ONCE of them, evenly from all."""
    return every[:: max(1, len(every) // AT_ONCE)][:AT_ONCE]


def shown(plan: Plan, ran: Ran, change: Change) -> list[int]:
    """The items whose results are others."""
    return list(simulate.shows(plan.lowered, plan.stages, ran, change, 64))


def lane_of(plan: Plan, ran: Ran, change: Change, item: int) -> int | None:
    """A lane of the change's stage that shows it; None in a stage before the last, where lanes
    that read it come together."""
    if change.stage + 1 < len(plan.stages):
        return None
    part, usual = plan.stages[change.stage], ran.forms[change.stage]
    forms = simulate.changed_forms(part, ran, change)
    assert forms is not None
    differs = np.any([forms[r][item] != usual[r][item] for r in part.selection.roots], axis=0)
    return int(np.flatnonzero(differs & ran.active[change.stage][item])[0])


def ask(plan: Plan, ran: Ran, stage: int, need: Need, v: Variation) -> bool:
    """Whether some item shows the variation; if so, the prover is asked about it there."""
    change = changed(stage, need, v)
    items = shown(plan, ran, change)
    if not items:
        return False
    lane = lane_of(plan, ran, change, items[0])
    prover = There(plan, ran, items[0], stage, lane)
    assert not prover.same(stage, need, v), (need, v)
    assert prover.refuted, (need, v)
    return True


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_has_a_witness_is_not_proven_to_have_none(kernel: str) -> None:
    for plan, items in seen_plans(kernel):
        ran, asked = simulate.run(plan.lowered, plan.stages, items), 0
        last = [g for g in plan.goals if g.stage == len(plan.stages) - 1]
        for goal in spread(last):
            v = goal_proofs.variation(goal)
            if v is not None:
                asked += ask(plan, ran, goal.stage, goal.need, v)
                continue
            met = witness._differs(plan, ran, goal)
            if met.any():
                item, lane = np.argwhere(met)[0]
                prover = There(plan, ran, int(item), goal.stage, int(lane))
                node, demand = goal.need
                held = plan.stages[goal.stage].selection.ranges.of(node)
                assert not prover.within(goal.stage, node, *lane_limits(demand, held)), goal
                assert prover.refuted, goal
                asked += 1
        assert asked >= min(2, len(last))


def mutated(plan: Plan, stages: range) -> list[tuple[int, Need, Variation]]:
    """What the mutants of a function change in these stages."""
    every = [m for m in mutants(plan) if m.stage in stages and m.number == 0]
    return [(m.stage, m.need, m.varied) for m in every]


@pytest.mark.parametrize("kernel", KERNELS)
def test_mutants_that_are_seen_are_not_proven_the_same(kernel: str) -> None:
    for plan, items in seen_plans(kernel):
        ran, last = simulate.run(plan.lowered, plan.stages, items), len(plan.stages) - 1
        mine = mutated(plan, range(last, last + 1))
        asked = sum(ask(plan, ran, *f) for f in spread(mine))
        assert asked >= min(2, len(mine))


@pytest.mark.campaign
def test_changes_of_a_stage_before_the_last_are_followed() -> None:
    """Of values of all lanes at once, as they meet in the stage that reads them."""
    for plan, items in seen_plans("h264_idct4"):
        ran = simulate.run(plan.lowered, plan.stages, items)
        before = mutated(plan, range(len(plan.stages) - 1))
        assert sum(ask(plan, ran, *f) for f in spread(before)) >= 2
