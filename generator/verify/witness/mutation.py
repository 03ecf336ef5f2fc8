# SPDX-License-Identifier: BSD-2-Clause
"""The check of the check: every mutant (`mutants.py`) must be told from the original.

Mutants are simulated, as goals are: first on a kernel's witnesses, then on a few drawn items. One
that gives the original's results on all of them may be of a goal that is on record as proven to
have no witness (`proof_file.py`). Else the solver is asked for a proof that it computes the same;
without one it runs on more items, and the solver does more work. What is left *survives*: then
items are missing, or it computes the same for a reason that the solver does not find. The latter
stand in `tools/mutants.toml`, with the reason; an entry there that no survivor needs is an error,
too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from daedalus.dsl import vectors
from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.registry import Entry
from daedalus.generator.options import Options, variant_name
from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.forms import Need
from daedalus.generator.verify import goals
from daedalus.generator.verify.goals import Goal, Plan
from daedalus.generator.verify.mutants import Mutant, mutants
from daedalus.generator.verify.proofs import proof_file
from daedalus.generator.verify.proofs.equivalence import Prover
from daedalus.generator.verify.proofs.lane_walk import Variation
from daedalus.generator.verify.witness import reasons, shown, witness_file
from daedalus.generator.verify.witness.reasons import Reason

DRAWN = 300  # conformant items a class that a mutant runs on beside the witnesses
DEEP = 150  # and how many times as many with spots, if it still survives
# Work on the hardest question of a proof, before and after these; in units of `A_SECOND`, as all
# limits of the solver: no clock decides what is proven.
PATIENCE = (4, 120)
_TRIED = 64  # items on which a mutant is run to the end


class Draws:
    """The items that a kernel's mutants run on: drawn once for all variants.

    witnesses  those on file
    few        DRAWN conformant items a class, as many with spots, and boundary items
    many       DEEP times as many with spots
    """

    def __init__(self, kernel: Kernel, seed: int) -> None:
        self._kernel, self._seed = kernel, seed
        self._many: list[Items] = []
        self.witnesses = witness_file.read(kernel)

    @cached_property
    def _usual(self) -> Items:
        count = DRAWN * len(self._kernel.class_names)
        return vectors.make_items(self._kernel, count, self._seed, "conformant")

    @cached_property
    def few(self) -> list[Items]:
        boundary = vectors.make_items(self._kernel, DRAWN, self._seed, "boundary")
        return [self._usual, boundary, self._spotted(0)]

    def many(self) -> Iterator[Items]:
        """Drawn when they are asked for the first time."""
        for n in range(DEEP):
            if n == len(self._many):
                self._many.append(self._spotted(n + 1))
            yield self._many[n]

    def _spotted(self, n: int) -> Items:
        rng = np.random.default_rng([self._seed, n])
        return vectors.spotted(self._kernel, self._usual, rng)


@dataclass
class Report:
    """What became of a variant's mutants.

    by_witness, by_drawn  how many were told by the witnesses, and by drawn items only
    proven                how many were not, and are proven to compute the same
    survivors             those that were not; `listed` those that tools/mutants.toml has a reason
                          for, or that are of a goal that is proven to have no witness, or that is
                          on record as one that the search did not find
    excused               the entries there that these are; `stale` those that only a mutant that
                          is no goal's could need, and none does
    unproven              a line for every goal that is listed so, without a proof on record
    """

    variant: str
    mutants: int = 0
    by_witness: int = 0
    by_drawn: int = 0
    proven: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    listed: list[Mutant] = field(default_factory=list)
    excused: set[Reason] = field(default_factory=set)
    stale: list[Reason] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)


def neon_variants(entry: Entry, *, prod: bool) -> Iterator[Options]:
    """The NEON variants of a kernel; the prod ones only, if asked."""
    yield from (s for s, is_prod in entry.listed if s.target == "neon" and (is_prod or not prod))


def run(
    entry: Entry, options: Options, seed: int = 1, sample: int | None = None,
    draws: Draws | None = None,
) -> Report:  # fmt: skip
    """Runs the mutants of a variant (a seeded sample, if given) on items, drawn here or `draws`."""
    every = [m for p in goals.plans_of(entry, options) for m in mutants(p)]
    others = {m.text for m in every if m.goal is None} if sample is None else set()
    if sample is not None and sample < len(every):
        rng = np.random.default_rng([seed, len(every)])
        every = [every[n] for n in sorted(rng.permutation(len(every))[:sample])]
    report = Report(variant_name(entry.kernel.id, options), len(every))
    draws = draws or Draws(entry.kernel, seed)
    for function in dict.fromkeys(m.plan.function for m in every):
        mine = [m for m in every if m.plan.function == function]
        _run(report, mine[0].plan, mine, draws)
    report.stale = [
        r
        for r in reasons.read()
        if r.variant == report.variant and r.goal in others and r not in report.excused
    ]
    return report


def _run(report: Report, plan: Plan, every: list[Mutant], draws: Draws) -> None:
    """The mutants of one function."""
    left = untold(plan, [draws.witnesses], every)
    report.by_witness += len(every) - len(left)
    left = _by_drawn(report, plan, draws.few, left)
    proven = [*_proven(report, plan), *shown.not_found(plan)] if left else []
    report.listed += [m for m in left if m.goal in proven]
    left = _not_the_same(report, plan, [m for m in left if m.goal not in proven], PATIENCE[0])
    left = _by_drawn(report, plan, draws.many(), left)
    for m in _not_the_same(report, plan, left, PATIENCE[1]):
        reason = reasons.of(plan.kernel.id, plan.name, m.text)
        if reason is None:
            report.survivors.append(m)
        else:
            report.listed.append(m)
            report.excused.add(reason)


def untold(plan: Plan, batches: Iterable[Items], left: list[Mutant]) -> list[Mutant]:
    """The mutants whose results are the original's on all conformant items of the batches."""
    for items in batches if left else ():
        for portion in plan.portions(items.take(plan.conformant(items))):
            base = simulate.run(plan.lowered, plan.stages, portion)
            left = [
                m
                for m in left
                if not len(simulate.shows(plan.lowered, plan.stages, base, m.change, _TRIED))
            ]
        if not left:
            break
    return left


def _by_drawn(
    report: Report, plan: Plan, batches: Iterable[Items], every: list[Mutant]
) -> list[Mutant]:
    left = untold(plan, batches, every)
    report.by_drawn += len(every) - len(left)
    return left


def _not_the_same(report: Report, plan: Plan, every: list[Mutant], patience: float) -> list[Mutant]:
    """Those that are not proven to compute the same. What is proven of a lane is of all."""

    @cache
    def same(stage: int, need: Need, varied: Variation) -> bool:
        return Prover(plan.lowered, plan.stages, patience).same(stage, need, varied)

    left = [m for m in every if not same(m.stage, m.need, m.varied)]
    report.proven += len(every) - len(left)
    return left


def _proven(report: Report, plan: Plan) -> list[Goal]:
    """A function's goals that are proven to have no witness; those that are only said to be, the
    report gets."""
    found, known = [], proof_file.recorded(plan)
    for goal in shown.said_to_be_proven(plan, witness_file.read(plan.kernel)):
        if proof_file.key(plan, goal) in known:
            found.append(goal)
        else:
            report.unproven.append(f"{plan.title}: {goal}: {proof_file.missing(plan.kernel.id)}")
    return found
