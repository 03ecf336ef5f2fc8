# SPDX-License-Identifier: BSD-2-Clause
"""Jobs: what one worker does at a time, named by all that its result follows from.

A job does the same wherever and however often it runs, so one whose worker is lost runs again, and
two that have the same key are one.
"""

import hashlib
import socket
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from daedalus.dsl.errors import SpecError
from daedalus.generator.base.console import console
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.tuning.entries import AGAIN, Check, Entry, Mixed, Result, described
from daedalus.generator.tuning.fingerprint import Fingerprint
from daedalus.generator.tuning.journal import latest, line_of

Judged = Result | Check | Mixed
Known = tuple[str, str]  # fingerprint and key of a result


class Job(Protocol):
    """What a farm can do. It crosses processes, so it is made of plain values.

    latency  seconds that the device is made to take longer, for trying a farm out
    """

    @property
    def latency(self) -> float: ...

    @property
    def inputs(self) -> tuple[object, ...]:
        """All that the result follows from."""

    @property
    def title(self) -> str:
        """What is done, for people."""

    def is_done(self, known: frozenset[Known]) -> bool:
        """Whether its results are among those."""

    def gave(self, result: Judged) -> bool:
        """Whether a result in the journal is of this very job."""

    def run(self) -> Iterable[Entry]:
        """Does it. Raises UserError where the worker cannot."""


def key_of(job: Job) -> str:
    """The job's key: the same for the same work."""
    kind = type(job).__name__.removesuffix("Job").lower()
    return f"{kind}-{hashlib.sha256(repr(job.inputs).encode()).hexdigest()[:32]}"


def known_results(entries: Iterable[Entry]) -> dict[Known, Judged]:
    """Results that stand, the last of each fingerprint and key."""
    judged = (e for e in entries if isinstance(e, Result | Check | Mixed))
    return {(e.fingerprint, e.key): e for e in latest(e for e in judged if e.verdict not in AGAIN)}


@dataclass(frozen=True)
class Done:
    """What comes back: journal lines, or why there are none.

    host     where; seconds: it took there
    error    what kept the worker from doing it; empty: nothing did
    """

    lines: tuple[bytes, ...]
    host: str
    seconds: float
    error: str = ""


def run_job(job: Job) -> Done:
    """Does a job on the worker that has it."""
    started = time.monotonic()
    lines: tuple[bytes, ...] = ()
    error = ""
    time.sleep(job.latency)
    quiet, console.quiet = console.quiet, True  # what a job says is in what it gives back
    try:
        lines = tuple(line_of(e) for e in job.run())
    except (UserError, SpecError, OSError, subprocess.SubprocessError) as e:
        error = f"{e}; {e.hint}" if isinstance(e, UserError) and e.hint else str(e)
    finally:
        console.quiet = quiet
    return Done(lines, socket.gethostname(), time.monotonic() - started, error)


def with_fingerprint(found: Iterable[Entry], of: Fingerprint) -> list[Entry]:
    """The entries after the line that says what they hold for."""
    return [described(of), *found]


def manifest_stamp() -> int:
    """Changes where generated/ does: what is built from it is then built again."""
    return (Path(repo_root()) / "generated" / "manifest.json").stat().st_mtime_ns
