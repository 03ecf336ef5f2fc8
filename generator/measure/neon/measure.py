# SPDX-License-Identifier: BSD-2-Clause
"""Measured times of our functions and of hand-written ones, on the processor that they are for.

A program calls one of ours and theirs in turn, on pictures in the cache; as many calls of a
function that does nothing are taken away from each. A time counts only where both left the same
pixels; what fails is named, and the rest measured. Under emulation its figures mean nothing, and
nothing here shows them.
"""

import shlex
import signal
import statistics
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.progress import say
from daedalus.generator.host import native
from daedalus.generator.measure import count
from daedalus.generator.measure.count_cases import Work
from daedalus.generator.measure.neon.comparison import verdict

ROUNDS = 500
_CPUINFO = Path("/proc/cpuinfo")
_FLAGS = {"dotprod": "asimddp"}  # what a variant needs, by Linux' name for it


@dataclass(frozen=True)
class Time:
    """How long a piece of work takes."""

    unit: str  # "cycles", or "ns" where the system does not let programs count cycles
    median: float
    spread: float  # median distance from the median
    pixels: bytes  # that it leaves

    def text(self, share: float = 1) -> str:
        """That share of it, in words."""
        return f"{share * self.median:.1f} +- {share * self.spread:.1f}"


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

    @property
    def verdict(self) -> str:
        """What the times let say; as of modelled ones."""
        return verdict(self.ratio, whole=self.work.whole)


@dataclass(frozen=True)
class Measured:
    """What was measured.

    wrong    a line for every function that failed, or left other pixels than theirs
    skipped  a line for every variant that this processor cannot run
    """

    rows: list[TimedRow] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def add(self, other: "Measured") -> None:
        """Takes over what else was measured."""
        self.rows.extend(other.rows)
        self.wrong.extend(other.wrong)
        self.skipped.extend(other.skipped)


def measured(program: Path, words: list[str], *, runner: Iterable[str] = ()) -> tuple[Time, Time]:
    """Runs a program of tools/count that measures two functions in turn: ours, then theirs."""
    argv = [*runner, str(program), *words]
    done = subprocess.run(argv, capture_output=True)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip() or _ended(done.returncode)
        raise UserError(said, f"to repeat it: {shlex.join(argv)}", EXIT_FAILED)
    heading, *lines = done.stdout[2 * count.PICTURE :].decode().splitlines()
    unit, pieces = heading.split()
    rounds = [[int(word) for word in line.split()] for line in lines]
    ours, theirs = (
        _time(
            unit,
            int(pieces),
            [r[at : at + 2] for r in rounds],
            done.stdout[first:][: count.PICTURE],
        )
        for at, first in ((0, 0), (2, count.PICTURE))
    )
    return ours, theirs


def _ended(status: int) -> str:
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def lacking(work: Work) -> list[str]:
    """What a variant needs that this processor has not; an emulated one has all."""
    if not work.needs or not native.is_arm():
        return []
    lines = (line.partition(":") for line in _CPUINFO.read_text().splitlines())
    has = next((value.split() for name, _, value in lines if name.strip() == "Features"), [])
    return [n for n in work.needs if _FLAGS[n] not in has]


def _time(unit: str, pieces: int, rounds: list[list[int]], pixels: bytes) -> Time:
    """Of what each round took, and what as many calls of nothing did."""
    empty = statistics.median(nothing for _, nothing in rounds)
    each = [(taken - empty) / pieces for taken, _ in rounds]
    median = statistics.median(each)
    return Time(unit, median, statistics.median(abs(x - median) for x in each), pixels)


def compare(wanted: tuple[str, ...], compilers: Iterable[str], rounds: int = ROUNDS) -> Measured:
    """Measures every case of the wanted kernels (none named: all) on this machine."""
    done = Measured()
    for name in compilers:
        found = count.programs(wanted, clang=name == "clang")
        say(f"measuring {len(found.work)} functions, compiled by {name}")
        theirs = {w.case.key: w for w in found.work if w.whose == "theirs"}
        for w in (w for w in found.work if w.whose != "theirs"):
            what = f"{w.function} by {name}, {w.case.name}"
            missing = lacking(w)
            if missing:
                done.skipped.append(f"{what}: this processor lacks {', '.join(missing)}")
                continue
            words = count.measuring_arguments(w, theirs[w.case.key], rounds)
            try:
                ours, by_hand = measured(found.of(w).program, words)
            except UserError as e:
                done.wrong.append(f"{what}: not timed: {e.message}; {e.hint}")
                continue
            difference = count.difference(ours.pixels, by_hand.pixels)
            if difference:
                done.wrong.append(
                    f"{what}: not timed, since it left other pixels than {w.case.theirs}:"
                    f" {difference}"
                )
            else:
                done.rows.append(TimedRow(name, w, ours, by_hand))
    return done
