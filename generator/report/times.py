# SPDX-License-Identifier: BSD-2-Clause
"""Times of variants, as a journal has them: bars of a class of items, and curves of workgroups."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from daedalus.generator.report.sources import Sources
from daedalus.generator.tuning.best import best, timed
from daedalus.generator.tuning.compare import Side
from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.point import Point, parse_point
from daedalus.generator.tuning.recipe import Recipe
from daedalus.generator.tuning.rules import Decision

SHOWN = 10  # bars of a group that stand open; the others are folded away
CURVES = 6  # variants of a chart: those that are fastest at some workgroup


@dataclass(frozen=True)
class Bar:
    """A point with its time. `code`: its file below generated/, where that is the code measured.

    taken, other  what the recipe takes of the class, and what it takes on the other substrate
    tie           its interval overlaps that of the fastest of its target
    """

    result: Result
    point: Point
    code: str | None
    taken: bool
    other: bool
    tie: bool


@dataclass(frozen=True)
class Rejected:
    """Points without a time that have the reason in common; such_as is one of them."""

    verdict: str
    reason: str
    points: int
    such_as: str


@dataclass(frozen=True)
class Curve:
    """A variant at several workgroups, the smallest first."""

    variant: str
    route: str
    scenario: str
    points: tuple[tuple[int, Result], ...]


@dataclass(frozen=True)
class Group:
    """Items of a class of a kernel: all that was done of them, the fastest first.

    top      ns an item that the bars' axis reaches
    curves   the variants that were fastest at some workgroup; more_curves: how many others
    """

    kernel: str
    item_class: str
    bars: tuple[Bar, ...]
    rejected: tuple[Rejected, ...]
    top: float
    curves: tuple[Curve, ...]
    more_curves: int


def groups(side: Side, sources: Sources, recipe: Recipe) -> tuple[Group, ...]:
    """Of one machine, in the order of kernels and classes; `recipe`: what is taken of them."""
    found: dict[tuple[str, str], list[Result]] = {}
    for r in side.results.values():
        p = parse_point(r.point)
        if p.kernel in sources.kernels:
            found.setdefault((p.kernel, p.item_class), []).append(r)
    decided = {(d.kernel, d.item_class): d for d in recipe.decisions}
    return tuple(
        _group(*place, found[place], sources, decided.get(place)) for place in sorted(found)
    )


def foreign(side: Side, sources: Sources) -> int:
    """How many results are of kernels that generated/ has not."""
    kernels = [parse_point(r.point).kernel for r in side.results.values()]
    return sum(k not in sources.records for k in kernels)


def _group(
    kernel: str, item_class: str, results: Sequence[Result], sources: Sources,
    decision: Decision | None,
) -> Group:  # fmt: skip
    good = sorted((r for r in results if timed(r)), key=lambda r: (r.median, r.point))
    curves = tuple(_curves(good))
    return Group(
        kernel, item_class, _bars(good, sources, decision),
        _rejected(r for r in results if not timed(r)),
        max((r.high or 0 for r in good), default=0), curves[:CURVES], len(curves[CURVES:]),
    )  # fmt: skip


def _bars(good: Sequence[Result], sources: Sources, decision: Decision | None) -> tuple[Bar, ...]:
    competing: dict[tuple[str, str], list[Result]] = {}
    for r in good:
        competing.setdefault((parse_point(r.point).target, r.scenario), []).append(r)
    ties: set[int] = set()
    for rivals in competing.values():
        b = best(rivals)
        ties |= {id(t) for t in (b.taken, *b.ties) if b.ties}
    taken, other = (decision.chosen, decision.other) if decision else (None, None)
    return tuple(
        Bar(r, parse_point(r.point), _code(r, sources), r == taken, r == other, id(r) in ties)
        for r in good
    )


def _code(r: Result, sources: Sources) -> str | None:
    variant = sources.variants.get(parse_point(r.point).variant)
    if variant is None or variant["input_hash"] != r.input_hash:
        return None
    return str(variant["file"])


def _rejected(results: Iterable[Result]) -> tuple[Rejected, ...]:
    reasons: Counter[tuple[str, str]] = Counter()
    such_as: dict[tuple[str, str], str] = {}
    for r in sorted(results, key=lambda r: r.point):
        why = (r.verdict, r.reason)
        reasons[why] += 1
        such_as.setdefault(why, r.point)
    return tuple(Rejected(*why, n, such_as[why]) for why, n in reasons.most_common())


def _curves(good: Iterable[Result]) -> list[Curve]:
    """Those of two workgroups or more, the ones that are fastest somewhere first."""
    found: dict[tuple[str, str, str], dict[int, Result]] = {}
    for r in good:
        p = parse_point(r.point)
        if p.workgroup:
            found.setdefault((p.variant, p.route, r.scenario), {})[p.workgroup] = r
    curves = [
        Curve(*what, tuple(sorted(by_size.items())))
        for what, by_size in found.items()
        if len(by_size) > 1
    ]
    return sorted(curves, key=lambda c: min(r.median or 0 for _, r in c.points))
