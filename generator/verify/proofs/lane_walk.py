# SPDX-License-Identifier: BSD-2-Clause
"""A stage with a change, operation by operation: which forms are proven to be what they were."""

from dataclasses import dataclass
from typing import Any

import z3

from daedalus.dsl.ir import Node
from daedalus.generator.targets.neon.forms import Choice, Demand, Need
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.targets.neon.simulate import operand_widths
from daedalus.generator.verify.proofs.lane_questions import ALL, Questions, opened
from daedalus.generator.verify.proofs.lane_terms import Names, Terms, form_of
from daedalus.generator.verify.proofs.symbolic import Number, Truth

_DEPTHS = (2, 4, 8)  # operations that a question looks into below what depends on the change
# Another first operand gives another result.
_MODULAR = frozenset(
    f"{name}{by}{sign}"
    for name in ("add", "sub", "mla", "mls", "mlal", "mlsl", "addw", "subw", "movl", "neg")
    for by in ("", "_k")
    for sign in ("", "_u", "_s")
)
# What is added to the first operand is added to the result.
_ADDING = frozenset(name for name in _MODULAR if name[:4] not in ("movl", "neg", "neg_"))
_LEAVES = frozenset({"load", "dup", "lane", "dot"})


@dataclass(frozen=True)
class Variation:
    """What is computed instead of a choice: the operation `op` ("": the same one), with its
    immediate, its scalar operand or its result by so much more."""

    op: str = ""
    imm: int = 0
    scalar: int = 0
    result: int = 0

    def changes(self, choice: Choice) -> bool:
        """Whether anything is another at all: if not, all is the same, and nothing proven."""
        return self.op not in ("", choice.op) or any((self.imm, self.scalar, self.result))


