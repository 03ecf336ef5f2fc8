# SPDX-License-Identifier: BSD-2-Clause
"""Processes that do points side by side, one at a time each.

They are in process groups of their own, so that an interrupt reaches the one that directs them
alone: a compiler that it ended would else count as a point that failed. They end with it, however
that ends.
"""

import contextlib
import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_SET_DEATH_SIGNAL = 1  # of prctl(2)


class Lost(Exception):
    """A worker ended before its task did."""


class Workers(Generic[T, R]):
    """So many processes that apply a function to tasks; the function is one of a module."""

    def __init__(self, count: int, function: Callable[[T], R]) -> None:
        self._function = function
        self._context = multiprocessing.get_context("spawn")
        self._idle: list[_Worker[T, R]] = []
        self._busy: dict[Connection, tuple[_Worker[T, R], T]] = {}
        self._count = count

    @property
    def free(self) -> bool:
        """Whether a task would be begun at once."""
        return len(self._busy) < self._count

    @property
    def busy(self) -> bool:
        """Whether a task is being done."""
        return bool(self._busy)

    def start(self, task: T) -> None:
        """Has a free worker do a task."""
        worker = self._idle.pop() if self._idle else _Worker(self._context, self._function)
        worker.pipe.send(task)
        self._busy[worker.pipe] = worker, task

    def done(self, patience: float) -> Iterator[tuple[T, R | Lost]]:
        """Tasks that were done meanwhile, waiting so many seconds for the first."""
        for pipe in wait(list(self._busy), patience):
            assert isinstance(pipe, Connection)
            worker, task = self._busy.pop(pipe)
            try:
                result: R = pipe.recv()
            except EOFError:
                worker.process.join()
                yield task, Lost(f"its process ended with {worker.process.exitcode}")
                continue
            self._idle.append(worker)
            yield task, result

    def end(self) -> None:
        """Ends all of them, tasks and what these have started included."""
        for worker in [*self._idle, *(w for w, _ in self._busy.values())]:
            worker.end()
        self._idle, self._busy = [], {}


class _Worker(Generic[T, R]):
    process: BaseProcess

    def __init__(
        self, context: multiprocessing.context.SpawnContext, function: Callable[[T], R]
    ) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, function, os.getpid()))
        # An interrupt while it starts is not for it either.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def end(self) -> None:
        """Ends the process and its children."""
        self.pipe.close()
        assert self.process.pid is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.process.is_alive():  # it has no group of its own yet
            self.process.kill()
        self.process.join()


def _serve(pipe: Connection, function: Callable[[T], R], parent: int) -> None:
    """What a worker does until nobody has tasks any more."""
    with contextlib.suppress(PermissionError):
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        return
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(function(task))
