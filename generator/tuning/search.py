# SPDX-License-Identifier: BSD-2-Clause
"""Which points of a space are tried, and in which order.

Spaces of up to EXHAUSTIVE points are tried whole: what is on record first, then simple ones. Larger
ones are sampled: what is on record, random points, then neighbours of the best ones.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

from daedalus.generator.tuning.space import WORKGROUPS, Candidate

EXHAUSTIVE = 500  # points of a kernel and target
RANDOM = 0.2  # of the points of a larger space
SEED = 1


class Search:
    """Points of one kernel, target and class.

    Ask, do what one is given, and tell; several may be under way at once.
    """

    def __init__(self, name: str, first: Sequence[Candidate], rest: Sequence[Candidate]) -> None:
        self.name = name
        self._left = [*first, *(c for c in rest if c not in set(first))]
        self.reach: Sequence[Candidate] = tuple(self._left)  # all that may be asked for
        self.visited = 0

    @property
    def total(self) -> int:
        """Points that will be asked for, as far as that is known."""
        return self.visited + len(self._left)

    def ask(self) -> Candidate | None:
        """The next point; None where there is none, at least before more is told."""
        if not self._left:
            return None
        self.visited += 1
        return self._left.pop(0)

    def tell(self, candidate: Candidate, cost: float | None) -> None:
        """What a point takes; None where it has no time."""


class Sampled(Search):
    """Random points, then the neighbours of the best of them, until `most` points are visited.

    When every neighbour of the best is known the next best one's are looked at.
    """

    def __init__(
        self, name: str, first: Sequence[Candidate], rest: Sequence[Candidate], most: int,
        seed: int = SEED,
    ) -> None:  # fmt: skip
        others = [c for c in rest if c not in set(first)]
        drawn = random.Random(seed).sample(others, min(len(others), int(len(rest) * RANDOM)))
        super().__init__(name, [*first, *drawn], ())
        self.reach = (*first, *others)
        self._unseen = set(others) - set(drawn)
        self._most = max(most, len(first))
        self._costs: dict[Candidate, float] = {}

    @property
    def total(self) -> int:
        return min(self._most, self.visited + len(self._left) + len(self._unseen))

    def ask(self) -> Candidate | None:
        if self.visited >= self._most:
            return None
        if not self._left:
            found = self._next()
            if found is not None:
                self._unseen.discard(found)
                self._left.append(found)
        return super().ask()

    def tell(self, candidate: Candidate, cost: float | None) -> None:
        if cost is not None:
            self._costs[candidate] = cost

    def _next(self) -> Candidate | None:
        for known in sorted(self._costs, key=lambda c: (self._costs[c], c)):
            near = sorted(c for c in neighbours(known) if c in self._unseen)
            if near:
                return near[0]
        return None


def neighbours(c: Candidate) -> Iterable[Candidate]:
    """Points that differ in one choice: a switch, one step of a number, a compiler."""
    s = c.options
    for word in s.words():
        value = s.choice(word.field)
        others = _beside(word.values, value) if word.values else [not value]
        for other in others:
            yield replace(c, options=s.with_choice(word.field, other))
    if c.compiler:
        yield replace(c, compiler={"gcc": "clang", "clang": "gcc"}[c.compiler])
    if c.workgroup:
        for size in _beside(WORKGROUPS, c.workgroup):
            yield replace(c, workgroup=size)


def _beside(steps: Sequence[int], value: int) -> list[int]:
    at = steps.index(value)
    return [steps[n] for n in (at - 1, at + 1) if 0 <= n < len(steps)]
