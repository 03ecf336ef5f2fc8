# SPDX-License-Identifier: BSD-2-Clause
"""Every mapping of a kernel to the QPU: all schedules that there are, scheduled shortly, run on the
simulator, strictly, and compared with the reference interpreter.

Words that change nothing in a program give it other names: such mappings are run once.
"""

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import combinations, product
from typing import Any

from daedalus.dsl.ir import Kernel
from daedalus.generator.cli.common import EXIT_FAILED, UserError
from daedalus.generator.registry import Entry, find, load
from daedalus.generator.schedule import GPU_TARGETS, POINTS, QPU, QPU_FLAGS, Schedule
from daedalus.generator.targets.glsl.device import NotLowerable
from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.best import QUICK, compile_quick
from daedalus.generator.targets.qpu.compile import BUDGET
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.select import Selected
from daedalus.generator.targets.qpu.text import assembly
from daedalus.generator.targets.qpu.trial import Scheduled, selected, trials

WORKERS = 2
THREADS = (2, 4)  # of a QPU
# Of the scheduler, one after the other while nothing is found: most programs have no schedule with
# the registers of four threads, and a long search would not find one.
BUDGETS = {2: (QUICK, BUDGET), 4: (QUICK,)}


@dataclass
class Row:
    """What became of a mapping at so many threads a QPU.

    same       other names of the program
    threads    0: there is no program
    trip       instructions that a batch takes, of `batch` items
    registers  in use at most
    refused    why it was not run, else ""
    """

    kernel: str
    schedule: str
    same: tuple[str, ...] = ()
    threads: int = 0
    batch: int = 0
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
        return self.trip / self.batch if self.batch else 0.0

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

    def schedules(self) -> Iterator[Schedule]:
        """All of them."""
        choices = product((False, True), repeat=len(QPU_FLAGS))
        for points, choice in product(POINTS, choices):
            yield Schedule(
                QPU, self.class_name, points=points, assume=self.assume,
                **dict(zip(QPU_FLAGS, choice, strict=True)),
            )  # fmt: skip


@dataclass
class _Program:
    """A program and the schedules that lead to it, the first has the fewest words."""

    made: Selected
    schedules: list[Schedule] = field(default_factory=list)


def for_gpu(entries: Sequence[Entry]) -> list[Entry]:
    """Those kernels that have a variant for the GPU."""
    return [e for e in entries if any(s.target in GPU_TARGETS for s, _ in e.schedules)]


def parts(kernel: Kernel, items: int) -> list[Part]:
    """The space of a kernel's mappings."""
    names = sorted(a.name for a in kernel.assumptions if not a.default)
    given = [c for n in range(len(names) + 1) for c in combinations(names, n)]
    return [Part(kernel.id, c, a, items) for c, a in product(kernel.class_names, given)]


def run(wanted: Sequence[Part]) -> Iterator[list[Row]]:
    """The rows of each part, in order, as they get done."""
    machine.description()  # a toolkit that cannot be built is said at once
    if len(wanted) == 1:
        yield run_part(wanted[0])
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        yield from pool.map(run_part, wanted)


def run_part(part: Part) -> list[Row]:
    """Selects all schedules of a part, and runs the programs that differ."""
    entry = find(load(), part.kernel)
    assert entry is not None
    programs: dict[str, _Program] = {}
    refused: dict[str, list[str]] = {}
    for schedule in part.schedules():
        try:
            made = selected(entry.kernel, schedule)
        except NotLowerable as e:
            refused.setdefault(e.message, []).append(schedule.name)
            continue
        key = "\n".join(map(str, made.programs)).replace(f"{part.kernel}__{schedule.name}", "")
        programs.setdefault(f"{made.align}{key}", _Program(made)).schedules.append(schedule)
    rows = [
        Row(part.kernel, names[0], tuple(names[1:]), refused=why) for why, names in refused.items()
    ]
    for p in programs.values():
        p.schedules.sort(key=lambda s: (s.name.count("_"), s.points, s.name))
        rows += [_run(entry.kernel, p, threads, part.items) for threads in THREADS]
    return rows


def _run(kernel: Kernel, p: _Program, threads: int, items: int) -> Row:
    first, *others = p.schedules
    row = Row(kernel.id, first.name, tuple(s.name for s in others), threads, p.made.items)
    try:
        code = compile_quick(p.made.programs, threads, BUDGETS[threads])
    except NoSchedule as e:
        row.refused = str(e).partition(": ")[2]
        return row
    text = assembly(code)
    row.trip, row.registers = text.trip, text.live
    run = Scheduled(threads, lambda _programs, _threads: code)
    try:
        # Items of all classes are drawn, and those of other classes left out.
        count = items * len(kernel.class_names) if first.class_name != "full" else items
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
