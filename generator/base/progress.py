# SPDX-License-Identifier: BSD-2-Clause
"""Progress of long work: a line that changes on a terminal, plain lines elsewhere, or nothing.

Whoever works calls `say`; the verb decides, by opening `progress`, how that is shown. It goes to
stderr, so results can be piped. With --json a verb opens it quiet: then nothing is shown.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from daedalus.generator.base.console import console

PACE = 10.0  # seconds between two plain lines that only count


class Shown:
    """How progress is shown now."""

    def say(self, text: str) -> None:
        """Tells what is being done."""

    def advance(self, done: int) -> None:
        """Counts what is done."""


class _Quiet(Shown):
    pass


class _Plain(Shown):
    """Lines, as a log keeps them: each thing that is done once, counts where one thing lasts."""

    def __init__(self, total: int | None) -> None:
        self._total, self._done = total, 0
        self._last, self._counted = "", time.monotonic()

    def say(self, text: str) -> None:
        if text != self._last:
            self._last, self._counted = text, time.monotonic()
            far = f" ({self._done} of {self._total} done)" if self._done and self._total else ""
            console.print(text + far, markup=False, soft_wrap=True)

    def advance(self, done: int) -> None:
        self._done += done
        now = time.monotonic()
        if self._total and now - self._counted >= PACE:
            self._counted = now
            line = f"{self._last}: {self._done} of {self._total}"
            console.print(line, markup=False, soft_wrap=True)


class _Live(Shown):
    """A line on the terminal that changes, and is gone in the end."""

    def __init__(self, bar: Progress, total: int | None) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=total)

    def say(self, text: str) -> None:
        self._bar.update(self._task, description=text)

    def advance(self, done: int) -> None:
        self._bar.advance(self._task, done)


_current: list[Shown] = []


@contextmanager
def progress(total: int | None = None, *, quiet: bool = False) -> Iterator[Shown]:
    """Shows what `say` tells until the end of the block; inside another one, that goes on.

    total  how much there is to `advance` over, where that is known
    """
    if _current:
        yield _current[-1]
        return
    with _shown(total, quiet) as shown:
        _current.append(shown)
        try:
            yield shown
        finally:
            _current.pop()


@contextmanager
def _shown(total: int | None, quiet: bool) -> Iterator[Shown]:
    if quiet:
        yield _Quiet()
    elif not console.is_terminal:
        yield _Plain(total)
    else:
        columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
        counted = [BarColumn(), MofNCompleteColumn()] if total else []
        with Progress(*columns, *counted, TimeElapsedColumn(), console=console,
                      transient=True) as bar:  # fmt: skip
            yield _Live(bar, total)


def say(text: str) -> None:
    """Tells what is being done; a plain line where no verb shows progress."""
    (_current[-1] if _current else _Plain(None)).say(text)
