# SPDX-License-Identifier: BSD-2-Clause
"""Which of several results is the best: intervals that overlap are a tie, and the simplest wins.

That is so of measured ones. What a model leaves open it leaves open of all points alike, so
modelled ones tie where they are equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from daedalus.generator.tuning.entries import OK, Entry, Result
from daedalus.generator.tuning.point import COMPILERS, Point, parse_point


def timed(entry: Entry) -> bool:
    """Whether an entry is a result with times."""
    return isinstance(entry, Result) and entry.verdict == OK


def interval(result: Result) -> tuple[float, float]:
    """ns an item, of a result with the verdict ok."""
    assert result.low is not None and result.high is not None
    return result.low, result.high


def overlap(a: Result, b: Result) -> bool:
    """Whether two results are a tie."""
    if a.modelled and b.modelled:
        return a.median == b.median
    (a_low, a_high), (b_low, b_high) = interval(a), interval(b)
    return a_low <= b_high and b_low <= a_high


def simplicity(point: Point) -> tuple[object, ...]:
    """Orders points, the simplest first: fewest choices in the name, the first compiler, the
    smallest workgroup, then by text."""
    choices = point.options.split("_")
    compiler = COMPILERS.index(point.compiler) if point.compiler else 0
    return (len(choices), compiler, point.workgroup, str(point))


@dataclass(frozen=True)
class Best:
    """fastest: the lowest median; taken: the simplest of all that tie with it; ties: the others
    of them, the fastest first."""

    fastest: Result
    taken: Result
    ties: tuple[Result, ...]


def best(results: Sequence[Result]) -> Best:
    """The best of results with times, of the same kind of items and machine."""
    order = sorted(results, key=lambda r: (r.median, r.point))
    fastest = order[0]
    tied = [r for r in order if overlap(r, fastest)]
    taken = min(tied, key=lambda r: simplicity(parse_point(r.point)))
    return Best(fastest, taken, tuple(r for r in tied if r is not taken))
