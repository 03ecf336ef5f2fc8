# SPDX-License-Identifier: BSD-2-Clause
"""Random lane programs as machine code of the QPU: selection, scheduler, assembler and validator,
then the simulator, strictly, against the reference interpreter.

A program is tried by random variants, divisions of registers, numbers of threads and attempts of
the scheduler, so that many ways through the back end are taken. What becomes of it depends on its
seed and number alone.
"""

import random
import re
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import ClassVar

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.facts import Facts
from daedalus.generator.options import POINTS, QPU, Options, options_of
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu import virtual
from daedalus.generator.targets.qpu.best import WAYS, reloaded
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.random_attempts import compile_somehow
from daedalus.generator.targets.qpu.select import Selected
from daedalus.generator.verify.fuzz.back_end import BackEnd, Failure, Tally, suited
from daedalus.generator.verify.fuzz.programs import Program
from daedalus.generator.verify.qpu_trial import Outcome, Scheduled, selected, trials


@dataclass(frozen=True)
class Form:
    """One way to run a program.

    jobs  threads that the batches are divided among
    pairs  pairs wherever words can be made of them, not where they are less to do
    flags_stay  whether the code may count on flags at thread switches
    """

    options: Options
    jobs: int
    pairs: bool
    flags_stay: bool
    seed: int  # of the scheduler's attempts
    order: tuple[tuple[int, tuple[int, int] | None], ...]  # programs and ways, the first goes

    def __str__(self) -> str:
        pairs = ", pairs wherever they can be" if self.options.choice("pair") and self.pairs else ""
        flags = "" if self.flags_stay else ", flags lost"
        return f"{self.options.name}, {self.jobs} threads{pairs}{flags}"


@dataclass
class QpuTally(Tally):
    """Of the QPU.

    ran                    programs that have a form, and were run in the first one found;
                           of those `at_four_threads` a QPU, `paired` with words made of pairs,
                           `flags_renewed` without counting on flags at thread switches
    programs_without_form  by the reason of the last refusal
    forms_refused          by the reason
    """

    form: ClassVar[str] = "a QPU form"

    ran: int = 0
    at_four_threads: int = 0
    paired: int = 0
    flags_renewed: int = 0
    programs_without_form: Counter[str] = field(default_factory=Counter)
    forms_refused: Counter[str] = field(default_factory=Counter)

    def lines(self, seconds: float) -> list[str]:
        without, refused = self.programs_without_form, self.forms_refused
        return [
            f"{self.ran} of {self.programs} programs, of"
            f" {self.operations / max(self.programs, 1):.1f} operations, have a QPU form and were"
            f" run in {seconds:.0f} s, {self.at_four_threads} of them at 4 threads a QPU,"
            f" {self.paired} with pairs, {self.flags_renewed} with flags renewed at thread"
            f" switches: {self.conformant} conformant items, {self.other_items} others for memory"
            " safety only",
            f"{without.total()} programs have none" + by_reason(without),
            f"{refused.total()} forms were refused" + by_reason(refused),
            f"{self.programs_excluded} programs exclude all items, {self.without_conformant} had no"
            " conformant one",
            f"{len(self.failures)} failures",
        ]

    @property
    def compared(self) -> int:
        return self.ran


def by_reason(found: Counter[str]) -> str:
    """Counts, a line each, the largest first."""
    return "".join(f"\n  {n:5}  {why}" for why, n in found.most_common())


@dataclass(frozen=True)
class Qpu(BackEnd):
    """The QPU's code, on the simulator."""

    targets: tuple[str, ...] = (QPU,)
    only_make: bool = False
    batch: ClassVar[int] = 10
    tally: ClassVar[type[Tally]] = QpuTally

    def run(
        self, programs: Sequence[Program], items: int, again: Failure | None = None
    ) -> QpuTally:
        tally = QpuTally()
        for p in programs:
            ways = forms_of(p) if again is None else again.ways
            suiting = (f for f in ways if suited(p.kernel, f.options))
            _run_program(p, suiting, 0 if self.only_make else items, tally)
        return tally


def forms_of(program: Program) -> Iterator[Form]:
    """Ways to run a program: those on record, else as drawn."""
    if program.forms:
        return iter(program.forms)
    return forms(program.kernel, random.Random(program.number))


