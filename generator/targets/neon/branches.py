# SPDX-License-Identifier: BSD-2-Clause
"""Branches around what only some lanes want: where no lane does, it is not computed.

Selections under one mask take the values of their first arms from a block that runs if the mask
holds anywhere; what only these arms need moves into it.
"""

from dataclasses import dataclass

from daedalus.generator.targets.neon.forms import Need
from daedalus.generator.targets.neon.select import Selection

_WORTH = 8.0  # operations that a test and a jump are worth saving
_STAYS = frozenset({"load", "lane", "dot", "dup"})  # may leave something for others behind


@dataclass(frozen=True)
class Branch:
    """mask decides; selects are the values that come out; inside is what is skipped, in order."""

    mask: Need
    selects: tuple[Need, ...]
    inside: tuple[Need, ...]


def find_branch(selection: Selection) -> Branch | None:
    """The branch that skips most; None where none is worth it.

    The stage's guard has been tested when it comes to that.
    """
    reached = selection.reached()
    users: dict[Need, list[Need]] = {n: [] for n in reached}
    for n in reached:
        for i in dict.fromkeys(selection.chosen[n].inputs):
            users[i].append(n)
    masks: dict[Need, list[Need]] = {}
    for n in reached:
        choice = selection.chosen[n]
        if choice.rule == "bsl" and choice.inputs[0][0] is not selection.stage.guard:
            masks.setdefault(choice.inputs[0], []).append(n)
    found = [
        _branch(selection, reached, users, mask, _independent(selection, s))
        for mask, s in masks.items()
    ]
    best = max(found, key=lambda b: b[0], default=(0.0, None))
    return best[1] if best[0] >= _WORTH else None


def _independent(selection: Selection, selects: list[Need]) -> tuple[Need, ...]:
    """Those of which none is made of another: they come out of the block together."""
    kept: list[Need] = []
    for need in selects:  # operands come first
        below, stack = set[Need](), [need]
        while stack:
            new = [i for i in selection.chosen[stack.pop()].inputs if i not in below]
            below.update(new)
            stack += new
        if below.isdisjoint(kept):
            kept.append(need)
    return tuple(kept)


def _branch(
    selection: Selection, reached: list[Need], users: dict[Need, list[Need]], mask: Need,
    selects: tuple[Need, ...],
) -> tuple[float, Branch]:  # fmt: skip
    inside: set[Need] = set()
    outer = set(selection.roots)

    def only_arm(need: Need, user: Need) -> bool:
        inputs = selection.chosen[user].inputs
        return user in selects and inputs.count(need) == 1 and inputs[1] == need

    for n in reversed(reached):
        if n in outer or n in selects or selection.chosen[n].op in _STAYS:
            continue
        if users[n] and all(u in inside or only_arm(n, u) for u in users[n]):
            inside.add(n)
    cost = sum(selection.chosen[n].cost for n in inside)
    ordered = sorted(
        (n for n in reached if n in inside), key=lambda n: (n[0].seq, reached.index(n))
    )
    return cost, Branch(mask, selects, _by_need(selection, ordered))


def _by_need(selection: Selection, wanted: list[Need]) -> tuple[Need, ...]:
    """The values in the wanted order, each after what it is made of."""
    out: dict[Need, None] = {}

    def visit(n: Need) -> None:
        if n not in out:
            for i in selection.chosen[n].inputs:
                if i in members:
                    visit(i)
            out[n] = None

    members = set(wanted)
    for n in wanted:
        visit(n)
    return tuple(out)
