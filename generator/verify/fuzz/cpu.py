# SPDX-License-Identifier: BSD-2-Clause
"""Random programs as C, vectors and NEON: a batch of them is generated into one folder, compiled
into one check program for each device, and compared with the machinery of `crosscheck`."""

import re
import shutil
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from daedalus.dsl import interp
from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.compile import emit
from daedalus.generator.compile.variants import Variant, has_dots, make_variant
from daedalus.generator.options import CPU_TARGETS, VECTOR_TARGETS, Options, options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.neon.rules import RULES
from daedalus.generator.targets.neon.select import NotLowerable, Selection, Unsuited
from daedalus.generator.verify import crosscheck
from daedalus.generator.verify.fuzz.back_end import BackEnd, Failure, Tally, suited
from daedalus.generator.verify.fuzz.build import SPEC, Build
from daedalus.generator.verify.fuzz.programs import Program

Made = list[tuple[Program, tuple[Variant, ...]]]


@dataclass
class CpuTally(Tally):
    """Of C, vectors and NEON.

    asked          variants that were asked for, by target
    illegal        of these, those whose options do not suit the program, by target and message
    refused        those that have no form for another reason, likewise
    without_form   programs of which a target has no variant at all, by target
    dot_variants   variants with DOT instructions
    decisions      comparisons and limits that went both ways on conformant items, or one way
    rules          how often each NEON rule was used
    """

    form: ClassVar[str] = "a form for these targets"

    variants: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    illegal: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    without_form: Counter[str] = field(default_factory=Counter)
    dot_variants: int = 0
    comparisons: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)

    @property
    def _unused(self) -> list[str]:
        return [r.name for r in RULES if r.name not in self.rules]

    @property
    def compared(self) -> int:
        return self.comparisons

    def figures(self) -> dict[str, object]:
        never = self._unused
        return super().figures() | {"rules": len(RULES) - len(never), "rules_never": never}

    def lines(self, seconds: float) -> list[str]:
        unused, decided = self._unused, self.decisions.total()
        return [
            f"{self.programs} programs of {self.operations / max(self.programs, 1):.1f} operations"
            f" in {seconds:.0f} s: {self.comparisons} comparisons of {self.variants} variants,"
            f" {self.conformant} conformant items, {self.other_items} others for memory safety"
            " only",
            f"{100 * self.decisions['both ways'] / max(decided, 1):.0f} % of {decided} conditions"
            " and limits went both ways",
            *(line for target in VECTOR_TARGETS for line in self._refusals(target)),
            f"{self.dot_variants} variants with DOT instructions",
            f"{len(RULES) - len(unused)} of {len(RULES)} NEON rules used"
            + (f"; never: {', '.join(unused)}" if unused else ""),
            f"{len(self.failures)} failures",
        ]

    def _refusals(self, target: str) -> Iterator[str]:
        """What a target refused, by message."""
        if not self.asked[target]:
            return
        without = self.without_form[target]
        for found, what in (
            (self.refused, f"have no form; {without} programs have none at all"),
            (self.illegal, "have options that do not suit their program"),
        ):
            own = {k: n for k, n in found.items() if k.startswith(f"{target}: ")}
            if own or found is self.refused:
                yield f"{sum(own.values())} of {self.asked[target]} {target} variants {what}"
            for key, n in sorted(own.items(), key=lambda x: (-x[1], x[0])):
                yield f"  {n:5}  {key.removeprefix(f'{target}: ')}"


