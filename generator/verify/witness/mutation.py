# SPDX-License-Identifier: BSD-2-Clause
"""The check of the check: every mutant of generated NEON code must be told from the original.

Mutants run through the check program, through SIMDe or natively, first on a kernel's witnesses,
then on a few drawn items. One that gives the original's results on all of them may be a goal that
is on record as proven to have no witness (`proof_file.py`). Else the solver is asked for a proof
that it computes the same; without one it runs on more items, and the solver gets more time.
What is left *survives*: then items are missing, or it computes the same for a reason that the
solver does not find. The latter stand in `tools/mutants.toml`, with the reason; an entry there that
no survivor needs is an error, too.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile import layout
from daedalus.generator.compile.registry import Entry
from daedalus.generator.host import fetch, native
from daedalus.generator.options import Options, variant_name
from daedalus.generator.verify import crosscheck, goals
from daedalus.generator.verify.crosscheck import Batch, Device
from daedalus.generator.verify.goals import Goal, Plan
from daedalus.generator.verify.mutants import Mutant, mutate, unknown
from daedalus.generator.verify.proofs import proof_file
from daedalus.generator.verify.witness import reasons, witness_file
from daedalus.generator.verify.witness import shown as witness
from daedalus.generator.verify.witness.reasons import Reason

DRAWN = 300  # conformant items a class that a mutant runs on beside the witnesses
DEEP = 150  # and how many times as many with spots, if it still survives
PATIENCE = (4, 120)  # seconds for the hardest question of a proof: before and after these


class Draws:
    """The items that a kernel's mutants run on: drawn once for all variants.

    few   witnesses and DRAWN conformant items a class, with the other kinds that go with them; and
          as many with spots
    many  DEEP times as many with spots
    """

    def __init__(self, kernel: Kernel, seed: int) -> None:
        self._kernel, self._seed = kernel, seed
        self._many: list[Batch] = []

    @cached_property
    def few(self) -> list[Batch]:
        found = crosscheck.prepare(self._kernel, DRAWN, self._seed, witness_file.read(self._kernel))
        return [*(b for b in found if b.kind != "hostile"), self._spotted(found[0])]

    def many(self) -> Iterator[Batch]:
        """Drawn when they are asked for the first time."""
        for n in range(DEEP):
            if n == len(self._many):
                self._many.append(self._spotted(self.few[0], seed=n + 1))
            yield self._many[n]

    def _spotted(self, usual: Batch, seed: int = 0) -> Batch:
        rng = np.random.default_rng([self._seed, seed])
        items = vectors.spotted(self._kernel, usual.placed.items, rng)
        placed = layout.place(self._kernel, items, rng, upwards=False)
        return Batch("spotted", placed, interp.run(self._kernel, items))


@dataclass
class Report:
    """What became of a variant's mutants.

    by_witness, by_drawn  how many were told by the witnesses, and by drawn items only
    proven                how many were not, and are proven to compute the same
    survivors             those that were not; `equivalent` those that tools/mutants.toml lists: as
                          equivalent, or as a goal that is proven to have no witness
    unproven              a line for every goal that is listed so, without a proof on record
    """

    variant: str
    mutants: int = 0
    by_witness: int = 0
    by_drawn: int = 0
    proven: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    equivalent: list[Mutant] = field(default_factory=list)
    excused: set[Reason] = field(default_factory=set)  # the entries that these are
    unproven: list[str] = field(default_factory=list)


def neon_variants(entry: Entry, *, prod: bool) -> Iterator[Options]:
    """The NEON variants of a kernel; the prod ones only, if asked."""
    yield from (s for s, is_prod in entry.listed if s.target == "neon" and (is_prod or not prod))


def program(
    entry: Entry, options: Options, folder: Path | None = None
) -> tuple[Path, list[Mutant]]:
    """The check program with all mutants of a variant in place of it."""
    arch = "host" if native.is_arm() else "simde"
    name = variant_name(entry.kernel.id, options)
    source = repo_root() / "generated" / "src" / entry.kernel.family / f"{name}.c"
    text = source.read_text()
    strange = unknown(text)
    if strange:
        raise UserError(
            f"{source.name}: no mutation is known for {', '.join(sorted(strange))}",
            "teach it to generator/verify/mutants.py",
        )
    made = mutate(text)
    folder = folder or build_dir() / "mutants" / name
    folder.mkdir(parents=True, exist_ok=True)
    mutated = folder / source.name
    if not mutated.is_file() or mutated.read_text() != made.text:
        mutated.write_text(made.text)
    library = native.build_library(
        arch, targets=("daedalus_variants",), options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON",)
    )
    system = [] if native.is_arm() else [
        repo_root() / "tools" / "simde", fetch.ensure("simde", "all") / "usr" / "include",
    ]  # fmt: skip
    exe = native.compile_program(
        arch, folder / "check", [*crosscheck.sources(), mutated],
        includes=[*crosscheck.includes(), source.parent],
        system_includes=system, libraries=[library / "libdaedalus_variants.a"],
        flags=("-O1", "-DDAEDALUS_HAVE_NEON=1", "-fwrapv"),
    )  # fmt: skip
    return exe, made.mutants


def run(
    entry: Entry, options: Options, seed: int = 1, sample: int | None = None,
    draws: Draws | None = None,
) -> Report:  # fmt: skip
    """Runs the mutants of a variant (a seeded sample, if given) on items, drawn here or `draws`."""
    from daedalus.generator.verify.proofs import mutant_proofs  # the solver takes a while to load

    kernel = entry.kernel
    draws = draws or Draws(kernel, seed)
    exe, mutants = program(entry, options)
    report = Report(variant_name(kernel.id, options), len(mutants))
    if sample is not None and sample < len(mutants):
        rng = np.random.default_rng([seed, len(mutants)])
        mutants = [mutants[n] for n in sorted(rng.permutation(len(mutants))[:sample])]
        report.mutants = sample
    told = [b for b in draws.few if b.kind == crosscheck.WITNESS]
    drawn = [b for b in draws.few if b.kind != crosscheck.WITNESS]
    if _differs(entry, options, exe, draws.few, 0, seed):
        raise UserError(f"{report.variant} is wrong as it is", "run ./daedalus check")
    plans = {p.function: p for p in goals.plans_of(entry, options)}
    proven = cache(lambda function: _proven(report, plans[function]))
    for m in mutants:
        plan = plans[m.function]
        if told and _differs(entry, options, exe, told, m.number, seed):
            report.by_witness += 1
        elif _differs(entry, options, exe, drawn, m.number, seed):
            report.by_drawn += 1
        elif mutant_proofs.is_one_of(proven(m.function), plan, m):
            report.equivalent.append(m)
        elif mutant_proofs.equivalent(plan, m, PATIENCE[0]):
            report.proven += 1
        elif _differs(entry, options, exe, draws.many(), m.number, seed):
            report.by_drawn += 1
        elif mutant_proofs.equivalent(plan, m, PATIENCE[1]):
            report.proven += 1
        else:
            reason = reasons.of("equivalent", kernel.id, plan.name, m.before, m.after)
            if reason is None:
                report.survivors.append(m)
            else:
                report.equivalent.append(m)
                report.excused.add(reason)
    return report


def _proven(report: Report, plan: Plan) -> list[Goal]:
    """A function's goals that are proven to have no witness; those that are only said to be, the
    report gets."""
    found, known = [], proof_file.recorded(plan)
    for goal in witness.said_to_be_proven(plan, witness_file.read(plan.kernel)):
        if proof_file.key(plan, goal) in known:
            found.append(goal)
        else:
            report.unproven.append(f"{plan.title}: {goal}: {proof_file.missing(plan.kernel.id)}")
    return found


def _differs(
    entry: Entry, options: Options, exe: Path, batches: Iterable[Batch], number: int, seed: int
) -> bool:
    device = Device("mutants", "neon", "host" if native.is_arm() else "simde")
    name = variant_name(entry.kernel.id, options)
    os.environ["DAEDALUS_MUTANT"] = str(number)
    try:
        for b in batches:
            (outcome,) = crosscheck.check_kernel(entry.kernel, [name], device, exe, [b], seed)
            if outcome.mismatches or outcome.out_of_bounds:
                return True
    finally:
        del os.environ["DAEDALUS_MUTANT"]
    return False
