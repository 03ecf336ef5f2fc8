# SPDX-License-Identifier: BSD-2-Clause
"""Recorded schedules: of every variant in machine code the one that a search found.

    {name: {"programs": hash, "trip": instructions, "body": ..., ...}}
    {name: {"programs": hash, "none": why, "by": hash}}    where a search found none

Searching takes seconds a variant, making the same schedule again hundredths: `gen` does the latter,
so that its output is a function of specs, generator and these records. A record is stale when the
programs are others than those it was found for, or when it no longer leads to a loop of that many
instructions. Then a few attempts are made instead, always the same, and `gen --check` fails.

That there is no schedule cannot be tried again in hundredths of a second: `gen` believes it. The
record names the scheduler that searched, and where that is another now a search tries again.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from daedalus.generator.base import records
from daedalus.generator.options import parse_variant
from daedalus.generator.targets.qpu.best import compile_again, compile_best, compile_quick
from daedalus.generator.targets.qpu.choice import choice_of
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.scheduler import scheduler
from daedalus.generator.targets.qpu.virtual import Program

REPAIR = "./daedalus gen --search-qpu"


@dataclass(frozen=True)
class Found:
    """A schedule, and whether it is the recorded one."""

    code: Code
    recorded: bool


def schedule(name: str, programs: Sequence[Program], threads: int = 2) -> Found:
    """The schedule of a variant, by its name, for so many threads a QPU. Raises NoSchedule."""
    why = none_known(name, programs, threads)
    if why is not None:
        raise NoSchedule(why)
    known = recorded(name, programs, threads)
    if known is not None:
        return Found(known, True)
    if is_plain(name):
        with suppress(NoSchedule):
            return Found(compile_quick(programs, threads, flags_stay=False), False)
    return Found(compile_quick(programs, threads), False)


def recorded(name: str, programs: Sequence[Program], threads: int = 2) -> Code | None:
    """The recorded schedule of a variant; None where that is stale, or there is none."""
    record = records.read(parse_variant(name)[0], records.SCHEDULES).get(name)
    if record is None or record.get("programs") != digest(programs, threads):
        return None
    try:
        code = compile_again(programs, choice_of(record), threads)
    except (NoSchedule, KeyError, TypeError, ValueError):
        return None
    return code if trip(code) == record.get("trip") else None


def none_known(name: str, programs: Sequence[Program], threads: int = 2) -> str | None:
    """What a search said that found no schedule of these programs; None where none is on record."""
    record = records.read(parse_variant(name)[0], records.SCHEDULES).get(name, {})
    if record.get("programs") != digest(programs, threads):
        return None
    why = record.get("none")
    return why if isinstance(why, str) else None


def is_known(name: str, programs: Sequence[Program], threads: int = 2) -> bool:
    """Whether it is on record what a search finds, or that the scheduler as it is finds none."""
    if none_known(name, programs, threads) is not None:
        return name not in doubted(parse_variant(name)[0])
    return recorded(name, programs, threads) is not None


def doubted(kernel: str) -> list[str]:
    """Variants of a kernel of which another scheduler than this one found no schedule."""
    known = records.read(kernel, records.SCHEDULES)
    return [n for n, r in known.items() if "none" in r and r.get("by") != scheduler()]


def searched_or_none(name: str, programs: Sequence[Program], threads: int = 2) -> dict[str, Any]:
    """The record of what a search finds, or of that it finds none."""
    try:
        return searched(name, programs, threads)
    except NoSchedule as e:
        return {"programs": digest(programs, threads), "none": str(e), "by": scheduler()}


def searched(name: str, programs: Sequence[Program], threads: int = 2) -> dict[str, Any]:
    """The record of what a search finds, which takes long. Raises NoSchedule."""
    without: Code | None = None
    with suppress(NoSchedule):
        without = compile_best(programs, threads, flags_stay=False)
        if is_plain(name):
            return as_record(programs, without)
    best = compile_best(programs, threads)
    # Of others counting on flags at thread switches has to save something.
    if without is not None and trip(without) <= trip(best):
        best = without
    return as_record(programs, best)


def is_plain(name: str) -> bool:
    """Whether a variant shall not count on flags at thread switches, if it can do without."""
    return parse_variant(name)[1].plain


def as_record(programs: Sequence[Program], code: Code) -> dict[str, Any]:
    """The record of a schedule of these programs."""
    assert code.choice is not None
    return {"programs": digest(programs, code.threads), "trip": trip(code), **code.choice.data()}


def digest(programs: Sequence[Program], threads: int = 2) -> str:
    """What a record is of."""
    text = "\n".join([str(threads), *map(str, programs)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def trip(code: Code) -> int:
    """Instructions of a trip."""
    assert code.loop is not None
    return len(code.loop.schedule.slots)


def record(found: dict[str, dict[str, Any]]) -> None:
    """Writes what searches found; of other variants what is known stays."""
    for kernel, mine in _by_kernel(found).items():
        known = records.read(kernel, records.SCHEDULES)
        records.write(kernel, records.SCHEDULES, dict(sorted((known | mine).items())))


def keep(kernel: str, names: Sequence[str]) -> None:
    """Drops the schedules of other variants of a kernel: those there no longer are."""
    known = records.read(kernel, records.SCHEDULES)
    records.write(kernel, records.SCHEDULES, {n: r for n, r in known.items() if n in names})


def _by_kernel(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for name, data in found.items():
        out.setdefault(parse_variant(name)[0], {})[name] = data
    return out
