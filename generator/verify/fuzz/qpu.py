# SPDX-License-Identifier: BSD-2-Clause
"""Random lane programs as machine code of the QPU: selection, scheduler, assembler and validator,
then the simulator, strictly, against the reference interpreter.

A program is tried by random variants, divisions of registers, numbers of threads and attempts of
the scheduler, so that many ways through the back end are taken. What becomes of it depends on its
seed and number alone.
"""

import multiprocessing
import os
import random
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import product

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.dsl.show import show
from daedalus.generator.base.paths import build_dir
from daedalus.generator.compile.facts import Facts
from daedalus.generator.options import POINTS, Options, options_of
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu import machine, virtual
from daedalus.generator.targets.qpu.best import WAYS, reloaded
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.random_attempts import compile_somehow
from daedalus.generator.targets.qpu.select import Selected
from daedalus.generator.verify.fuzz.programs import Program, make_program, operations
from daedalus.generator.verify.fuzz.shrink import shrink
from daedalus.generator.verify.qpu_trial import Outcome, Scheduled, selected, trials

WORKERS = os.cpu_count() or 1
CHUNK = 10  # programs that a worker does at once
_SHRUNK = 3  # failing programs made smaller
_TRIES = 40  # attempts at it


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


@dataclass(frozen=True)
class Failure:
    """What went wrong with a program."""

    number: int
    kind: str
    text: str
    form: Form | None = None


@dataclass
class Tally:
    """What was run, and what came of it.

    programs  that were drawn; `ran` of them have a QPU form, and were run in the first one found
    at_four   of those that ran, at four threads a QPU
    paired    of those that ran, with words made of pairs
    renewed   of those that ran, without counting on flags at thread switches
    without   programs without a form, by the reason of the last refusal
    refused   forms, by the reason
    vacuous   programs of which no item was conformant; `excluded` ones have none at all
    """

    programs: int = 0
    ran: int = 0
    operations: int = 0
    at_four: int = 0
    paired: int = 0
    renewed: int = 0
    conformant: int = 0
    others: int = 0
    excluded: int = 0
    vacuous: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    without: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, o: "Tally") -> None:
        """Takes in another tally."""
        for name in ("programs", "ran", "operations", "at_four", "paired", "renewed", "conformant",
                     "others", "excluded", "vacuous"):  # fmt: skip
            setattr(self, name, getattr(self, name) + getattr(o, name))
        self.refused += o.refused
        self.without += o.without
        self.failures += o.failures


def campaign(seed: int, first: int, programs: int, items: int) -> Iterator[Tally]:
    """Runs programs first .. first + programs - 1; a tally per chunk, as they get done."""
    machine.description()  # a toolkit that cannot be built is said at once
    ends = range(first, first + programs, CHUNK)
    work = [(seed, n, min(n + CHUNK, first + programs), items) for n in ends]
    if len(work) == 1:
        yield _chunk(work[0])
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        yield from pool.map(_chunk, work)


def _chunk(work: tuple[int, int, int, int]) -> Tally:
    seed, first, end, items = work
    tally = Tally()
    for number in range(first, end):
        tally.add(run_number(seed, number, items))
    return tally


def run_number(seed: int, number: int, items: int) -> Tally:
    """Makes a program and runs it."""
    try:
        program = make_program(seed, number)
    except Exception:
        return Tally(1, failures=[Failure(number, "generator", traceback.format_exc())])
    return run_program(program, forms(program.kernel, random.Random(number)), items)


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
            unifa = later.random() < 0.5 and facts.fills_batch(options)
            options = replace(
                options, record_once=unifa, pair=options.choice("word") and later.random() < 0.8
            )
            pairs, flags_stay = later.random() < 0.8, later.random() < 0.5
            yield Form(options, jobs, pairs, flags_stay, seed, tuple(order))
        return


def run_program(program: Program, ways: Iterator[Form], items: int) -> Tally:
    """Runs a program in the first way that it can be run in."""
    tally = Tally(1, operations=operations(program.kernel))
    last = ""
    for form in ways:
        try:
            s = selected(program.kernel, form.options, always_pairs=form.pairs)
            code, threads = _scheduled(s, form)
        except (NotLowerable, NoSchedule) as e:
            last = reason(e)
            tally.refused[last] += 1
            continue
        except Exception:
            tally.failures.append(Failure(program.number, "back end", _traced(form), form))
            break
        try:
            outcomes = compare(program.kernel, form, s, code, items)
            _count(tally, program.number, form, outcomes)
        except Exception as e:
            if isinstance(e, SpecError) and e.rule == "assumption":
                tally.excluded += 1  # its assumptions exclude every item that was drawn
                return tally
            tally.failures.append(Failure(program.number, "run", _traced(form), form))
        tally.ran += 1
        tally.at_four += threads == 4
        tally.paired += s.paired
        tally.renewed += not form.flags_stay
        return tally
    if not tally.failures:
        tally.without[last] += 1
    return tally


def _traced(form: Form) -> str:
    return f"{form}\n{traceback.format_exc()}"


def _count(tally: Tally, number: int, form: Form, outcomes: Sequence[tuple[str, Outcome]]) -> None:
    for kind, o in outcomes:
        tally.conformant += o.conformant
        tally.others += o.items - o.conformant
        if o.mismatches or o.strayed:
            text = f"{form}: {kind} items: {o.mismatches} differ, {o.strayed} strayed: {o.first}"
            tally.failures.append(Failure(number, "difference", text, form))
    tally.vacuous += not any(o.conformant for _, o in outcomes)


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


# ------------------------------------------------------------------ failures


def replay_command(seed: int, number: int, items: int) -> str:
    """The command that runs one program again."""
    return (
        f"./daedalus fuzz --target qpu --programs 1 --seed {seed} --first {number} --items {items}"
    )


def write_failures(seed: int, failures: Sequence[Failure], items: int) -> str:
    """A file a failing program: what happened, how to see it again, and the program itself.
    Returns their folder."""
    folder = build_dir() / "fuzz" / "failures"
    folder.mkdir(parents=True, exist_ok=True)
    for n, number in enumerate(sorted({f.number for f in failures})):
        own = [f for f in failures if f.number == number]
        parts = [replay_command(seed, number, items), *(f"{f.kind}:\n{f.text}" for f in own)]
        try:
            kernel = make_program(seed, number).kernel
            parts.append(show(kernel))
            if n < _SHRUNK and own[0].form is not None:
                small = shrink(kernel, _fails(seed, own[0], items), tries=_TRIES)
                parts.append("shrunk:\n" + show(small))
        except Exception:
            parts.append("(the program itself cannot be made)")
        (folder / f"qpu-{seed}-{number}.txt").write_text("\n\n".join(parts) + "\n")
    return str(folder)


def _fails(seed: int, failure: Failure, items: int) -> Callable[[Kernel], bool]:
    """Whether a kernel fails as that one did."""
    form = failure.form
    assert form is not None

    def fails(kernel: Kernel) -> bool:
        smaller = Program(seed, failure.number, kernel, ())
        tally = run_program(smaller, iter([form]), items)
        return any(f.kind == failure.kind for f in tally.failures)

    return fails
