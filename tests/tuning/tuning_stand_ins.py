# SPDX-License-Identifier: BSD-2-Clause
"""A device that knows what points take, for tests of what drives devices."""

from collections.abc import Callable, Iterator

from daedalus.generator.compile.registry import find, load
from daedalus.generator.tuning import journal
from daedalus.generator.tuning.entries import Result, now, result_key
from daedalus.generator.tuning.fingerprint import Fingerprint
from daedalus.generator.tuning.journal import Terms
from daedalus.generator.tuning.plan import spaces_of
from daedalus.generator.tuning.run import Group
from daedalus.generator.tuning.search import Search
from daedalus.generator.tuning.space import Candidate, Space
from daedalus.generator.tuning.task import Known, Task

HASH = "0123456789abcdef"
Verdict = Callable[[Candidate], tuple[str, float]]


def cost_of(c: Candidate) -> float:
    """A landscape with more than one valley: words help beside each other, and sizes differ."""
    own = c.options.choice
    ns = 100.0 + 3 * abs(own("points") - 4) + (0 if own("word") or own("unaligned") else 40)
    ns += 5 if own("signs") != own("early_out") else 0
    ns -= 8 if own("signs") and own("early_out") else 0
    ns += 0.05 * abs(c.workgroup - 128) + (7 if own("pack") else 0)
    ns -= 4 if own("pack") and own("word") else 0
    return ns + 0.01 * (hash_of(c) % 97)


def hash_of(c: Candidate) -> int:
    """The same number for the same candidate, on every run."""
    return sum(ord(x) * n for n, x in enumerate(f"{c.options.name} {c.workgroup}", 1))


def fine(c: Candidate) -> tuple[str, float]:
    """Every point works."""
    return "ok", cost_of(c)


def fingerprint(name: str = "a stand-in") -> Fingerprint:
    return Fingerprint(f"model of {name}", "-", "-", "-", "-", "-", "-")


class StandIn:
    """Two points at once; results come in the other order than they were asked for."""

    writes = False
    batch = 2
    targets: tuple[str, ...] = ("c", "neon", "glsl", "qpu")

    def __init__(
        self, verdict: Verdict = fine, name: str = "a stand-in", terms: Terms | None = None
    ) -> None:
        """With terms its results are measured, and just as these ask for."""
        self.verdict, self.fingerprints = verdict, (fingerprint(name),)
        self.terms, self._modelled = terms or Terms(), terms is None
        self.asked: list[Task] = []
        self.ended = 0
        self._under_way: list[Task] = []

    def fingerprint(self, compiler: str) -> Fingerprint:
        return self.fingerprints[0]

    def is_here(self, target: str) -> bool:
        return True

    def scenario(self, target: str) -> str:
        return "model items=8"

    def holds(self, result: Result) -> bool:
        return journal.settled(result, self.terms)

    @property
    def free(self) -> bool:
        return len(self._under_way) < 2

    @property
    def busy(self) -> bool:
        return bool(self._under_way)

    def start(self, task: Task) -> None:
        self.asked.append(task)
        self._under_way.append(task)

    def done(self, patience: float) -> Iterator[tuple[Task, Result | Known]]:
        task = self._under_way.pop()
        point = str(task.point)
        key = result_key(point, task.scenario, HASH)
        if key in task.known:
            yield task, Known(key, HASH)
            return
        verdict, ns = self.verdict(task.candidate)
        ok = verdict == "ok"
        yield task, Result(
            fingerprint=task.fingerprint, key=key, point=point, scenario=task.scenario,
            verdict=verdict, reason="" if ok else "for the test", modelled=self._modelled,
            median=ns if ok else None, mad=0.0 if ok else None, low=ns if ok else None,
            high=1.1 * ns if ok else None, samples=max(self.terms.samples, 1) if ok else 0,
            seconds=self.terms.seconds if ok else None, items=8, seeds=(1,), verified_before=True,
            verified_after=True, input_hash=HASH, when=now(),
        )  # fmt: skip

    def end(self) -> None:
        self.ended += 1
        self._under_way = []


def space_of(kernel: str, target: str) -> Space:
    entry = find(load(), kernel)
    assert entry is not None
    (found,) = spaces_of([entry], [target])
    return found


def group(search: Search, kernel: str = "vp9_lpf4_v", target: str = "glsl") -> Group:
    return Group(kernel, "full", target, search)
