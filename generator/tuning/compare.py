# SPDX-License-Identifier: BSD-2-Clause
"""Two journals, or two machines in them, set beside each other point by point."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from daedalus.generator.tuning.best import interval, overlap
from daedalus.generator.tuning.entries import OK, Described, Entry, Result
from daedalus.generator.tuning.fingerprint import Fingerprint
from daedalus.generator.tuning.journal import latest, replaces

TIE, FASTER, SLOWER = "tie", "faster", "slower"


@dataclass(frozen=True)
class Side:
    """The results of one fingerprint, of each point and scenario the last that says something.

    fingerprint  its id; described: its parts, None where no line tells them
    wrong        point and input hash of every result that was found wrong, whatever came later
    """

    fingerprint: str
    described: Fingerprint | None
    results: dict[tuple[str, str], Result] = field(repr=False)
    wrong: frozenset[tuple[str, str]] = frozenset()

    @property
    def modelled(self) -> bool:
        return any(r.modelled for r in self.results.values())

    def words(self) -> str:
        """It in a line, for people."""
        told = self.described.words() if self.described else "no line describes it"
        return f"{self.fingerprint} ({told})"


def sides(entries: Sequence[Entry]) -> dict[str, Side]:
    """The results of a journal by fingerprint, in the order in which these come up."""
    described = {e.id: e.fingerprint for e in entries if isinstance(e, Described)}
    every = [e for e in entries if isinstance(e, Result)]
    results = latest(every)
    wrong: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for r in every:
        if r.verdict == "wrong":
            wrong[r.fingerprint].add((r.point, r.input_hash))
    found: dict[str, Side] = {}
    for r in sorted(results, key=lambda r: r.when):  # the code may have changed, not the point
        id_ = r.fingerprint
        side = found.setdefault(id_, Side(id_, described.get(id_), {}, frozenset(wrong[id_])))
        have = side.results.get((r.point, r.scenario))
        if have is None or replaces(r, have):
            side.results[r.point, r.scenario] = r
    order = {e.fingerprint: n for n, e in reversed(list(enumerate(entries)))
             if isinstance(e, Result)}  # fmt: skip
    return dict(sorted(found.items(), key=lambda item: order[item[0]]))


@dataclass(frozen=True)
class Pair:
    """One point of both sides. Where both have times: b's by a's, with the interval that follows
    from theirs, and whether b is faster, slower, or a tie; else both verdicts."""

    a: Result
    b: Result

    @property
    def both_timed(self) -> bool:
        return self.a.verdict == OK == self.b.verdict

    @property
    def ratio(self) -> tuple[float, float, float]:
        """The ratio of the medians, its lowest and its highest value."""
        (a_low, a_high), (b_low, b_high) = interval(self.a), interval(self.b)
        assert self.a.median is not None and self.b.median is not None
        return _by(self.b.median, self.a.median), _by(b_low, a_high), _by(b_high, a_low)

    @property
    def says(self) -> str:
        if not self.both_timed:
            same = self.a.verdict == self.b.verdict
            return self.a.verdict if same else f"{self.a.verdict} -> {self.b.verdict}"
        if overlap(self.a, self.b):
            return TIE
        return FASTER if interval(self.b)[1] < interval(self.a)[0] else SLOWER


def _by(value: float, base: float) -> float:
    return value / base if base else float("inf")


@dataclass(frozen=True)
class Comparison:
    """pairs: in a's order; only_a, only_b: points and scenarios of one side."""

    a: Side
    b: Side
    pairs: tuple[Pair, ...]
    only_a: tuple[tuple[str, str], ...]
    only_b: tuple[tuple[str, str], ...]

    def counts(self) -> dict[str, int]:
        """How often each thing is said."""
        said = [p.says for p in self.pairs]
        return {what: said.count(what) for what in dict.fromkeys((FASTER, SLOWER, TIE, *said))}


def compare(a: Side, b: Side) -> Comparison:
    """Sets two sides beside each other."""
    both = [k for k in a.results if k in b.results]
    return Comparison(
        a, b, tuple(Pair(a.results[k], b.results[k]) for k in both),
        tuple(k for k in a.results if k not in b.results),
        tuple(k for k in b.results if k not in a.results),
    )  # fmt: skip
