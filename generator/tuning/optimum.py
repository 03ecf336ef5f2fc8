# SPDX-License-Identifier: BSD-2-Clause
"""What the tuner finds, held against all points: searches done again on results that are known.

The optimum is the least of all results of a class, however they came about. A search is then asked
for its points as in a run, and told what the journal has; nothing is done anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from daedalus.generator.compile.registry import Entry
from daedalus.generator.tuning.best import best, timed
from daedalus.generator.tuning.compare import Side
from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.plan import groups_of, spaces_of
from daedalus.generator.tuning.point import parse_point
from daedalus.generator.tuning.search import Sampled, Search
from daedalus.generator.tuning.space import Candidate, Space, recorded

HALF = 0.5  # of a class's points, that a search as of large spaces may visit here
Results = dict[Candidate, Result]


@dataclass(frozen=True)
class Found:
    """What a search comes to: the point it would name, None without any, and how many it visits.

    unknown  points it asked for that the journal has no result of
    """

    taken: Result | None
    visited: int
    unknown: int

    @property
    def ns(self) -> float | None:
        return self.taken.median if self.taken else None


@dataclass(frozen=True)
class Judged:
    """A kernel's points on a target, of a class.

    points, known, timed  there are; of these with a result; with a time
    optimum               the least of all
    tuned, quick, half    what the tuner finds, a quick run, and the search of large spaces with
                          half of the points
    recorded              the least of the variants that options.toml lists
    """

    kernel: str
    class_name: str
    target: str
    side: Side
    points: int
    known: int
    timed: int
    optimum: Result | None
    tuned: Found
    quick: Found | None
    half: Found
    recorded: Result | None

    @property
    def complete(self) -> bool:
        """Whether every point is known: only then there is an optimum to speak of."""
        return self.known == self.points

    @property
    def complaint(self) -> str:
        """What is wrong with what the tuner found, in words; "" where nothing is."""
        ns = self.tuned.ns
        if self.optimum is None:
            return ""
        if ns is None or ns > _ns(self.optimum):
            return f"the tuner's best is not {self.optimum.point}"
        if self.recorded is not None and ns > _ns(self.recorded):
            return f"{self.recorded.point} is on record, and faster"
        if self.complete and self.tuned.unknown:
            return "the search leaves the space"
        return ""


def _ns(result: Result) -> float:
    assert result.median is not None
    return result.median


def _least(results: Sequence[Result]) -> Result | None:
    return min(results, key=_ns) if results else None


def judge(entries: Sequence[Entry], targets: Sequence[str], listed: Sequence[str],
          sides: Sequence[Side]) -> list[Judged]:  # fmt: skip
    """Every class of the kernels and targets that a side has results of, in order."""
    known = {s.fingerprint: {r.point: r for r in s.results.values()} for s in sides}
    spaces = spaces_of(entries, targets)
    tuned = _searches(entries, spaces, listed, quick=False)
    quick = _searches(entries, spaces, listed, quick=True)
    by_id = {e.kernel.id: e for e in entries}
    out = []
    for space in spaces:
        entry = by_id[space.kernel_id]
        there = set(space.candidates)
        first = [c for c in recorded(entry, space.target) if c in there]
        all_of_it = first if space.target in listed else space.candidates
        for class_name in entry.kernel.class_names:
            own = [c for c in all_of_it if c.options.class_name == class_name]
            place = (space.kernel_id, space.target, class_name)
            side, results = _most(own, space.kernel_id, sides, known)
            if side is not None and place in tuned:
                on_record = [c for c in first if c in own]
                out.append(_judged(place, side, own, on_record, results, tuned[place],
                                   quick.get(place)))  # fmt: skip
    return out


def _searches(
    entries: Sequence[Entry], spaces: Sequence[Space], listed: Sequence[str], *, quick: bool
) -> dict[tuple[str, str, str], Search]:
    groups = groups_of(entries, spaces, quick=quick, listed=listed)
    return {(g.kernel, g.target, g.class_name): g.search for g in groups}


def _most(
    own: Sequence[Candidate], kernel: str, sides: Sequence[Side],
    known: dict[str, dict[str, Result]],
) -> tuple[Side | None, Results]:  # fmt: skip
    """The side that has most of the points, the last of those that have as many."""
    side: Side | None = None
    most: Results = {}
    for s in sides:
        results = known[s.fingerprint]
        found = {c: results[p] for c in own if (p := str(c.point(kernel))) in results}
        if found and len(found) >= len(most):
            side, most = s, found
    return side, most


def _judged(
    place: tuple[str, str, str], side: Side, own: Sequence[Candidate], first: Sequence[Candidate],
    results: Results, tuned: Search, quick: Search | None,
) -> Judged:  # fmt: skip
    kernel, target, class_name = place
    # Not by the space, of which something may be missing.
    every = [(parse_point(r.point), r) for r in side.results.values() if timed(r)]
    times = [r for p, r in every if (p.kernel, p.target, p.item_class) == place]
    listed = [results[c] for c in first if c in results and timed(results[c])]
    half = Sampled("half", first[:1], own, max(1, int(HALF * len(own))))
    return Judged(
        kernel, class_name, target, side, len(own), len(results), len(times),
        _least(times), replay(tuned, results),
        replay(quick, results) if quick else None, replay(half, results),
        _least(listed),
    )  # fmt: skip


def replay(search: Search, results: Results) -> Found:
    """Has a search find what it would have found with these results."""
    visited = unknown = 0
    found: list[Result] = []
    while (c := search.ask()) is not None:
        visited += 1
        r = results.get(c)
        unknown += r is None
        if r is not None and timed(r):
            found.append(r)
        search.tell(c, r.median if r is not None and timed(r) else None)
    return Found(best(found).taken if found else None, visited, unknown)
