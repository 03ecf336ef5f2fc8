# SPDX-License-Identifier: BSD-2-Clause
"""Branches around what only some lanes want: where no lane does, it is not computed.

Selections under one mask take the values of their first arms from a block that runs if the mask
holds anywhere; what only these arms need moves into it. So do selections under masks that hold at
most where that one does, which may be a block in the block.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from daedalus.dsl.ir import parts
from daedalus.generator.targets.neon.forms import Need
from daedalus.generator.targets.neon.masks import follows
from daedalus.generator.targets.neon.select import Selection

_WORTH = 8.0  # operations that a test and a jump are worth saving
_STAYS = frozenset({"load", "lane", "dot", "dup"})  # may leave something for others behind


@dataclass(frozen=True)
class Branch:
    """What runs where a mask holds on some lane.

    results  the selections that come out, each with its value where the mask holds nowhere
    inside   what is skipped, in order
    spared   stores that change nothing where the mask holds nowhere, by their numbers
    """

    mask: Need
    results: tuple[tuple[Need, Need], ...]
    inside: tuple["Need | Branch", ...]
    spared: frozenset[int] = frozenset()

    @property
    def inner(self) -> "Branch | None":
        """The branch in this one, if there is one."""
        return next((step for step in self.inside if isinstance(step, Branch)), None)

    def all(self) -> Iterator["Branch"]:
        """This one, the one in it, and so on."""
        yield self
        if self.inner is not None:
            yield from self.inner.all()

    def needs(self) -> list[Need]:
        """All that is computed here."""
        own = [n for step in self.inside for n in _needs(step)]
        return list(dict.fromkeys([*own, *(n for n, _ in self.results)]))

    def taken(self, selection: Selection) -> list[Need]:
        """What comes from outside."""
        own = self.needs()
        inputs = [i for n in own for i in selection.chosen[n].inputs]
        return [i for i in dict.fromkeys([self.mask, *inputs]) if i not in set(own)]


def _needs(step: "Need | Branch") -> list[Need]:
    return step.needs() if isinstance(step, Branch) else [step]


def find_branch(selection: Selection) -> Branch | None:
    """The branch that skips most; None where none is worth it.

    The stage's guard has been tested when it comes to that.
    """
    return _Finder(selection).best(selection.reached(), set(selection.roots), None)


class _Finder:
    """Looks for branches in a stage."""

    def __init__(self, selection: Selection) -> None:
        self.selection, self.chosen = selection, selection.chosen
        self.users: dict[Need, list[Need]] = {n: [] for n in selection.reached()}
        for n in self.users:
            for i in dict.fromkeys(self.chosen[n].inputs):
                self.users[i].append(n)
        guard = selection.stage.guard
        self._tested = set() if guard is None else set(parts(guard))

    def best(self, among: list[Need], wanted: set[Need], outer: Need | None) -> Branch | None:
        """The branch of most cost whose selections are among these; `wanted` are also used
        elsewhere."""
        masks = dict.fromkeys(
            self.chosen[n].inputs[0] for n in among if self.chosen[n].rule == "bsl"
        )
        tested = self._tested if outer is None else self._tested.union(parts(outer[0]))
        found = [self._branch(m, among, wanted) for m in masks if not follows(m[0], tested)]
        cost, branch = max(found, key=lambda b: b[0], default=(0.0, None))
        return branch if cost >= _WORTH else None

    def _branch(
        self, mask: Need, among: list[Need], wanted: set[Need]
    ) -> tuple[float, Branch | None]:
        selects = {
            n for n in among
            if self.chosen[n].rule == "bsl" and follows(mask[0], parts(self.chosen[n].inputs[0][0]))
        }  # fmt: skip
        if mask not in {self.chosen[n].inputs[0] for n in selects}:
            return 0.0, None
        selects |= self._passing(selects, among)
        while selects:
            inside = self._inside(mask, selects, among, wanted)
            block = inside | selects
            outside = {i for n in block for i in self.chosen[n].inputs} - block
            results = {
                n for n in selects
                if n in wanted or not all(self._within(n, u, mask, selects, block)
                                          for u in self.users[n])
            }  # fmt: skip
            circular = self._below(outside | {mask}) & results
            if not circular:
                return self._made(mask, selects, inside - selects, results, among)
            selects -= circular
        return 0.0, None

    def _otherwise(self, n: Need, selects: Collection[Need]) -> Need:
        """What a value is where the mask of these selections holds nowhere."""
        while n in selects:
            n = self.chosen[n].inputs[2]
        return n

    def _passing(self, selects: set[Need], among: list[Need]) -> set[Need]:
        """Selections between one of these, and what that is where the mask holds nowhere: then it
        is this one, too."""
        found: set[Need] = set()
        for n in among:  # operands come first
            if self.chosen[n].rule == "bsl" and n not in selects:
                _, arm, other = self.chosen[n].inputs
                known = selects | found
                if arm in known and self._otherwise(arm, known) == other:
                    found.add(n)
        return found

    def _inside(
        self, mask: Need, selects: set[Need], among: list[Need], wanted: set[Need]
    ) -> set[Need]:
        """What is computed for the block alone."""
        found: set[Need] = set()
        for n in reversed(among):  # users before what they use
            if n in wanted or n == mask or self.chosen[n].op in _STAYS:
                continue
            users = self.users[n]
            if users and all(self._within(n, u, mask, selects, found) for u in users):
                found.add(n)
        return found

    def _within(
        self, n: Need, user: Need, mask: Need, selects: set[Need], block: Collection[Need]
    ) -> bool:
        """Whether a user wants a value in the block alone."""
        if user not in selects:
            return user in block
        own, arm, other = self.chosen[user].inputs
        # Where the mask holds nowhere, the other arm is the value, or what that one then is.
        return (n != other or n in selects) and (n != own or own != mask)

    def _below(self, needs: Collection[Need]) -> set[Need]:
        """All that these are made of."""
        found, stack = set(needs), list(needs)
        while stack:
            new = [i for i in self.chosen[stack.pop()].inputs if i not in found]
            found.update(new)
            stack += new
        return found

    def _made(
        self, mask: Need, selects: set[Need], inside: set[Need], results: set[Need],
        among: list[Need],
    ) -> tuple[float, Branch]:  # fmt: skip
        members = inside | selects
        block = [n for n in among if n in members]
        inner = self.best(block, results, mask)
        steps = self._in_order([n for n in block if n not in results], inner)
        outputs = tuple((n, self._otherwise(n, selects)) for n in block if n in results)
        found = Branch(mask, outputs, steps)
        found = replace(found, spared=self._spared(found))
        return sum(self.chosen[n].cost for n in inside), found

    def _spared(self, branch: Branch) -> frozenset[int]:
        """Stores of a result that else is what stands there; not those of a branch in this one."""
        other = dict(branch.results)
        inner = {n for b in branch.all() for n in b.spared}
        stage, spared = self.selection.stage, set()
        for n, s in enumerate(stage.stores):
            before = other.get(self.selection.roots[n])
            if before is not None and self.chosen[before].op == "load" and n not in inner:
                node = before[0]
                if not node.args and (node.attr[0], node.index) == (s.buffer, s.index):
                    spared.add(n)
        return frozenset(spared)

    def _in_order(self, wanted: list[Need], inner: Branch | None) -> tuple[Need | Branch, ...]:
        """The values in the author's order, each after what it is made of; the branch among them
        as one."""
        own = set() if inner is None else set(inner.needs())
        place = {n: k for k, n in enumerate(wanted)}
        steps: list[Need | Branch] = [n for n in wanted if n not in own]
        if inner is not None:
            steps.append(inner)
        step_of = {n: step for step in steps for n in _needs(step)}
        out: dict[Need | Branch, None] = {}

        def visit(step: Need | Branch) -> None:
            if step not in out:
                taken = (
                    step.taken(self.selection) if isinstance(step, Branch)
                    else self.chosen[step].inputs
                )  # fmt: skip
                for i in taken:
                    if i in step_of:
                        visit(step_of[i])
                out[step] = None

        def key(step: Need | Branch) -> tuple[int, int]:
            return min((n[0].seq, place.get(n, 0)) for n in _needs(step))

        for step in sorted(steps, key=key):
            visit(step)
        return tuple(out)
