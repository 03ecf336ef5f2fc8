# SPDX-License-Identifier: BSD-2-Clause
"""Which of several conditions holds only where all of them do."""

from collections.abc import Sequence

from daedalus.dsl.ir import Node, Op
from daedalus.dsl.ranges import Ranges

# x > y + n for an x and a y: both sides but for n -> n
Limits = dict[tuple[frozenset[tuple[Node | None, int]], ...], int]


def strongest(masks: Sequence[Node | None], ranges: Ranges) -> tuple[Node | None] | None:
    """The condition that implies all others; None where none is known to.

    No condition holds everywhere. What is known is of conjunctions of comparisons: x > y + n holds
    where x > y + m does, if n <= m.
    """
    if len(set(masks)) == 1:
        return (masks[0],)
    limits = [_limits(m, ranges) for m in masks]
    for mask, mine in zip(masks, limits, strict=True):
        if all(all(k in mine and mine[k] >= n for k, n in other.items()) for other in limits):
            return (mask,)
    return None


def _limits(n: Node | None, ranges: Ranges) -> Limits:
    """What a condition is the conjunction of; one of another kind is a limit of its own."""
    if n is None:
        return {}
    if n.op is Op.AND:
        found: Limits = {}
        for part in n.args:
            for key, least in _limits(part, ranges).items():
                found[key] = max(found.get(key, least), least)
        return found
    if n.op is not Op.GT:
        return {(frozenset({(n, 1)}),): 0}
    left, right = (dict(ranges.form(a)) for a in n.args)
    least = right.pop(None, 0) - left.pop(None, 0)
    return {(frozenset(left.items()), frozenset(right.items())): least}
