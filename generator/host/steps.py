# SPDX-License-Identifier: BSD-2-Clause
"""Runs commands side by side: as many as there are processors for, each after those it needs.

A step claims processors for as long as it runs: one, or all where it shares its work out itself.
Steps begin in the order of the list, but for those that wait for another; so the first results are
those of the first steps, and no processor idles long where neighbours in the list claim alike.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_GRACE = 5.0  # seconds that interrupted steps have to tidy up
_PACE = 0.05  # seconds between two looks at what runs


@dataclass(frozen=True)
class Step:
    """A command.

    after  names of steps that must have passed; those that are not in the list count as passed
    wide   keeps all processors busy by itself
    """

    name: str
    argv: Sequence[str | Path]
    after: tuple[str, ...] = ()
    wide: bool = False


@dataclass(frozen=True)
class Ended:
    """What became of a step."""

    step: Step
    failure: str  # its whole output, or why it was not started; "" if it passed
    seconds: float = 0.0  # wall time
    processor: float = 0.0  # seconds of processor time, its children's included
    said: str = ""  # its whole output


class _Running:
    """A step's process, in a group of its own, and what it prints."""

    def __init__(self, step: Step, cwd: Path) -> None:
        self.step = step
        self._output: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - until it has ended
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            [str(w) for w in step.argv], cwd=cwd, stdin=subprocess.DEVNULL, stdout=self._output,
            stderr=subprocess.STDOUT, process_group=0,
        )  # fmt: skip

    def poll(self) -> Ended | None:
        """What became of it, once it has ended; then it must not be asked again."""
        pid, status, used = os.wait4(self._process.pid, os.WNOHANG)
        if pid == 0:
            return None
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - self._started
        self._output.seek(0)
        said = self._output.read().decode(errors="replace").rstrip()
        self._output.close()
        why = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
        failure = "\n".join(filter(None, (said, why))) if code else ""
        return Ended(self.step, failure, seconds, used.ru_utime + used.ru_stime, said)

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to it and its children."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def run_steps(
    steps: Iterable[Step],
    cwd: Path,
    processors: int,
    watch: Callable[[list[str]], None] = lambda running: None,
) -> Generator[Ended, None, None]:
    """Runs all steps, in `cwd`; tells what became of each as soon as it is known.

    watch  is called with the names of the steps that run, whenever these change

    A step that needs one which failed is not started, and has failed. When the iterator is closed,
    or the program interrupted in it, what still runs is interrupted, and killed if it stays.
    Raises ValueError for steps that need each other.
    """
    waiting = list(steps)
    open_names = {s.name for s in waiting}  # of steps that have not passed
    failed: set[str] = set()
    running: list[_Running] = []
    try:
        while waiting or running:
            for ended in _hopeless(waiting, failed):
                waiting.remove(ended.step)
                failed.add(ended.step.name)
                yield ended
            starting = _startable(waiting, open_names, running, processors)
            if waiting and not starting and not running:
                raise ValueError(f"steps that need each other: {[s.name for s in waiting]}")
            for step in starting:
                waiting.remove(step)
                try:
                    running.append(_Running(step, cwd))
                except FileNotFoundError as e:
                    failed.add(step.name)
                    yield Ended(step, f"{e.filename} is not installed: run ./daedalus setup")
                watch([r.step.name for r in running])
            for ended in _collect(running):
                (failed.add if ended.failure else open_names.discard)(ended.step.name)
                watch([r.step.name for r in running])
                yield ended
            if running:
                time.sleep(_PACE)
    finally:
        _stop(running)


def _hopeless(waiting: list[Step], failed: set[str]) -> list[Ended]:
    """The steps that need one which failed."""
    return [
        Ended(s, "not run, as it needs: " + ", ".join(n for n in s.after if n in failed))
        for s in waiting
        if failed & set(s.after)
    ]


def _startable(
    waiting: list[Step], open_names: set[str], running: list[_Running], processors: int
) -> list[Step]:
    """The steps to start now: those next in the list that need nothing, while they fit."""
    free = processors - sum(processors if r.step.wide else 1 for r in running)
    chosen = []
    for step in waiting:
        if not open_names & set(step.after):
            free -= processors if step.wide else 1
            if free < 0:
                break
            chosen.append(step)
    return chosen


def _collect(running: list[_Running]) -> list[Ended]:
    """Takes those that have ended out of the list."""
    found = [(r, r.poll()) for r in running]
    running[:] = [r for r, ended in found if ended is None]
    return [ended for _, ended in found if ended is not None]


def _stop(running: list[_Running]) -> None:
    """Interrupts, and kills what is left after a while, or when this is interrupted itself;
    children of those that went included."""
    stopped = list(running)
    try:
        for r in stopped:
            r.send(signal.SIGINT)
        patience = time.monotonic() + _GRACE
        while running and time.monotonic() < patience:
            _collect(running)
            time.sleep(_PACE)
    finally:
        for r in stopped:
            r.send(signal.SIGKILL)
    while running:
        _collect(running)
        time.sleep(_PACE)
