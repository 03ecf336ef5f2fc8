# SPDX-License-Identifier: BSD-2-Clause
"""What a device is asked to do, and what it gives back: the interface of all devices."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.fingerprint import Fingerprint
from daedalus.generator.tuning.point import Point
from daedalus.generator.tuning.space import Candidate


@dataclass(frozen=True)
class Task:
    """A point to do.

    known  keys of results of this point that are there already: whether one of them is of the code
           as it is now, only its input hash tells
    """

    kernel: str
    candidate: Candidate
    scenario: str
    fingerprint: str
    known: frozenset[str] = frozenset()

    @property
    def point(self) -> Point:
        return self.candidate.point(self.kernel)


@dataclass(frozen=True)
class Known:
    """The point's result is known: which, and the hash that showed it."""

    key: str
    input_hash: str


class Device(Protocol):
    """Where points are done: measured or modelled.

    writes  whether it writes results into the journal itself
    batch   points of a group that are best asked for one after the other
    """

    targets: tuple[str, ...]
    writes: bool
    batch: int

    @property
    def fingerprints(self) -> tuple[Fingerprint, ...]:
        """What results may be under."""

    def fingerprint(self, compiler: str) -> Fingerprint:
        """What results are under of points that a compiler compiles; "" of others."""

    def is_here(self, target: str) -> bool:
        """Whether points of a target can be done."""

    def scenario(self, target: str) -> str:
        """How points of a target are done."""

    def holds(self, result: Result) -> bool:
        """Whether a known result is as good as this device would have it: others are taken anew."""

    @property
    def free(self) -> bool:
        """Whether another task would be begun at once."""

    @property
    def busy(self) -> bool:
        """Whether a task is being done."""

    def start(self, task: Task) -> None:
        """Begins a task."""

    def done(self, patience: float) -> Iterator[tuple[Task, Result | Known]]:
        """What was done meanwhile; waits so many seconds for the first."""

    def end(self) -> None:
        """Ends what is being done."""