@dataclass(frozen=True)
class Cpu(BackEnd):
    """The CPU's targets; C is generated whether or not it is asked for: dispatch needs it."""

    targets: tuple[str, ...] = CPU_TARGETS
    sanitize: bool = False
    only_make: bool = False
    batch: ClassVar[int] = 40
    tally: ClassVar[type[Tally]] = CpuTally

    def run(
        self, programs: Sequence[Program], items: int, again: Failure | None = None
    ) -> CpuTally:
        tally = CpuTally()
        made: Made = []
        for p in programs:
            try:
                wanted = p.listed if again is None else (
                    options_of("c"), *(again.ways or p.listed)
                )  # fmt: skip
                made.append((p, variants(p.kernel, self._suited(p.kernel, wanted), tally)))
            except Exception:
                tally.failures.append(Failure(p.number, "generator", traceback.format_exc()))
        if not made or self.only_make:
            return tally
        first, last = made[0][0], made[-1][0]
        folder = build_dir() / "fuzz" / (
            f"{first.seed}/{first.number}-{last.number}" + ("-sanitize" if self.sanitize else "")
            if again is None
            else "shrink"
        )  # fmt: skip
        self._run(folder, made, items, tally)
        return tally

    def _suited(self, kernel: Kernel, wanted: Iterable[Options]) -> tuple[Options, ...]:
        """Of options those for what is asked, and of which the kernel has what they are about."""
        return tuple(
            s
            for s in dict.fromkeys(wanted)
            if s.target in ("c", *self.targets)
            and suited(kernel, s)
            and (not s.choice("dot") or has_dots(lower(kernel, s)))
        )

    def _run(self, folder: Path, made: Made, items: int, tally: CpuTally) -> None:
        """Compiles and compares; where compiling fails, each half alone, down to the culprit."""
        try:
            build = Build(
                folder, [(p.kernel, v) for p, v in made], sanitize=self.sanitize,
                targets=self.targets,
            )  # fmt: skip
            check = {d: build.program(d) for d in build.devices}
        except (UserError, SpecError) as e:
            if len(made) == 1:
                text = e.message if isinstance(e, UserError) else str(e)
                (program, _), *_ = made
                tally.failures.append(Failure(program.number, "compiler", text, program.listed))
                return
            half = len(made) // 2
            for part, name in ((made[:half], "a"), (made[half:], "b")):
                self._run(folder.with_name(f"{folder.name}{name}"), part, items, tally)
            shutil.rmtree(folder)
            return
        before = len(tally.failures)
        for program, own in made:
            try:
                _compare(program, own, check, items, tally)
            except UserError as e:
                tally.failures.append(Failure(program.number, "run", e.message, program.listed))
            except Exception as e:
                if isinstance(e, SpecError) and e.rule == "assumption":
                    tally.programs_excluded += 1  # its assumptions exclude all that was drawn
                    continue
                text = str(e) if isinstance(e, SpecError) else traceback.format_exc()
                tally.failures.append(Failure(program.number, "interpreter", text))
        if len(tally.failures) == before:
            shutil.rmtree(folder)


def variants(kernel: Kernel, listed: Iterable[Options], tally: CpuTally) -> tuple[Variant, ...]:
    """The variants that the back ends can make; refusals are counted by reason."""

    def watch(selection: Selection) -> None:
        chosen = selection.chosen
        tally.rules.update({chosen[need].rule for need in selection.reached()})

    found: list[Variant] = []
    asked: dict[str, bool] = {}  # whether a target has a variant
    for rank, options in enumerate(listed):
        tally.asked[options.target] += 1
        asked.setdefault(options.target, False)
        try:
            found.append(
                make_variant(
                    emit.environment(), kernel, options, prod=True, rank=rank, spec=SPEC,
                    watch=watch,
                )
            )  # fmt: skip
            asked[options.target] = True
        except NotLowerable as e:
            refused = tally.illegal if isinstance(e, Unsuited) else tally.refused
            refused[f"{options.target}: {_reason(e)}"] += 1
    tally.without_form.update(t for t, has in asked.items() if not has)
    tally.variants += len(found)
    tally.dot_variants += sum(v.options.choice("dot") for v in found)
    return tuple(found)


def _reason(e: NotLowerable) -> str:
    """Why something was refused, without what is particular to the program."""
    return re.sub(r"^(\w+)(?: \w+)?, in \[.*?\],", r"\1", e.message)


def _compare(
    program: Program, own: tuple[Variant, ...], check: dict[crosscheck.Device, Path], items: int,
    tally: CpuTally,
) -> None:  # fmt: skip
    kernel, seed = program.kernel, program.seed
    batches = crosscheck.prepare(kernel, items, seed)
    _count_decisions(kernel, batches, tally)
    for device, exe in check.items():
        names = [v.name for v in own if v.options.target == device.target]
        if not names:
            continue
        outcomes = crosscheck.check_kernel(kernel, names, device, exe, batches, seed)
        if device.target == "c":
            outcomes.append(crosscheck.check_dispatch(kernel, device, exe, batches, seed))
        for o in outcomes:
            tally.comparisons += 1
            tally.conformant += o.conformant
            tally.other_items += o.items - o.conformant
            tally.without_conformant += o.conformant == 0
        bad = [o for o in outcomes if o.mismatches or o.out_of_bounds]
        if bad:
            wrong = {o.variant for o in bad}
            tally.failures.append(
                Failure(
                    program.number, f"difference on {device.name}",
                    "\n".join(line for o in bad for line in o.failures[:4]),
                    tuple(v.options for v in own if v.name in wrong),
                )
            )  # fmt: skip


def _count_decisions(kernel: Kernel, batches: list[crosscheck.Batch], tally: CpuTally) -> None:
    """How many comparisons and limits went both ways on conformant items."""
    for b in batches:
        if b.kind != "conformant":
            continue
        for stage in interp.decisions(kernel, b.placed.items):
            for outcome in stage.outcomes:
                ways = "both ways" if outcome.any() and not outcome.all() else "one way"
                tally.decisions[ways] += 1
