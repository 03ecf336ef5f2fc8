# SPDX-License-Identifier: BSD-2-Clause
"""`generated/qpu/choices.json`: of every variant in machine code the schedule that a search found.

    {"version": 1, "variants": {name: {"programs": hash, "trip": instructions, "body": ..., ...}}}

Searching takes seconds a variant, making the same schedule again hundredths: `gen` does the latter,
so that its output is a function of specs, generator and this file. A record is stale when the
programs are others than those it was found for, or when it no longer leads to a loop of that many
instructions. Then a few attempts are made instead, always the same, and `gen --check` fails.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import repo_root
from daedalus.generator.options import parse_variant
from daedalus.generator.targets.qpu.best import compile_again, compile_best, compile_quick
from daedalus.generator.targets.qpu.choice import choice_of
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.virtual import Program

NAME = "qpu/choices.json"  # below generated/
REPAIR = "./daedalus gen --search-qpu"
_VERSION = 1
_folder: Path | None = None  # that has the file; None: the checkout's


@dataclass(frozen=True)
class Found:
    """A schedule, and whether it is the recorded one."""

    code: Code
    recorded: bool


def schedule(name: str, programs: Sequence[Program], threads: int = 2) -> Found:
    """The schedule of a variant, by its name, for so many threads a QPU. Raises NoSchedule."""
    known = recorded(name, programs, threads)
    if known is not None:
        return Found(known, True)
    if is_plain(name):
        with suppress(NoSchedule):
            return Found(compile_quick(programs, threads, flags_stay=False), False)
    return Found(compile_quick(programs, threads), False)


def recorded(name: str, programs: Sequence[Program], threads: int = 2) -> Code | None:
    """The recorded schedule of a variant; None where that is stale, or there is none."""
    record = _records().get(name)
    if record is None or record.get("programs") != digest(programs, threads):
        return None
    try:
        code = compile_again(programs, choice_of(record), threads)
    except (NoSchedule, KeyError, TypeError, ValueError):
        return None
    return code if trip(code) == record.get("trip") else None


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


def path() -> Path:
    """The file. Raises UserError where there is no checkout, nor another folder."""
    return (_folder or repo_root() / "generated") / NAME


@contextmanager
def kept_in(folder: Path | None) -> Iterator[None]:
    """Has the file in another folder than the checkout's generated/, meanwhile."""
    global _folder
    before, _folder = _folder, folder
    _records.cache_clear()
    try:
        yield
    finally:
        _folder = before
        _records.cache_clear()


def known() -> list[str]:
    """The variants that have a record."""
    return list(_records())


@cache
def _records() -> dict[str, Any]:
    try:
        data = json.loads(path().read_text())
    except (OSError, UserError):
        return {}
    except ValueError as e:
        raise UserError(f"{path()}: not valid JSON: {e}", f"delete it, then {REPAIR}") from None
    variants: dict[str, Any] = data.get("variants", {}) if data.get("version") == _VERSION else {}
    return variants


def record(found: dict[str, dict[str, Any]], names: Sequence[str]) -> None:
    """Writes what searches found; of other variants among `names` what is known stays."""
    known = _records()
    kept = {n: found.get(n, known.get(n)) for n in sorted(names)}
    data = {"version": _VERSION, "variants": {n: r for n, r in kept.items() if r is not None}}
    write_output(path(), json.dumps(data, indent=1) + "\n")
    _records.cache_clear()
