# SPDX-License-Identifier: BSD-2-Clause
"""Proofs that a changed lowering computes the same: what no conformant item can show.

A stage is taken as one lane does it. Of the operations that were selected, those that depend on the
change are run on symbols (`symbolic.py`); what does not depend on it is the value by the language's
semantics, in the form that is demanded (that this is what the operations compute, the proofs of
the selection rules say: `tests/targets/test_rules.py`). The solver is asked, operand before user,
whether a changed form is the unchanged one for every value of the inputs in their ranges; where it
is, nothing behind it depends on the change any more. The change is proven not to matter if that
holds at last for what the stage stores, or, of a temp, for what the stages that read it store.

Inputs are freer here than on items: loads of different places are independent, and values further
away than a question needs are any in their range. So a proof holds for all items; where there is
none, nothing is known.
"""

import itertools
import math
from dataclasses import replace

import z3

from daedalus.dsl.ir import Node, Op, walk
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.neon.forms import Need
from daedalus.generator.targets.neon.simulate import Part
from daedalus.generator.verify.proofs.lane_questions import ALL, Questions, opened
from daedalus.generator.verify.proofs.lane_walk import Variation, Walk

_DEPTHS = (2, 4, 8, ALL)  # operations that a question about a value looks into below it
_CASES = 256  # combinations of parameters that are tried one by one


class Prover(Questions):
    """Proofs about a variant."""

    def same(self, stage: int, need: Need, variation: Variation) -> bool:
        """Whether the results are proven to be the same with a variation of a need's choice."""
        assert variation.changes(self.stages[stage].selection.chosen[need])
        if self._same(stage, need, variation):
            return True
        cases = self.cases(stage, [s.value for s in self.stages[stage].vector.stores])
        return bool(cases) and all(c._same(stage, need, variation) for c in cases)

    def _same(self, stage: int, need: Need, variation: Variation) -> bool:
        walked = Walk(self, stage, {need: variation}, {})
        left = walked.sweep()
        stores = [
            s for s, r in zip(walked.part.vector.stores, walked.roots, strict=False) if r in left
        ]
        temps = {t.name for t in self.kernel.temps}
        guarded = any(r in left for r in walked.roots[len(walked.part.vector.stores) :])
        # Nor is it known what an accumulation has in the end.
        if guarded or any(s.buffer not in temps or s.combine for s in stores):
            return False
        return not left or self._readers_same(stage, walked, left)

    def _readers_same(self, stage: int, walked: Walk, left: set[Need]) -> bool:
        """Whether later stages store the same, although some of what is in temps differs."""
        stores = [
            (s, root)
            for s, root in zip(walked.part.vector.stores, walked.roots, strict=False)
            if root in left
        ]
        for n in range(stage + 1, len(self.stages)):
            loads: dict[Node, list[tuple[Node, Need]]] = {}
            for node in self.stages[n].vector.nodes():
                if node.op is Op.LOAD:
                    met = [(s.value, r) for s, r in stores if s.buffer == node.attr[0]
                           and self.meet(n, node, stage, s.index)]  # fmt: skip
                    if met:
                        loads[node] = met
            part = self.stages[n]  # what is left of a strip is not done by vectors, either
            if loads and (part.axis or not loads.keys() <= _by_vectors(part)):
                return False
            if loads and Walk(self, n, {}, loads, walked).sweep():
                return False
        return True

    def cases(self, stage: int, roots: list[Node]) -> list["Prover"]:
        """Provers for values below which tables are looked up: one for each combination of the
        parameters that say where, so that what is looked up is known. None where there are many,
        or no tables."""
        tables = [n for n in walk(roots) if n.op is Op.TABLE]
        where = {n.attr[0] for n in walk([t.args[0] for t in tables]) if n.op is Op.PARAM}
        kernel = self.stages[stage].selection.kernel
        params = [p for p in kernel.params if p.name in where]
        spans = [range(p.lo, p.hi + 1) for p in params]
        if not params or math.prod(map(len, spans)) > _CASES or any(p.count > 1 for p in params):
            return []
        found = []
        for values in itertools.product(*spans):
            known = {p.name: v for p, v in zip(params, values, strict=True)}
            fixed = tuple(
                replace(p, lo=known[p.name], hi=known[p.name]) if p.name in known else p
                for p in kernel.params
            )
            one = Prover(self.kernel, self.stages, self.seconds)
            one.ranges = Ranges(replace(kernel, params=fixed))
            found.append(one)
        return found

    def within(self, stage: int, node: Node, lo: int, hi: int) -> bool:
        """Whether a value is proven to be in a range for all conformant items."""
        cases = self.cases(stage, [node])
        if cases:
            return all(c.range_of(node).within(lo, hi) for c in cases)
        for depth in _DEPTHS:
            terms = self.terms(stage)
            terms.opened = opened([node], depth)
            if depth == ALL:
                self.open_assumptions(terms, stage, node)
            x = terms.value(node)
            claim = z3.And((x >= lo).term, (x <= hi).term)
            if self.holds(terms.known, claim, self.short if depth != ALL else self.seconds):
                return True
        return False


def _by_vectors(part: Part) -> set[Node]:
    """The LOADs that vector loads alone do: no scalar code, as what is broadcast, looks up, or
    decides where a stage runs and stores, depends on them."""
    chosen, stage = part.selection.chosen, part.vector
    scalars = [s.mask for s in stage.stores] + [stage.given, *(n for _, n in stage.limits)]
    for need in part.order:
        scalars += need[0].args if chosen[need].op in ("load", "dot") else chosen[need].scalars
    read = set(walk([n for n in scalars if n is not None]))
    loads = {need[0] for need in part.order if chosen[need].op == "load"}
    return loads - read
