# SPDX-License-Identifier: BSD-2-Clause
"""Random programs as shaders, on Mesa's driver for the processor: those of a batch in one process,
half of the batches with subgroups of 8 invocations, half with 16."""

import random
import shutil
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.compile import emit
from daedalus.generator.compile.variants import Variant, make_variant
from daedalus.generator.options import POINTS, Options, options_of
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.verify.fuzz.back_end import BackEnd, Failure, Tally, suited
from daedalus.generator.verify.fuzz.build import SPEC
from daedalus.generator.verify.fuzz.programs import Program
from daedalus.generator.verify.fuzz.qpu import by_reason, reason
from daedalus.generator.verify.shaders import Runs
from daedalus.v3d import vkrun

GLSL = "glsl"
FORMS = 3  # variants of a program


@dataclass
class GlslTally(Tally):
    """Of shaders.

    ran                    programs that have a form, and were run in FORMS of them at most
    comparisons            variants that were compared
    programs_without_form  by the reason of the last refusal
    forms_refused          by the reason
    """

    form: ClassVar[str] = "a GLSL form"

    ran: int = 0
    comparisons: int = 0
    programs_without_form: Counter[str] = field(default_factory=Counter)
    forms_refused: Counter[str] = field(default_factory=Counter)

    @property
    def compared(self) -> int:
        return self.comparisons

    def lines(self, seconds: float) -> list[str]:
        without, refused = self.programs_without_form, self.forms_refused
        return [
            f"{self.ran} of {self.programs} programs, of"
            f" {self.operations / max(self.programs, 1):.1f} operations, have a GLSL form and were"
            f" run in {seconds:.0f} s: {self.comparisons} variants, {self.conformant} conformant"
            f" items, {self.other_items} others for memory safety only",
            f"{without.total()} programs have none" + by_reason(without),
            f"{refused.total()} forms were refused" + by_reason(refused),
            f"{self.programs_excluded} programs exclude all items, {self.without_conformant} had no"
            " conformant one",
            f"{len(self.failures)} failures",
        ]


@dataclass(frozen=True)
class Glsl(BackEnd):
    """Shaders, on lavapipe."""

    targets: tuple[str, ...] = (GLSL,)
    only_make: bool = False
    batch: ClassVar[int] = 20
    tally: ClassVar[type[Tally]] = GlslTally

    def run(
        self, programs: Sequence[Program], items: int, again: Failure | None = None
    ) -> GlslTally:
        tally = GlslTally()
        numbers = [p.number for p in programs] or [0]
        seeds = {p.seed for p in programs} or {0}
        name = f"{min(seeds)}/{numbers[0]}-{numbers[-1]}-glsl" if again is None else "shrink-glsl"
        runs = Runs(build_dir() / "fuzz" / name)
        made: dict[str, tuple[Program, Variant]] = {}
        for p in programs:
            ways = forms(p.kernel, p.number) if again is None else iter(again.ways)
            found = _variants(p, ways, tally)
            if not found or self.only_make:
                continue
            try:
                runs.add(p.kernel, found, items)
            except SpecError as e:
                if e.rule == "assumption":
                    tally.programs_excluded += 1
                    continue
                tally.failures.append(Failure(p.number, "interpreter", str(e)))
            except UserError as e:
                text = f"{e.message}\n{e.hint}"
                ways_ = tuple(v.options for v in found)
                tally.failures.append(Failure(p.number, "compiler", text, ways_))
            except Exception:
                tally.failures.append(Failure(p.number, "interpreter", traceback.format_exc()))
            else:
                made |= {v.name: (p, v) for v in found}
        if made:
            _compare(runs, made, vkrun.lavapipe(256 << (numbers[0] // self.batch % 2)), tally)
        if not tally.failures:
            shutil.rmtree(runs.folder, ignore_errors=True)
        return tally


def forms(kernel: Kernel, number: int) -> Iterator[Options]:
    """Ways to run a kernel, in random order: a function of the program's number alone."""
    rng = random.Random(f"{number}/glsl")
    for points in rng.sample(POINTS, len(POINTS)):
        words = ("word", "signs", "pack", "swar", "early_out")
        flags = {word: rng.random() < 0.4 for word in words}
        flags["unaligned"] = flags["word"] and rng.random() < 0.5
        yield options_of(GLSL, rng.choice(kernel.class_names), points=points, **flags)


def _variants(program: Program, ways: Iterator[Options], tally: GlslTally) -> list[Variant]:
    """The first FORMS that can be made; refusals are counted by reason."""
    found: list[Variant] = []
    last = ""
    for options in ways:
        if len(found) == FORMS:
            break
        if not suited(program.kernel, options):
            continue
        try:
            v = make_variant(
                emit.environment(), program.kernel, options, prod=True, rank=len(found), spec=SPEC
            )
        except NotLowerable as e:
            last = reason(e)
            tally.forms_refused[last] += 1
        except Exception:
            text = f"{options.name}\n{traceback.format_exc()}"
            tally.failures.append(Failure(program.number, "back end", text, (options,)))
            return []
        else:
            found.append(v)
    tally.ran += bool(found)
    if not found:
        tally.programs_without_form[last] += 1
    return found


def _compare(
    runs: Runs, made: dict[str, tuple[Program, Variant]], device: vkrun.Device, tally: GlslTally
) -> None:
    try:
        outcomes = runs.run(device)
    except UserError as e:
        (program, _), *_ = made.values()
        tally.failures.append(Failure(program.number, "run", e.message))
        return
    for name, (program, v) in made.items():
        o, ways = outcomes[name], (v.options,)
        tally.comparisons += 1
        tally.conformant += o.conformant
        tally.other_items += o.items - o.conformant
        tally.without_conformant += o.conformant == 0
        if name in runs.failed:
            tally.failures.append(Failure(program.number, "run", runs.failed[name], ways))
        if o.mismatches or o.out_of_bounds:
            kind, text = f"difference on {device.name}", "\n".join(o.failures[:4])
            tally.failures.append(Failure(program.number, kind, text, ways))
