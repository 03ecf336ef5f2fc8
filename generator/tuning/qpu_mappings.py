# SPDX-License-Identifier: BSD-2-Clause
"""Every mapping of a kernel to the QPU: all variants of the tuning space, and these with each set
of assumptions, scheduled shortly, run on the simulator, strictly, and compared with the reference
interpreter.

Words that change nothing in a program give it other names: such mappings are run once.
"""

import multiprocessing
import os
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from itertools import combinations, product
from typing import Any

from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.options import GPU_TARGETS, QPU, Options
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.best import compile_quick
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.select import Selected
from daedalus.generator.targets.qpu.text import assembly
from daedalus.generator.tuning.space import space
from daedalus.generator.verify.qpu_trial import Scheduled, selected, trials


@dataclass
class Row:
    """What became of a mapping at so many threads a QPU.

    same       other names of the program
    threads    0: there is no program
    items      that a trip does
    trip       instructions that it takes
    registers  in use at most
    refused    why it was not run, else ""
    """

    kernel: str
    options: str
    same: tuple[str, ...] = ()
    threads: int = 0
    items: int = 0
    trip: int = 0
    registers: int = 0
    conformant: int = 0
    others: int = 0
    mismatches: int = 0
    strayed: int = 0
    refused: str = ""
    first: str = ""  # what was wrong

    @property
    def an_item(self) -> float:
        """Instructions an item."""
        return self.trip / self.items if self.items else 0.0

    @property
    def good(self) -> bool:
        """Whether it was refused, or run without a difference."""
        compared = self.conformant > 0 and not self.mismatches and not self.strayed
        return bool(self.refused) or (compared and not self.first)

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "instructions_an_item": self.an_item}


@dataclass(frozen=True)
class Part:
    """The mappings of a kernel that have class and assumptions in common."""

    kernel: str
    class_name: str
    assume: tuple[str, ...] = ()
    items: int = 1000

    def listed(self, entry: Entry) -> Iterator[Options]:
        """All of the tuning space, with the assumptions; of two threads a QPU, as with four the
        programs are the same."""
        for candidate in space(entry, QPU, class_name=self.class_name).candidates:
            if not candidate.options.choice("four_threads"):
                yield replace(candidate.options, assume=self.assume)


@dataclass(frozen=True)
class Program:
    """A program and the variants that lead to it, the first has the fewest words."""

    kernel: str
    items: int
    listed: tuple[Options, ...]
    made: Selected


def for_gpu(entries: Sequence[Entry]) -> list[Entry]:
    """Those kernels that have a variant for the GPU."""
    return [e for e in entries if any(s.target in GPU_TARGETS for s, _ in e.listed)]


def parts(kernel: Kernel, items: int) -> list[Part]:
    """The space of a kernel's mappings."""
    names = sorted(a.name for a in kernel.assumptions if not a.default)
    given = [c for n in range(len(names) + 1) for c in combinations(names, n)]
    return [Part(kernel.id, c, a, items) for c, a in product(kernel.class_names, given)]


@dataclass(frozen=True)
class Selection:
    """What the variants of a part lead to: rows of those refused, and programs that differ."""

    refused: tuple[Row, ...]
    programs: tuple[Program, ...]


class Runs:
    """Processes that select parts and run programs, all of them at once by default.

    To be used as a context; a toolkit that cannot be built is said before they start.
    """

    def __init__(self, jobs: int = 0) -> None:
        machine.description()
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(jobs or os.cpu_count() or 1, mp_context=context)

    def __enter__(self) -> "Runs":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def select(self, wanted: Sequence[Part]) -> Iterator[Selection]:
        """What each part leads to, in order, as it gets known."""
        yield from self._pool.map(select_part, wanted)

    def draw(self, wanted: Sequence[Part], count: int, seed: int) -> Iterator[Selection]:
        """A program of each of so many parts, of all before one comes again: what it takes does not
        grow with the kernels. A part of which all is refused has none."""
        rng = random.Random(seed)
        order = rng.sample(list(wanted), len(wanted))
        drawn = [order[n % len(order)] for n in range(count)]
        yield from self._pool.map(draw_program, drawn, [rng.random() for _ in drawn])

    def run(self, programs: Sequence[Program]) -> Iterator[Row]:
        """A row for each program and number of threads, as they get done."""
        # What takes longest first: the most points an element.
        order = sorted(programs, key=lambda p: -p.listed[0].choice("points"))
        begun: list[Future[Row]] = [
            self._pool.submit(run_program, p, t4=t4) for p in order for t4 in (False, True)
        ]
        for done in as_completed(begun):
            yield done.result()


def draw_program(part: Part, seed: float) -> Selection:
    """A program of a part, and what was refused before there was one."""
    entry, refused = _entry(part.kernel), list[Row]()
    listed = list(part.listed(entry))
    for options in random.Random(seed).sample(listed, len(listed)):
        try:
            made = selected(entry.kernel, options)
        except NotLowerable as e:
            refused.append(Row(part.kernel, options.name, refused=e.message))
            continue
        return Selection(tuple(refused), (Program(part.kernel, part.items, (options,), made),))
    return Selection(tuple(refused), ())


def select_part(part: Part) -> Selection:
    """Selects all variants of a part."""
    entry = _entry(part.kernel)
    programs: dict[str, list[Options]] = {}
    made: dict[str, Selected] = {}
    refused: dict[str, list[str]] = {}
    for options in part.listed(entry):
        try:
            s = selected(entry.kernel, options)
        except NotLowerable as e:
            refused.setdefault(e.message, []).append(options.name)
            continue
        text = "\n".join(map(str, s.programs)).replace(f"{part.kernel}__{options.name}", "")
        key = f"{s.align}{text}"
        made.setdefault(key, s)
        programs.setdefault(key, []).append(options)
    for listed in programs.values():
        listed.sort(key=lambda s: (s.name.count("_"), s.choice("points"), s.name))
    return Selection(
        tuple(Row(part.kernel, x[0], tuple(x[1:]), refused=why) for why, x in refused.items()),
        tuple(
            Program(part.kernel, part.items, tuple(listed), made[key])
            for key, listed in programs.items()
        ),
    )


def _entry(kernel_id: str) -> Entry:
    entry = find(load(), kernel_id)
    assert entry is not None
    return entry


def run_program(p: Program, *, t4: bool) -> Row:
    """Variants a program for two or four threads a QPU, and compares it."""
    kernel = _entry(p.kernel).kernel
    first, *others = (s.with_choice("four_threads", t4) for s in p.listed)
    threads = first.threads
    row = Row(kernel.id, first.name, tuple(s.name for s in others), threads, p.made.items)
    try:
        code = compile_quick(p.made.programs, threads)
    except NoSchedule as e:
        row.refused = str(e).partition(": ")[2]
        return row
    text = assembly(code)
    row.trip, row.registers = text.trip, text.live
    run = Scheduled(threads, lambda _programs, _threads: code)
    try:
        # Items of all classes are drawn, and those of other classes left out.
        count = p.items * len(kernel.class_names) if first.class_name != "full" else p.items
        for kind, o in trials(kernel, first, count, run=run, s=p.made):
            row.conformant += o.conformant
            row.others += o.items - o.conformant
            row.mismatches += o.mismatches
            row.strayed += o.strayed
            row.first = row.first or (f"{kind}: {o.first}" if o.first else "")
    except UserError as e:
        if e.exit_code != EXIT_FAILED:
            raise
        row.first = e.message  # the validator or the simulator refuses the code
    return row
