# SPDX-License-Identifier: BSD-2-Clause
"""A run of the tuner: points from searches to a device, results into the journal.

A result is in the journal before the next point is begun on its worker. Whatever ends a run, what
was done is kept, and the next run goes on behind it.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from daedalus.generator.tuning import journal
from daedalus.generator.tuning.entries import AGAIN, OK, Described, Result, Run, described, now
from daedalus.generator.tuning.entries import result_key as key_of
from daedalus.generator.tuning.hashes import Hashes
from daedalus.generator.tuning.search import Search
from daedalus.generator.tuning.space import Candidate
from daedalus.generator.tuning.task import Device, Known, Task

_PATIENCE = 0.5  # seconds between looks at the clock


@dataclass(frozen=True)
class Budget:
    """What a run may take: seconds, and points that are done; 0: no limit."""

    seconds: float = 0
    points: int = 0


@dataclass(frozen=True)
class Group:
    """Points that one is chosen of: a kernel's on a target, of a class."""

    kernel: str
    class_name: str
    target: str
    search: Search


@dataclass
class Outcome:
    """What became of a run.

    results  by group's number, of each point visited the result
    done     points that this run did; known: that an earlier one had
    """

    groups: Sequence[Group]
    results: dict[int, dict[Candidate, Result]] = field(default_factory=dict)
    done: int = 0
    known: int = 0
    ended: str = "done"
    seconds: float = 0.0
    problems: tuple[journal.Problem, ...] = ()

    @property
    def verdicts(self) -> Counter[str]:
        return Counter(r.verdict for found in self.results.values() for r in found.values())


class Tuner:
    """A run: make one, then `run` it."""

    def __init__(
        self, device: Device, groups: Sequence[Group], path: Path, hashes: Hashes,
        watch: Callable[[Result, bool], None] = lambda result, known: None,
    ) -> None:  # fmt: skip
        self._device, self._path, self._hashes, self._watch = device, path, hashes, watch
        found = journal.read(path)
        ids = {f.id for f in device.fingerprints}
        self._known: dict[tuple[str, str, str], dict[str, Result]] = {}
        results = [e for e in found.entries if isinstance(e, Result) and e.fingerprint in ids]
        for e in results:
            if device.holds(e):
                place = (e.fingerprint, e.point, e.scenario)
                self._known.setdefault(place, {})[e.key] = e
        there = {e.id for e in found.entries if isinstance(e, Described)}
        self._describe = [f for f in device.fingerprints if f.id not in there]
        self.outcome = Outcome(groups, {n: {} for n in range(len(groups))})
        self.outcome.problems = found.problems
        self._under_way: dict[Task, int] = {}
        self._turn = 0  # number of the group that is asked next
        self._asked = 0  # how often it was, one after the other

    def run(self, budget: Budget, command: str) -> Outcome:
        """Does points until there are none, or the budget is spent. Raises what interrupts it."""
        began = time.monotonic()
        out = self.outcome
        journal.append(self._path, *map(described, self._describe))
        try:
            out.ended = self._work(budget, began)
        except KeyboardInterrupt:
            out.ended = "interrupted"
            raise
        except BaseException:
            out.ended = "failed"
            raise
        finally:
            self._device.end()
            out.seconds = time.monotonic() - began
            points = sum(g.search.total for g in out.groups)
            journal.append(
                self._path,
                Run(
                    fingerprint=self._device.fingerprints[0].id, command=command,
                    points=points, done=out.done,
                    ended=out.ended, seconds=round(out.seconds, 1), when=now(),
                ),
            )  # fmt: skip
        return out

    def _work(self, budget: Budget, began: float) -> str:
        out, spent = self.outcome, False
        while True:
            while self._device.free and not spent:
                begun = out.done + len(self._under_way)
                spent = bool(budget.points) and begun >= budget.points
                spent |= bool(budget.seconds) and time.monotonic() - began >= budget.seconds
                found = None if spent else self._next()
                if found is None:
                    break
                number, task = found
                self._under_way[task] = number
                self._device.start(task)
            if not self._device.busy:
                return "budget" if spent and self._next() is not None else "done"
            for task, result in self._device.done(_PATIENCE):
                self._take(task, result)

    def _take(self, task: Task, result: Result | Known) -> None:
        out, number = self.outcome, self._under_way.pop(task)
        if isinstance(result, Known):
            out.known += 1
            self._told(number, task.candidate, self._known[_place(task)][result.key], known=True)
            self._hashes.add(task.point.variant, result.input_hash)
        else:
            if not self._device.writes:
                journal.append(self._path, result)
            out.done += 1
            if result.verdict not in AGAIN:
                self._hashes.add(task.point.variant, result.input_hash)
            self._told(number, task.candidate, result, known=False)

    def _told(self, number: int, candidate: Candidate, result: Result, *, known: bool) -> None:
        self.outcome.results[number][candidate] = result
        cost = result.median if result.verdict == OK else None
        self.outcome.groups[number].search.tell(candidate, cost)
        self._watch(result, known)

    def _next(self) -> tuple[int, Task] | None:
        """A point that is to be done, of each group in turn; those that are known are told."""
        idle = 0
        while idle < len(self.outcome.groups):
            group = self.outcome.groups[self._turn]
            candidate = group.search.ask() if self._asked < self._device.batch else None
            if candidate is None:
                idle += self._asked == 0
                self._turn = (self._turn + 1) % len(self.outcome.groups)
                self._asked = 0
                continue
            idle, number = 0, self._turn
            self._asked += 1
            task = self._task(group, candidate)
            kept = self._kept(task)
            if kept is None:
                return number, task
            self.outcome.known += 1
            self._told(number, candidate, kept, known=True)
        return None

    def _task(self, group: Group, candidate: Candidate) -> Task:
        scenario = self._device.scenario(group.target)
        fingerprint = self._device.fingerprint(candidate.compiler).id
        task = Task(group.kernel, candidate, scenario, fingerprint)
        return replace(task, known=frozenset(self._known.get(_place(task), ())))

    def _kept(self, task: Task) -> Result | None:
        """The point's result where one is known of the code as it is now."""
        input_hash = self._hashes.get(task.point.variant)
        if input_hash is None or not task.known:
            return None
        key = key_of(str(task.point), task.scenario, input_hash)
        return self._known[_place(task)].get(key)


def _place(task: Task) -> tuple[str, str, str]:
    """What results of a point are found by."""
    return task.fingerprint, str(task.point), task.scenario
