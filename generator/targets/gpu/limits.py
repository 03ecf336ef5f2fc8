# SPDX-License-Identifier: BSD-2-Clause
"""Which of several conditions hold only where all of them do."""

from collections.abc import Callable, Iterable, Mapping

from daedalus.dsl.ir import Node, Op

Sum = Mapping[Node | None, int]  # term -> how often; None stands for 1
# x > y + n for an x and a y: both sides but for n -> n
Limits = dict[tuple[frozenset[tuple[Node | None, int]], ...], int]


def strongest(masks: Iterable[Node | None], limits: Callable[[Node], Limits]) -> list[Node]:
    """The conditions that no other one implies; where all of them hold, all `masks` do.

    No condition holds everywhere. Of the others `limits` says what is known: x > y + n holds where
    x > y + m does, if n <= m.
    """
    kept: dict[Node, Limits] = {}
    for mask in dict.fromkeys(masks):
        if mask is None:
            continue
        mine = limits(mask)
        if not any(_implies(other, mine) for other in kept.values()):
            kept = {m: other for m, other in kept.items() if not _implies(mine, other)}
            kept[mask] = mine
    return list(kept)


def _implies(a: Limits, b: Limits) -> bool:
    return all(key in a and a[key] >= least for key, least in b.items())


def plain(n: Node) -> Sum:
    """A value as itself, or as another one and a number."""
    if n.op is Op.ADD and n.args[1].op is Op.CONST:
        return {n.args[0]: 1, None: n.args[1].value}
    return {n: 1}


def comparison(n: Node, form: Callable[[Node], Sum] = plain) -> Limits:
    """What a comparison of sums says; a condition of another kind is a limit of its own."""
    if n.op is not Op.GT:
        return {(frozenset({(n, 1)}),): 0}
    left, right = (dict(form(a)) for a in n.args)
    least = right.pop(None, 0) - left.pop(None, 0)
    return {(frozenset(left.items()), frozenset(right.items())): least}


def conjunction(n: Node, form: Callable[[Node], Sum]) -> Limits:
    """What a condition is the conjunction of."""
    if n.op is not Op.AND:
        return comparison(n, form)
    found: Limits = {}
    for part in n.args:
        for key, least in conjunction(part, form).items():
            found[key] = max(found.get(key, least), least)
    return found
