# SPDX-License-Identifier: BSD-2-Clause
"""How a stage is walked: loops around a vector, and a long or limited axis a vector at a time.

An axis whose extent a parameter decides, or that is longer than registers hold, is cut into strips
as wide as a vector; what is left at its end is done point by point in scalar C.
"""

from dataclasses import dataclass, replace

from daedalus.dsl.ir import Kernel, Node, Op, Stage, parts
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.expand_dot import expand_dot
from daedalus.generator.passes.panels import lanes_at_once
from daedalus.generator.passes.tile import divide_axis
from daedalus.generator.targets.neon.lanes import Lanes

_LONGEST = 32  # lanes that are kept in registers all at once


@dataclass(frozen=True)
class Walk:
    """A stage as the back end goes through it.

    vector  what a vector does; its loops are the stage's
    point   the stage as it was, without DOT, which portable C has not: what one lane does
    axis    the axis cut into strips, "" where none is
    lanes   points of that axis in a strip
    bounded  stores that a strip does all or not at all, by their number
    """

    vector: Stage
    point: Stage
    axis: str = ""
    lanes: int = 0
    bounded: frozenset[int] = frozenset()

    @property
    def limits(self) -> dict[str, Node]:
        return dict(self.point.limits)

    @property
    def plain(self) -> bool:
        """One vector does it, unconditionally."""
        return (
            not self.axis
            and len(self.vector.dims) == self.vector.vector
            and (self.point.given is None)
        )


def walks_of(kernel: Kernel) -> tuple[Kernel, tuple[Walk, ...]]:
    """The kernel of single points, and how each of its stages is walked."""
    points = expand_dot(kernel)
    both = zip(kernel.stages, points.stages, strict=True)
    return points, tuple(replace(_walk(kernel, s), point=p) for s, p in both)


def _walk(kernel: Kernel, stage: Stage) -> Walk:
    axis, extent = stage.dims[-1]
    if stage.vector > 1 or (axis not in dict(stage.limits) and _all_at_once(stage, extent)):
        return Walk(stage, stage)
    ranges = Ranges(kernel)
    narrowest = min(ranges.dtype(s.buffer).bits for s in stage.stores)
    lanes = 128 // narrowest
    while lanes > 4 and lanes > extent:
        lanes //= 2
    cut = replace(stage, limits=tuple(x for x in stage.limits if x[0] != axis))
    bounded = frozenset(
        n
        for n, s in enumerate(stage.stores)
        if s.mask is not None and one_sided(stage, s.mask, ranges)
    )
    return Walk(divide_axis(kernel, cut, axis, lanes), stage, axis, lanes, bounded)


def _all_at_once(stage: Stage, extent: int) -> bool:
    """Whether registers hold so many lanes; more than usual where they have few values each."""
    return extent <= _LONGEST or extent == lanes_at_once(stage)


@dataclass(frozen=True)
class Bound:
    """A condition on the lane's number that holds for a whole strip if it holds at one lane."""

    condition: Node
    at: int  # the lane


def bounds(walk: Walk, ranges: Ranges) -> list[Bound]:
    """What must hold for all stores of a strip to happen: of similar conditions the hardest."""
    found: dict[tuple[object, ...], tuple[int, Bound]] = {}
    for n in sorted(walk.bounded):
        mask = walk.point.stores[n].mask
        for condition in parts(mask) if mask is not None else []:
            form = excess(condition, ranges)
            rest = frozenset((term, c) for term, c in form.items() if term is not None and c)
            own = [
                c for t, c in rest if t is not None and t.op is Op.LANE and t.attr[0] == walk.axis
            ]
            rising = sum(own) > 0
            bound = Bound(condition, walk.lanes - 1 if rising else 0)
            const = form.get(None, 0)
            if (rest,) not in found or found[rest,][0] < const:
                found[rest,] = const, bound
    return [bound for _, bound in found.values()]


def excess(condition: Node, ranges: Ranges) -> dict[Node | None, int]:
    """The linear form that is at most 0 where a comparison holds."""
    a, b = (ranges.form(x) for x in condition.args)
    if condition.op is Op.GT:
        a, b = {**b, None: b.get(None, 0) + 1}, a
    return {t: a.get(t, 0) - b.get(t, 0) for t in {**a, **b}}


def one_sided(stage: Stage, mask: Node, ranges: Ranges) -> bool:
    """Whether a mask is made of comparisons that hold on one side of some lane."""
    across = Lanes(stage, 1)
    return all(
        c.op in (Op.LE, Op.GT)
        and all(
            term is None or term.op is Op.LANE or across.uniform(term) for term in excess(c, ranges)
        )
        for c in parts(mask)
    )
