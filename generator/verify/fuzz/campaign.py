# SPDX-License-Identifier: BSD-2-Clause
"""Random lane programs: the interpreter against every back end.

A program is drawn once for all back ends (`programs.py`), and each of them (`cpu.py`, `qpu.py`)
lowers, runs and compares it in its own ways. What becomes of a program depends on nothing but
its source and number, so any of them can be run again alone.
"""

import multiprocessing
import os
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from daedalus.dsl.ir import Kernel
from daedalus.dsl.show import show
from daedalus.generator.base.paths import build_dir
from daedalus.generator.verify.fuzz.back_end import BackEnd, Failure, Tally
from daedalus.generator.verify.fuzz.programs import Program, Source, operations
from daedalus.generator.verify.fuzz.shrink import shrink

WORKERS = os.cpu_count() or 1
_SHRUNK = 3  # failing programs made smaller
_TRIES = 60  # attempts at it


@dataclass(frozen=True)
class Campaign:
    """Random programs for some back ends, with so many items a class."""

    back_ends: tuple[BackEnd, ...]
    source: Source
    items: int

    def run(self, first: int, programs: int) -> Iterator[list[Tally]]:
        """Runs programs first .. first + programs - 1; after each batch, each back end's tally."""
        numbers = range(first, first + programs)
        most = max(b.batch for b in self.back_ends)
        size = max(1, min(most, -(-programs // WORKERS)))
        batches = [numbers[at : at + size] for at in range(0, programs, size)]
        if len(batches) == 1:
            yield self.batch(batches[0])
            return
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
            yield from pool.map(self.batch, batches)

    def batch(self, numbers: Sequence[int]) -> list[Tally]:
        """Draws programs, and has every back end run them; each one's tally."""
        drawn: list[Program] = []
        failures = []
        for number in numbers:
            try:
                drawn.append(self.source.make(number))
            except Exception:
                failures.append(Failure(number, "generator", traceback.format_exc()))
        tallies = [b.run(drawn, self.items) for b in self.back_ends]
        tallies[0].failures[:0] = failures
        for tally in tallies:
            tally.programs = len(numbers)
            tally.operations = sum(operations(p.kernel) for p in drawn)
        return tallies

    def replay(self, number: int) -> str:
        """The command that runs one program again."""
        targets = ",".join(b.name for b in self.back_ends)
        return (
            f"./daedalus fuzz --target {targets} --programs 1 {self.source.words}"
            f" --first {number} --items {self.items}"
        ) + (" --sanitize" if any(b.sanitize for b in self.back_ends) else "")

    def write_failures(self, tallies: Sequence[Tally]) -> Path:
        """A file a failing program: what happened, how to see it again, and the program itself;
        of the first ones also, for each back end, a smaller one that fails in the same way.
        Returns their folder."""
        folder = build_dir() / "fuzz" / "failures"
        folder.mkdir(parents=True, exist_ok=True)
        every = [(f, b) for b, t in zip(self.back_ends, tallies, strict=True) for f in t.failures]
        for n, number in enumerate(sorted({f.number for f, _ in every})):
            own = [(f, b) for f, b in every if f.number == number]
            parts = [self.replay(number), *(f"{f.kind}:\n{f.text}" for f, _ in own)]
            try:
                program = self.source.make(number)
            except Exception:
                parts.append("(the program itself cannot be made)")
            else:
                parts.append(show(program.kernel))
                firsts = {b.name: (f, b) for f, b in reversed(own)} if n < _SHRUNK else {}
                parts += [self._said_of_shrunk(program, *x) for x in reversed(firsts.values())]
            (folder / self._file(number)).write_text("\n\n".join(parts) + "\n")
        return folder

    def _file(self, number: int) -> str:
        """A failing program's file; other targets' are other files."""
        targets = [t for b in self.back_ends for t in b.targets]
        sanitized = ["sanitize"] if any(b.sanitize for b in self.back_ends) else []
        return "-".join([self.source.label, str(number), *targets, *sanitized]) + ".txt"

    def _said_of_shrunk(self, program: Program, failure: Failure, back_end: BackEnd) -> str:
        try:
            small = show(self.shrunk(program, failure, back_end))
        except Exception:
            small = f"(making it smaller went wrong)\n{traceback.format_exc()}"
        return f"shrunk for {back_end.name}:\n{small}"

    def shrunk(self, program: Program, failure: Failure, back_end: BackEnd) -> Kernel:
        """A smaller program that fails in the same way."""

        def fails(kernel: Kernel) -> bool:
            tally = back_end.run([replace(program, kernel=kernel)], self.items, failure)
            return any(f.kind == failure.kind for f in tally.failures)

        return shrink(program.kernel, fails, tries=_TRIES)