def forms(kernel: Kernel, rng: random.Random) -> Iterator[Form]:
    """Ways to run a kernel, in random order."""
    facts = Facts(kernel)
    while True:
        for points in rng.sample(POINTS, len(POINTS)):
            flags = {flag: rng.random() < 0.5 for flag in ("word", "keep", "unaligned", "dot")}
            others = [a.name for a in kernel.assumptions if not a.default]
            assume = tuple(rng.sample(others, 1)) if others and rng.random() < 0.3 else ()
            order = list(product((0, 1), WAYS))
            rng.shuffle(order)
            class_name, t4 = rng.choice(kernel.class_names), rng.choice((False, False, True))
            jobs, seed = rng.randint(1, 4), rng.getrandbits(32)
            # Words that came later have dice of their own: what a seed once found, it finds again.
            later = random.Random(f"{seed} later")
            flags |= {flag: later.random() < 0.5 for flag in ("shuffle", "joint_reads")}
            options = options_of(
                "qpu", class_name, points=points, assume=assume, four_threads=t4, **flags
            )
            unifa = later.random() < 0.5 and facts.fills_trip(options)
            options = replace(
                options, record_once=unifa, pair=options.choice("word") and later.random() < 0.8
            )
            pairs, flags_stay = later.random() < 0.8, later.random() < 0.5
            options = replace(options, aside=later.random() < 0.3)
            yield Form(options, jobs, pairs, flags_stay, seed, tuple(order))
        return


def _run_program(program: Program, ways: Iterator[Form], items: int, tally: QpuTally) -> None:
    """Runs a program in the first way that it can be run in, unless there are no items."""
    last = ""

    def failed(kind: str, form: Form) -> None:
        text = f"{form}\n{traceback.format_exc()}"
        tally.failures.append(Failure(program.number, kind, text, (form,)))

    for form in ways:
        try:
            s = selected(program.kernel, form.options, always_pairs=form.pairs)
            code, threads = _scheduled(s, form)
        except (NotLowerable, NoSchedule) as e:
            last = reason(e)
            tally.forms_refused[last] += 1
            continue
        except Exception:
            failed("back end", form)
            return
        try:
            outcomes = compare(program.kernel, form, s, code, items) if items else []
            _count(tally, program.number, form, outcomes)
        except Exception as e:
            if isinstance(e, SpecError) and e.rule == "assumption":
                tally.programs_excluded += 1  # its assumptions exclude every item that was drawn
                return
            failed("run", form)
        tally.ran += 1
        tally.at_four_threads += threads == 4
        tally.paired += s.paired
        tally.flags_renewed += not form.flags_stay
        return
    tally.programs_without_form[last] += 1


def _count(
    tally: QpuTally, number: int, form: Form, outcomes: Sequence[tuple[str, Outcome]]
) -> None:
    for kind, o in outcomes:
        tally.conformant += o.conformant
        tally.other_items += o.items - o.conformant
        if o.mismatches or o.strayed:
            text = f"{form}: {kind} items: {o.mismatches} differ, {o.strayed} strayed: {o.first}"
            tally.failures.append(Failure(number, "difference", text, (form,)))
    tally.without_conformant += bool(outcomes) and not any(o.conformant for _, o in outcomes)


def _scheduled(s: Selected, form: Form) -> tuple[Code, int]:
    """The first of a form's ways that leads to code, and for how many threads a QPU: two where it
    needs more registers than four leave. Raises NoSchedule."""
    failed: NoSchedule | None = None
    rng = random.Random(form.seed)
    for threads in dict.fromkeys((form.options.threads, 2)):
        for number, way in form.order:
            program = reloaded(s.programs[number % len(s.programs)], way, threads)
            try:
                code = compile_somehow(program, threads, rng, flags_stay=form.flags_stay)
                return code, threads
            except NoSchedule as e:
                failed = e
    assert failed is not None
    raise failed


def compare(
    kernel: Kernel, form: Form, s: Selected, code: Code, items: int
) -> list[tuple[str, Outcome]]:
    """Runs code on items of every kind."""

    def compiled(_: Sequence[virtual.Program], __: int) -> Code:
        return code

    run = Scheduled(code.threads, compiled, flags_stay=form.flags_stay)
    count = items * len(kernel.class_names)
    return trials(kernel, form.options, count, run=run, s=s, threads=form.jobs)


def reason(e: NotLowerable | NoSchedule) -> str:
    """Why something was refused, without what is particular to the program."""
    text = e.message if isinstance(e, NotLowerable) else str(e).partition(": ")[2]
    return re.sub(r"`.*?`|(?<=temp )\w+", "...", re.sub(r"-?\b\d+\b", "n", text)).partition(":")[0]
