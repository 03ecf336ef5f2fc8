# SPDX-License-Identifier: BSD-2-Clause
"""Conditions on the lane's number: which lanes store, as far as that is known, and how C asks.

Such a condition depends on nothing in memory, so each lane's is an expression of scalar C.
"""

from collections.abc import Mapping

from daedalus.dsl.ir import Node, Op
from daedalus.generator.targets.neon.pieces import Condition
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.strips import excess, one_sided


def lane_conditions(scope: Scope, mask: Node) -> list[Condition]:
    """Of every lane of a vector."""
    padding: list[Condition] = [None] * (scope.lanes.padded - scope.lanes.count)
    found: list[Condition] = []
    points = scope.lanes.points()

    def asked(item: int, point: dict[str, int]) -> str:
        return scope.asked(mask, item, {axis: str(n) for axis, n in point.items()})

    for item in range(scope.items):
        known = [_known(scope, mask, point) for point in points]
        own: list[Condition] = [
            asked(item, point) if k is None else k for point, k in zip(points, known, strict=True)
        ]
        if not any(own):  # C shall see a use of what the function takes, so one lane is asked
            own[0] = asked(item, points[0])
        found += [*own, *padding]
    return found


def _known(scope: Scope, mask: Node, at: Mapping[str, int]) -> bool | None:
    """What a condition is at a lane, where its ranges decide that."""
    match mask.op:
        case Op.NOT:
            inner = _known(scope, mask.args[0], at)
            return None if inner is None else not inner
        case Op.AND | Op.OR:
            both = [_known(scope, a, at) for a in mask.args]
            decisive = mask.op is Op.OR
            if decisive in both:
                return decisive
            return None if None in both else not decisive
    lo = hi = 0
    for term, c in excess(mask, scope.ranges).items():
        if term is None:
            ends = [c]
        elif term.op is Op.LANE and term.attr[0] in at:
            ends = [c * at[term.attr[0]]]
        else:
            r = scope.ranges.of(term)
            ends = [c * r.lo, c * r.hi]
        lo, hi = lo + min(ends), hi + max(ends)
    return True if hi <= 0 else False if lo > 0 else None


def whole(scope: Scope, mask: Node, conditions: list[Condition]) -> str:
    """C text that all lanes store if it holds: where their ends decide; "" where they do not."""
    asked = [c for c in conditions if c is not None]
    if scope.items > 1 or len(scope.lanes.axes) > 1 or False in asked:
        return ""
    if not one_sided(scope.lanes.stage, mask, scope.ranges):
        return ""
    ends = dict.fromkeys(c for c in (asked[0], asked[-1]) if isinstance(c, str))
    return " && ".join(f"({c})" for c in ends)