class Walk:
    """A stage from the change on: which forms are proven to be what they were.

    changed  variations of what the stage computes
    loads    LOADs that may give something else, as what stores of the stage that `writer` walked
             put into a temp is something else: (what they stored before, its root there). Vectors
             have to be all that reads them.
    """

    def __init__(
        self, questions: Questions, stage: int, changed: dict[Need, Variation],
        loads: dict[Node, list[tuple[Node, Need]]], writer: "Walk | None" = None,
    ) -> None:  # fmt: skip
        self._ask, self.stage, self.part = questions, stage, questions.stages[stage]
        self.roots = self.part.selection.roots
        self._changed, self._loads, self._writer = changed, loads, writer
        self._fresh: set[Need] = set()  # forms that may be others

    def sweep(self) -> set[Need]:
        """The roots that are not proven to be the same."""
        chosen = self.part.selection.chosen
        for need in self.part.order:
            loaded = self._loaded(need)
            starts = need in self._changed or loaded
            if not starts and self._fresh.isdisjoint(chosen[need].inputs):
                continue
            self._fresh.add(need)
            if chosen[need].op in ("", "lookup") or loaded:
                continue
            if need not in self.roots and self._differs_anyway(chosen[need]):
                continue
            for depth in _DEPTHS[: 3 if need in self.roots else 2]:
                if self._same(need, depth, self._ask.short):
                    self._fresh.discard(need)
                    break
        for root in self.roots:
            if root in self._fresh and self._same(root, ALL, self._ask.seconds):
                self._fresh.discard(root)
        return self._fresh & set(self.roots)

    def _loaded(self, need: Need) -> bool:
        """Whether it is a load that may give something else; what is made of that is not."""
        return need[0] in self._loads and self.part.selection.chosen[need].op == "load"

    def _differs_anyway(self, choice: Choice) -> bool:
        """Whether an operation hands on every difference of its one operand that may be another: it
        need not be asked about."""
        fresh = [i for i in choice.inputs if i in self._fresh]
        return len(fresh) == 1 and choice.op in _MODULAR and fresh[0] == choice.inputs[0]

    def differences(self, early: bool) -> tuple[Terms, Any] | None:
        """The terms of the first root that depends on the change, and that it is another; if
        `early`, of the first operation that may hide it."""
        chosen = self.part.selection.chosen
        hides: list[Need] = []
        for need in self.part.order:
            if need in self._changed or not self._fresh.isdisjoint(chosen[need].inputs):
                self._fresh.add(need)
                if chosen[need].op in OPS and chosen[need].op not in _MODULAR:
                    hides.append(need)
        seen = [r for r in self.roots if r in self._fresh]
        target = next(iter(hides if early and hides else seen), None)
        if target is None:
            return None
        terms, forms = self._terms(target, ALL)
        want = self._form(terms, *target)
        self._ask.open_assumptions(terms, self.stage)
        return terms, _low(forms[target], target[1].width) != _low(want, target[1].width)

    def _same(self, need: Need, depth: int, seconds: float) -> bool:
        terms, forms = self._terms(need, depth)
        want = self._form(terms, *need)
        claim = _low(forms[need], need[1].width) == _low(want, need[1].width)
        return self._ask.holds(terms.known, claim, seconds)

    def _terms(
        self, target: Need, depth: int, names: Names | None = None
    ) -> tuple[Terms, dict[Need, Number]]:
        """The lane's terms, and the changed forms as far as the target needs them."""
        cone, chosen = self._cone(target), self.part.selection.chosen
        moved = self._moved(cone)
        terms = self._ask.terms(self.stage, names)
        terms.opened = opened([n[0] for n in cone if n not in moved], depth)
        forms: dict[Need, Number] = {}
        others: dict[Node, Number] = {}
        for need in cone:
            if self._loaded(need):
                if need[0] not in others:
                    others[need[0]] = self._pair(terms, need[0])
                forms[need] = form_of(others[need[0]], need[1], self._ask.width)
                continue
            choice = chosen[need]
            if need in moved:
                forms[need] = self._form(terms, *need) + moved[need]
            elif choice.op == "":
                forms[need] = forms[choice.inputs[0]]
            elif choice.op == "lookup":  # another index may give any entry
                entry = terms.fresh([self._ask.range_of(need[0])])
                forms[need] = form_of(entry, need[1], self._ask.width)
            else:
                variation = self._changed.get(need, Variation())
                forms[need] = self._computed(terms, need, choice, variation, forms)
        return terms, forms

    def _moved(self, cone: list[Need]) -> dict[Need, int]:
        """The forms that are what they were and a constant, modulo 2**w: sums with one."""
        chosen, found = self.part.selection.chosen, {}
        for need in cone:
            choice = chosen[need]
            if need in self._changed:
                if choice.op in _LEAVES:
                    found[need] = self._changed[need].result
            elif choice.op in _ADDING:
                first, *others = choice.inputs
                if first in found and not any(i in cone for i in others):
                    found[need] = found[first]
        return found

    def _cone(self, target: Need) -> list[Need]:
        """What may be another, on the way to the target."""
        chosen = self.part.selection.chosen
        wanted, stack = set(), [target]
        while stack:
            need = stack.pop()
            if need not in wanted:
                wanted.add(need)
                stack += [i for i in chosen[need].inputs if i in self._fresh]
        return [n for n in self.part.order if n in wanted]

    def _pair(self, terms: Terms, load: Node) -> Number:
        """What a load of something changed gives; what it gave is assigned to the node.

        Every store may be the one whose value is there, by a lane of its own.
        """
        assert self._writer is not None
        y = terms.fresh(self._ask.loaded(self.stage, load))
        old, new = y, y
        for node, root in self._loads[load]:
            here = z3.Bool(terms.names.new())
            there, forms = self._writer._terms(root, ALL, terms.names)
            value, form = there.value(node), forms[root]
            # What that lane takes for granted need not hold where it does not run.
            terms.own += [Truth(z3.Or(z3.Not(here), fact.term)) for fact in there.own]
            signed = self.part.selection.ranges.dtype(load.attr[0]).signed
            lane = form.lane(root[1].width, signed)
            old = Number(z3.If(here, value.term, old.term))
            new = Number(z3.If(here, lane.term, new.term))
        terms.assign(load, old)
        return new

    def _computed(
        self, terms: Terms, need: Need, choice: Choice, v: Variation, forms: dict[Need, Number]
    ) -> Number:
        """A form by its operation, on what its operands are with the change."""
        node, demand = need
        if choice.op in _LEAVES:
            return self._form(terms, node, demand) + v.result
        op = OPS[v.op or choice.op]
        widths = operand_widths(op, demand.width)
        args = [
            (forms[i] if i in forms else self._form(terms, *i), i[1].width) for i in choice.inputs
        ]
        args += [(terms.value(n) + v.scalar, widths[-1]) for n in choice.scalars]
        signs = op.signs.replace("=", "u")
        lanes = tuple(x.lane(w, s == "s") for (x, w), s in zip(args, signs, strict=False))
        got = op.meaning(demand.width, lanes, choice.imm + v.imm)
        width = self._ask.width
        if got.term.size() > width:  # masks know no width
            got = Number(z3.Extract(width - 1, 0, got.term))
        return Number(got.term + v.result)

    def _form(self, terms: Terms, node: Node, demand: Demand) -> Number:
        return form_of(terms.value(node), demand, self._ask.width)


def _low(x: Number, width: int) -> Any:
    return z3.simplify(z3.Extract(width - 1, 0, x.term))
