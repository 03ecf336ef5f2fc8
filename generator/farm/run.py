# SPDX-License-Identifier: BSD-2-Clause
"""Gives jobs to the workers, and puts what comes back into the journal as it comes."""

import queue
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.farm.cluster import distributed, holders
from daedalus.generator.farm.jobs import Done, Job, Judged, key_of, known_results, run_job
from daedalus.generator.tuning.entries import OK, Check, Entry, Mixed, Result, Run, now
from daedalus.generator.tuning.journal import Found, Place, Union, append, parse_line, read

_LOOK = 2.0  # seconds between two looks at whether there are workers


@dataclass
class Report:
    """What became of the jobs.

    known     jobs whose results the journal had; done: jobs that were done now
    added     lines that the journal got
    verdicts  of the jobs' results, those that the journal had as well; bad: those that are not ok
    errors    job -> why it could not be done
    by        host -> jobs that it did
    on        fingerprint of the first result that was got now; empty: there was none
    """

    jobs: int
    known: int = 0
    done: int = 0
    added: int = 0
    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    bad: list[Judged] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    by: Counter[str] = field(default_factory=Counter)
    on: str = ""

    def count(self, results: Sequence[Judged]) -> None:
        """Adds verdicts."""
        self.verdicts.update(r.verdict for r in results)
        self.bad += [r for r in results if r.verdict != OK]


@dataclass(frozen=True)
class Terms:
    """How jobs are given away.

    resource  of which each takes one while it runs
    patience  seconds to wait where no worker is left
    again     also those whose results the journal has
    command   that is said to have done it
    tell      is told each job that ends
    """

    resource: str
    patience: float = 60.0
    again: bool = False
    command: str = "farm"
    tell: Callable[[str], None] = lambda text: None


def run_jobs(client: Any, jobs: Sequence[Job], path: Path, terms: Terms) -> Report:
    """Has the workers do the jobs; each one's lines are in the journal before the next is told.

    Raises UserError where no worker comes back in time; what was done until then is kept, and the
    same call goes on from there.
    """
    report, started = Report(len(jobs)), time.monotonic()
    known = {} if terms.again else known_results(read(path).entries)
    keys = frozenset(known)
    left_out = [j for j in jobs if j.is_done(keys)]
    wanted = {key_of(j): j for j in jobs if not j.is_done(keys)}
    report.known = len(jobs) - len(wanted)
    report.count([r for r in known.values() if any(j.gave(r) for j in left_out)])
    ended = "failed"
    try:
        _gather(client, wanted, Union(path), report, terms)
        ended = "done" if not report.errors else "failed"
    except KeyboardInterrupt:
        ended = "interrupted"
        raise
    finally:
        report.seconds = time.monotonic() - started
        if report.on:  # nothing that was done leaves no line: it would be of no board
            append(path, Run(
                fingerprint=report.on, command=terms.command, points=len(jobs), done=report.done,
                ended=ended, seconds=report.seconds, when=now(),
            ))  # fmt: skip
    return report


class _Flight:
    """The jobs that are given away, no more than there are workers.

    So none waits at a worker, from where it would be moved late to one that is free. A job with
    which worker after worker was lost may only have been beside the one that ends them: when all
    others are done it is tried once more, alone.
    """

    def __init__(self, client: Any, wanted: dict[str, Job], terms: Terms) -> None:
        self._client, self._terms = client, terms
        self._left = list(wanted.items())[::-1]
        self._suspected: list[tuple[str, Job]] = []
        self._alone: set[str] = set()
        self._jobs: dict[str, Job] = {}
        self._futures: dict[str, Any] = {}
        self._ended: queue.Queue[Any] = queue.Queue()
        self._seen_worker = time.monotonic()

    def fill(self) -> None:
        """Gives a job to every worker that has none. Raises UserError where there have been no
        workers for too long."""
        resource, patience = self._terms.resource, self._terms.patience
        there, present = len(holders(self._client, resource)), time.monotonic()
        if there:
            self._seen_worker = present
        elif present - self._seen_worker > patience:
            left = len(self._left) + len(self._suspected) + len(self._futures)
            raise UserError(
                f"no worker with {resource} has been there for {patience:g} s; {left} jobs are"
                " left",
                "what was done is kept: start workers, then the same command goes on",
                EXIT_FAILED,
            )
        while self._left and len(self._futures) < there:
            self._give(*self._left.pop())
        if there and self._suspected and not self._left and not self._futures:
            key, job = self._suspected.pop()
            self._alone.add(f"{key}-alone")
            self._give(f"{key}-alone", job)

    def _give(self, key: str, job: Job) -> None:
        needs = {self._terms.resource: 1}
        self._jobs[key] = job
        self._futures[key] = self._client.submit(run_job, job, key=key, resources=needs, pure=False)
        self._futures[key].add_done_callback(self._ended.put)

    def ended(self) -> Iterator[tuple[Any, Job]]:
        """The futures as they end, and whose they are."""
        try:
            while self._left or self._suspected or self._futures:
                self.fill()
                try:
                    future = self._ended.get(timeout=_LOOK)
                except queue.Empty:
                    continue
                if future.status in ("lost", "pending"):
                    # Done, but its worker is gone with the result: it runs again.
                    future.add_done_callback(self._ended.put)
                elif self._futures.pop(future.key, None) is not None:
                    job = self._jobs.pop(future.key)
                    if self._is_suspect(future):
                        self._suspected.append((future.key, job))
                        continue
                    self.fill()
                    yield future, job
        finally:
            self._client.cancel(list(self._futures.values()))

    def _is_suspect(self, future: Any) -> bool:
        """Whether it is given up for the workers that were lost with it, others beside it."""
        if future.status != "error" or future.key in self._alone:
            return False
        return isinstance(future.exception(), distributed().KilledWorker)


def _gather(
    client: Any, wanted: dict[str, Job], journal: Union, report: Report, terms: Terms
) -> None:
    for future, job in _Flight(client, wanted, terms).ended():
        _take(future, job, journal, report, terms)


def _take(future: Any, job: Job, journal: Union, report: Report, terms: Terms) -> None:
    """Puts what a job gave where it belongs."""
    if future.status != "finished":
        why = future.exception() if future.status == "error" else future.status
        report.errors[job.title] = f"{type(why).__name__}: {why}"
        terms.tell(f"{job.title}: {why}")
        return
    done: Done = future.result()
    if done.error:
        report.errors[job.title] = f"{done.host}: {done.error}"
        terms.tell(f"{job.title}: {done.error}")
        return
    found = _checked(done)
    report.added += journal.add(found)
    report.done += 1
    report.by[done.host] += 1
    results = [f.entry for f in found if isinstance(f.entry, Result | Check | Mixed)]
    report.count(results)
    report.on = report.on or next((r.fingerprint for r in results), "")
    good = sum(r.verdict == OK for r in results)
    terms.tell(f"{job.title}: {good} of {len(results)} ok, {done.host}, {done.seconds:.1f} s")


def _checked(done: Done) -> list[Found]:
    entries: list[Entry] = [parse_line(line.rstrip(b"\n")) for line in done.lines]
    return [
        Found(e, Place(done.host, n), line.rstrip(b"\n"))
        for n, (e, line) in enumerate(zip(entries, done.lines, strict=True), 1)
    ]
