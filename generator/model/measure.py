# SPDX-License-Identifier: BSD-2-Clause
"""Measured times of our functions and of hand-written ones, on the processor that they are for.

A program calls a function on pictures in the cache; it takes as many rounds of one that does
nothing away.  Under emulation its figures mean nothing, and nothing here shows them.
"""

import statistics
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator import count
from daedalus.generator.cli.common import EXIT_FAILED, UserError
from daedalus.generator.cli.progress import say
from daedalus.generator.count_cases import Work

ROUNDS = 500
_SIZE = 64 * 64  # of the picture in tools/count/count.h


@dataclass(frozen=True)
class Time:
    """How long a piece of work takes."""

    unit: str  # "cycles", or "ns" where the system does not let programs count cycles
    median: float
    spread: float  # median distance from the median
    pixels: bytes  # that it leaves

    def __str__(self) -> str:
        return f"{self.median:.1f} +- {self.spread:.1f}"


@dataclass(frozen=True)
class TimedRow:
    """One of our functions, compiled by one compiler, and the hand-written one."""

    compiler: str
    work: Work
    ours: Time
    by_hand: Time

    @property
    def ratio(self) -> float:
        """Of what theirs takes."""
        return self.ours.median / self.by_hand.median


def measured(program: Path, words: list[str], *, runner: Iterable[str] = ()) -> Time:
    """Runs a program of tools/count that measures one function."""
    argv = [*runner, str(program), *words]
    done = subprocess.run(argv, capture_output=True)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise UserError(f"{' '.join(argv)}: {said or 'it failed'}", "", EXIT_FAILED)
    heading, *lines = done.stdout[_SIZE:].decode().splitlines()
    unit, pieces = heading.split()
    rounds = [tuple(map(int, line.split())) for line in lines]
    empty = statistics.median(nothing for _, nothing in rounds)
    each = [(taken - empty) / int(pieces) for taken, _ in rounds]
    median = statistics.median(each)
    spread = statistics.median(abs(x - median) for x in each)
    return Time(unit, median, spread, done.stdout[:_SIZE])


def compare(
    wanted: tuple[str, ...], compilers: Iterable[str], rounds: int = ROUNDS
) -> list[TimedRow]:
    """Measures every case of the wanted kernels (none named: all) on this machine."""
    rows = []
    for name in compilers:
        found = count.programs(wanted, clang=name == "clang")
        say(f"measuring {len(found.work)} functions, compiled by {name}")
        times = [
            (w, measured(found.of(w).program, count.arguments("measure", w, rounds)))
            for w in found.work
        ]
        theirs = {w.case.key: t for w, t in times if w.whose == "theirs"}
        rows += [TimedRow(name, w, t, theirs[w.case.key]) for w, t in times if w.whose != "theirs"]
    return rows
