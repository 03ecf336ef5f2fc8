# SPDX-License-Identifier: BSD-2-Clause
"""Measured times of our functions and of hand-written ones, on the processor that they are for.

A program calls one of ours and theirs in turn, on pictures in the cache; as many calls of a
function that does nothing are taken away from each. A time counts only where both left the same
pixels. Under emulation its figures mean nothing, and nothing here shows them.
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


@dataclass(frozen=True)
class Measured:
    """What was measured; `wrong` has a line for everything that left other pixels than theirs."""

    rows: list[TimedRow]
    wrong: list[str]


NOTHING = Measured([], [])


def measured(program: Path, words: list[str], *, runner: Iterable[str] = ()) -> tuple[Time, Time]:
    """Runs a program of tools/count that measures two functions in turn: ours, then theirs."""
    argv = [*runner, str(program), *words]
    done = subprocess.run(argv, capture_output=True)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise UserError(f"{' '.join(argv)}: {said or 'it failed'}", "", EXIT_FAILED)
    heading, *lines = done.stdout[2 * _SIZE :].decode().splitlines()
    unit, pieces = heading.split()
    rounds = [[int(word) for word in line.split()] for line in lines]
    ours, theirs = (
        _time(unit, int(pieces), [r[at : at + 2] for r in rounds], done.stdout[first:][:_SIZE])
        for at, first in ((0, 0), (2, _SIZE))
    )
    return ours, theirs


def _time(unit: str, pieces: int, rounds: list[list[int]], pixels: bytes) -> Time:
    """Of what each round took, and what as many calls of nothing did."""
    empty = statistics.median(nothing for _, nothing in rounds)
    each = [(taken - empty) / pieces for taken, _ in rounds]
    median = statistics.median(each)
    return Time(unit, median, statistics.median(abs(x - median) for x in each), pixels)


def compare(wanted: tuple[str, ...], compilers: Iterable[str], rounds: int = ROUNDS) -> Measured:
    """Measures every case of the wanted kernels (none named: all) on this machine."""
    done = Measured([], [])
    for name in compilers:
        found = count.programs(wanted, clang=name == "clang")
        say(f"measuring {len(found.work)} functions, compiled by {name}")
        theirs = {w.case.key: w for w in found.work if w.whose == "theirs"}
        for w in (w for w in found.work if w.whose != "theirs"):
            words = count.measuring_arguments(w, theirs[w.case.key], rounds)
            ours, by_hand = measured(found.of(w).program, words)
            difference = count.difference(ours.pixels, by_hand.pixels)
            if difference:
                done.wrong.append(
                    f"{w.function} by {name}, {w.case.name}: not timed, since it left other pixels"
                    f" than {w.case.theirs}: {difference}"
                )
            else:
                done.rows.append(TimedRow(name, w, ours, by_hand))
    return done
