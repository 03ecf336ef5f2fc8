# SPDX-License-Identifier: BSD-2-Clause
"""The order in which a stage's values are computed.

Values come in the author's order, so that few are alive at once; loads, broadcasts and conversions
come just before their first use; a store as soon as it may.
"""

from dataclasses import dataclass

from daedalus.dsl.ir import Node
from daedalus.generator.targets.neon.branches import Branch
from daedalus.generator.targets.neon.forms import Choice, Need
from daedalus.generator.targets.neon.memory import Memory
from daedalus.generator.targets.neon.select import Selection

_SINKING = frozenset({"load", "lane", "dup", "alias", "movn", "movl_u", "movl_s", "qmovn_u",
                      "qmovn_s", "qmovun", "neg"})  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A value to compute, stores to do together, the guard to test, or a branch. With `ahead` it is
    where what the branch's condition decides everywhere may be done instead of all that follows."""

    need: Need | None = None
    stores: tuple[int, ...] = ()
    guard: Need | None = None
    branch: Branch | None = None
    ahead: bool = False

    def choices(self, selection: Selection) -> list[tuple[Need, Choice]]:
        """What this step computes, and how."""
        needs = [] if self.need is None else [self.need]
        if self.branch is not None and not self.ahead:
            needs += self.branch.needs()
        return [(need, selection.chosen[need]) for need in needs]


def order(
    selection: Selection, memory: Memory, branch: Branch | None, ahead: bool = False
) -> list[Step]:
    """All steps of the stage; `ahead` as in Step."""
    needs = selection.reached()
    position = {need: n for n, need in enumerate(needs)}
    key: dict[Need, tuple[float, int]] = {}
    users: dict[Need, list[Need]] = {n: [] for n in needs}
    for need in needs:
        for i in selection.chosen[need].inputs:
            users[i].append(need)
    stage = selection.stage
    spared = frozenset[int]() if branch is None else {n for b in branch.all() for n in b.spared}
    groups = memory.store_groups(spared)
    stored_at = {n: g for g in groups for n in g}
    store_key = {g: max(selection.roots[n][0].seq for n in g) + 0.5 for g in groups}
    for need in reversed(needs):  # users before what they use
        own: float = need[0].seq
        if selection.chosen[need].rule in _SINKING:
            later = [key[u][0] for u in users[need]]
            later += [
                store_key[stored_at[n]]
                for n in range(len(stage.stores))
                if selection.roots[n] == need
            ]
            own = min(later, default=own)
        key[need] = (own, position[need])
    alone = set() if branch is None else set(branch.needs())
    steps: list[tuple[tuple[float, int], Step]] = [
        (key[need], Step(need=need)) for need in needs if need not in alone
    ]
    if branch is not None:
        steps.append((min(key[n] for n, _ in branch.results), Step(branch=branch)))
    steps += [((store_key[g], len(needs)), Step(stores=g)) for g in groups]
    if stage.guard is not None:
        root = selection.roots[-1]
        steps.append(((stage.guard.seq + 0.25, len(needs)), Step(guard=root)))
        if ahead and branch is not None:
            step = Step(branch=branch, ahead=True)
            steps.append(((stage.guard.seq + 0.5, len(needs)), step))
    steps.sort(key=lambda s: s[0])
    return _with_dependencies(selection, memory, [s for _, s in steps])


def _loads(node: Node, op: str) -> tuple[Node, ...]:
    """What a leaf reads from memory."""
    return (node,) if op == "load" else node.args[1:] if op == "dot" else ()


def _with_dependencies(selection: Selection, memory: Memory, steps: list[Step]) -> list[Step]:
    """The steps in the wanted order, each preceded by what it depends on."""
    by_need = {s.need: s for s in steps if s.need is not None}
    for s in steps:
        if s.branch is not None and not s.ahead:
            by_need |= dict.fromkeys((n for n, _ in s.branch.results), s)
    guard = next((s for s in steps if s.guard is not None), None)
    stage = selection.stage
    loads = [
        (need, ld)
        for need in selection.reached()
        for ld in _loads(need[0], selection.chosen[need].op)
    ]
    done: set[Step] = set()
    out: list[Step] = []

    def visit(step: Step) -> None:
        if step in done:
            return
        done.add(step)
        before: list[Step] = []
        if step.need is not None:
            before = [by_need[i] for i in selection.chosen[step.need].inputs]
        elif step.guard is not None:
            before = [by_need[step.guard]]
        elif step.branch is not None and step.ahead:
            before = [by_need[step.branch.mask], *([] if guard is None else [guard])]
        elif step.branch is not None:
            before = [by_need[n] for n in step.branch.taken(selection)]
        else:
            before = [by_need[selection.roots[n]] for n in step.stores]
            written = [stage.stores[n] for n in step.stores]
            before += [by_need[need] for need, ld in loads if memory.overlaps(ld, written)]
            if guard is not None:
                before.append(guard)
        for b in before:
            visit(b)
        out.append(step)

    for s in steps:
        visit(s)
    return out
