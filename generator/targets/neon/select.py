# SPDX-License-Identifier: BSD-2-Clause
"""Width assignment and selection: which form of every value is computed, and by which operation.

A value has no width; each use demands one. For every (node, demand) the rules give alternatives, of
which a dynamic programme from the leaves up finds the cheapest as if nothing were shared
(`forms.py`); a local search then changes single decisions while the cost of the whole stage,
sharing counted, goes down. Both are deterministic, so the result is a function of the kernel alone.
"""

import hashlib
from collections import Counter

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.generator.targets.neon.forms import WIDTHS, Choice, Demand, Forms, Need
from daedalus.generator.targets.neon.lanes import Lanes
from daedalus.generator.targets.neon.vectors import Shape


class NotLowerable(SpecError):
    """No rule of this back end computes a value as it is needed."""


class Unsuited(NotLowerable):
    """The variant's options ask for what its kernel has not; without them it has a form."""


class Selection:
    """The decisions of one stage."""

    def __init__(self, kernel: Kernel, lanes: Lanes, ranges: Ranges, shape: Shape) -> None:
        self.kernel, self.lanes, self.ranges, self.shape = kernel, lanes, ranges, shape
        self.stage = stage = lanes.stage
        self.roots: list[Need] = [
            (s.value, Demand("bits", ranges.dtype(s.buffer).bits)) for s in stage.stores
        ]
        if stage.guard is not None:
            self.roots.append((stage.guard, Demand("mask", 8)))
        self._forms = Forms(kernel, lanes, ranges, shape)
        self.held = self._forms.held
        for root in self.roots:
            if not self._forms.can(root):
                raise self._refusal(root)
        self.chosen = self._search()

    def reached(self) -> list[Need]:
        """Everything the stage computes, operands before their users."""
        return self._reach(self.chosen)

    def record(self) -> dict[str, int | str]:
        """How many forms are computed in lanes of each width, and a digest of all choices."""
        made = [(d, self.chosen[n, d]) for n, d in self.reached()]
        counts = Counter(d.width for d, c in made if c.op)
        said = [(*d, c.rule, c.op, c.imm, len(c.inputs), len(c.scalars)) for d, c in made]
        digest = hashlib.sha256(repr(said).encode()).hexdigest()[:16]
        return {**{str(w): counts[w] for w in WIDTHS}, "choices": digest}

    def _refusal(self, need: Need) -> NotLowerable:
        """The deepest node that no rule computes: that is the line to look at."""
        node = need[0]
        for n in self.stage.nodes():
            if not any(
                self._forms.can((n, Demand(k, w))) for k in ("bits", "mask") for w in WIDTHS
            ):
                node = n
                break
        r: Interval = self.ranges.of(node)
        target = self.shape.target
        narrower = f"lanes are at most {WIDTHS[-1]} bits"
        if target.widest > WIDTHS[-1]:
            narrower += f", {target.widest} for sums of products that are then shifted right"
        return NotLowerable(
            target.name,
            f"{node.op}{' ' + node.name if node.name else ''}, in {r}, has no {target.form}",
            node.loc,
            self.kernel.id,
            hint=f'{narrower}: give {self.kernel.id} prod = ["c_full"]',
        )

    # ------------------------------------------------------------------ local search

    def _reach(self, chosen: dict[Need, Choice]) -> list[Need]:
        """Everything the roots need, operands before their users."""
        order: list[Need] = []
        seen: set[Need] = set()
        stack: list[tuple[Need, bool]] = [(r, False) for r in reversed(self.roots)]
        while stack:
            need, done = stack.pop()
            if done:
                order.append(need)
            elif need not in seen:
                seen.add(need)
                stack.append((need, True))
                stack.extend((i, False) for i in chosen[need].inputs if i not in seen)
        return order

    def _search(self) -> dict[Need, Choice]:
        """Changes one decision at a time while the whole gets cheaper."""
        shared = _Shared(self._forms, self.roots)
        improved = True
        while improved:
            improved = False
            for need in self._reach(shared.chosen):
                for choice in self._forms.choices(need):
                    if need not in shared.uses:
                        break  # an earlier change made it superfluous
                    improved |= shared.try_change(need, choice)
        return shared.chosen


class _Shared:
    """The choices in force, and what they cost when each value is computed once.

    uses   how many uses each needed value has; what nobody needs is not in it
    """

    def __init__(self, forms: Forms, roots: list[Need]) -> None:
        self._forms = forms
        self.chosen: dict[Need, Choice] = {}
        self.uses: Counter[Need] = Counter()
        self._total = 0.0
        for root in roots:
            self._acquire(root)

    def _of(self, need: Need) -> Choice:
        """The choice in force: the cheapest by itself until another is taken."""
        choice = self.chosen.get(need)
        if choice is None:
            choice = self.chosen[need] = self._forms.best(need)
        return choice

    def _acquire(self, need: Need) -> None:
        stack = [need]
        while stack:
            n = stack.pop()
            self.uses[n] += 1
            if self.uses[n] == 1:
                choice = self._of(n)
                self._total += choice.cost
                stack.extend(choice.inputs)

    def _release(self, need: Need) -> None:
        stack = [need]
        while stack:
            n = stack.pop()
            self.uses[n] -= 1
            if not self.uses[n]:
                del self.uses[n]
                self._total -= self.chosen[n].cost
                stack.extend(self.chosen[n].inputs)

    def _change(self, need: Need, choice: Choice) -> None:
        old = self.chosen[need]
        self._total += choice.cost - old.cost
        self.chosen[need] = choice
        for i in choice.inputs:
            self._acquire(i)
        for i in old.inputs:
            self._release(i)

    def _circular(self, need: Need, choice: Choice) -> bool:
        """Whether the value would be made from itself: only forms of one node can do that."""
        node = need[0]
        stack = [d for x, d in choice.inputs if x is node]
        while stack:
            d = stack.pop()
            if d == need[1]:
                return True
            taken = self.chosen.get((node, d))
            if taken is None:
                stack += self._forms.best_from((node, d))
            else:
                stack += [f for x, f in taken.inputs if x is node]
        return False

    def try_change(self, need: Need, choice: Choice) -> bool:
        """Makes the change if the whole gets cheaper by it."""
        old, before = self.chosen[need], self._total
        if choice == old or self._circular(need, choice):
            return False
        self._change(need, choice)
        if self._total < before - 1e-9:
            return True
        self._change(need, old)
        self._total = before  # no rounding error stays behind
        return False
