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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import z3

from daedalus.dsl.ir import Affine, Kernel, Node, Op, Stage, walk
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.generator.lane_terms import Terms, form_of
from daedalus.generator.symbolic import Number, Truth
from daedalus.generator.targets.neon.forms import Choice, Demand, Need
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.targets.neon.simulate import Part, operand_widths

_DEPTHS = (2, 4, 8)  # operations that a question looks into below what depends on the change
_ALL = 1000  # all of them
_CASES = 256  # combinations of parameters that are tried one by one
_SHORT = 4_000  # milliseconds for a question on the way
QUICK = ("simplify", "bit-blast", "sat")
_THOROUGH = (
    "simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "max-bv-sharing", "bit-blast",
    "aig", "sat",
)  # fmt: skip
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


class Prover:
    """Proofs about a variant: its lowered program and the selections of its stages.

    seconds  for the last and widest question of a proof
    width    bits of every term: products of two lanes, and lanes shifted by their width, fit
    """

    # Questions, as texts, are the same for many lanes and variants.
    _proven: ClassVar[dict[str, bool]] = {}
    _given_up: ClassVar[dict[str, int]] = {}  # after so many milliseconds

    def __init__(self, kernel: Kernel, stages: list[Part], seconds: float = 20) -> None:
        self.kernel, self.stages = kernel, stages
        lanes = [need[1].width for part in stages for need in part.order]
        self.width = 80 if max(lanes, default=0) > 16 else 40  # bits of every term
        self._patience = int(1000 * seconds)
        self._short = min(_SHORT, self._patience)
        self._ranges = stages[0].selection.ranges if stages else Ranges(kernel)

    # -------------------------------------------------------------- what is known of inputs

    def terms(self, stage: int) -> Terms:
        """Terms of a stage on which a question is to be asked."""
        return Terms(self, stage, {})

    def range_of(self, node: Node) -> Interval:
        return self._ranges.of(node)

    def loaded(self, stage: int, node: Node) -> list[Interval]:
        """What a LOAD can give: of a temp, what the stores give that reach its place."""
        buffer = node.attr[0]
        if all(t.name != buffer for t in self.kernel.temps):
            return [self.range_of(node)]
        found = [
            self.range_of(s.value)
            for n in range(stage)
            for s in self.stages[n].vector.stores
            if s.buffer == buffer and self._meet(stage, node, n, s.index)
        ]
        return found or [self.range_of(node)]

    def _meet(self, stage: int, load: Node, writer: int, index: tuple[Affine, ...]) -> bool:
        """Whether a load can get what a store of an earlier stage has put."""
        if self.stages[stage].axis or self.stages[writer].axis:
            return True
        into = _box(index, self.stages[writer].vector, [])
        args = [self.range_of(a) for a in load.args]
        out = _box(load.index, self.stages[stage].vector, args)
        return all(a.lo <= b.hi and b.lo <= a.hi for a, b in zip(into, out, strict=True))

    # -------------------------------------------------------------- proofs

    def same(self, stage: int, need: Need, variation: Variation) -> bool:
        """Whether the results are proven to be the same with a variation of a need's choice."""
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
        if guarded or any(s.buffer not in temps for s in stores):
            return False
        return not left or self._readers_same(stage, walked, left)

    def _readers_same(self, stage: int, walked: "Walk", left: set[Need]) -> bool:
        """Whether later stages store the same, although some of what is in temps differs."""
        stores = [
            (s, root)
            for s, root in zip(walked.part.vector.stores, walked.roots, strict=False)
            if root in left
        ]
        buffers = {s.buffer for s, _ in stores}
        for n in range(stage + 1, len(self.stages)):
            loads: dict[Node, list[tuple[Node, Need]]] = {}
            for need in self.stages[n].order:
                node = need[0]
                if node.op is Op.LOAD and node.attr[0] in buffers:
                    met = [(s.value, r) for s, r in stores if s.buffer == node.attr[0]
                           and self._meet(n, node, stage, s.index)]  # fmt: skip
                    if met:
                        loads[node] = met
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
            one = Prover(self.kernel, self.stages, self._patience / 1000)
            one._ranges = Ranges(replace(kernel, params=fixed))
            found.append(one)
        return found

    def within(self, stage: int, node: Node, lo: int, hi: int) -> bool:
        """Whether a value is proven to be in a range for all conformant items."""
        cases = self.cases(stage, [node])
        if cases:
            return all(c.range_of(node).within(lo, hi) for c in cases)
        for depth in (*_DEPTHS, _ALL):
            terms = self.terms(stage)
            terms.opened = _opened([node], depth)
            if depth == _ALL:
                self.open_assumptions(terms, stage, node)
            x = terms.value(node)
            claim = z3.And((x >= lo).term, (x <= hi).term)
            if self.holds(terms.known, claim, self._short if depth != _ALL else self._patience):
                return True
        return False

    def open_assumptions(self, terms: Terms, stage: int, *roots: Node) -> None:
        """Makes all of what is below the roots known, and all that a stage assumes."""
        terms.opened |= _opened(roots, _ALL)
        for a in self.stages[stage].vector.nodes():
            if a.op is Op.ASSUME:
                terms.opened |= _opened([a], _ALL)
                terms.value(a)

    def holds(self, known: list[Any], claim: Any, patience: int) -> bool:
        """Whether a claim is proven to follow."""
        claim = z3.simplify(claim)
        if z3.is_true(claim):
            return True
        goal = [*(k.term for k in known), z3.Not(claim)]
        text = z3.And(*goal).sexpr()
        if text in self._proven:
            return self._proven[text]
        if self._given_up.get(text, 0) >= patience:
            return False
        tactics = (QUICK,) if patience <= self._short else (QUICK, _THOROUGH)
        for n, names in enumerate(tactics):
            solver = z3.Then(*names).solver()
            solver.set("timeout", self._short if n + 1 < len(tactics) else patience)
            solver.add(*goal)
            found = solver.check()
            if found != z3.unknown:
                self._proven[text] = found == z3.unsat
                return self._proven[text]
        self._given_up[text] = patience
        return False


def _box(index: tuple[Affine, ...], stage: Stage, args: list[Interval]) -> Iterator[Interval]:
    """The places that an index can be, axis by axis."""
    known = {axis: Interval(0, n - 1) for axis, n in stage.dims}
    known |= {f"#{n}": r for n, r in enumerate(args)}
    for affine in index:
        ends = [sorted((c * known[x].lo, c * known[x].hi)) for x, c in affine.terms]
        yield Interval(
            affine.const + sum(e[0] for e in ends), affine.const + sum(e[1] for e in ends)
        )


def _opened(roots: Iterable[Node], depth: int) -> set[Node]:
    """The nodes at most so far below the roots."""
    found: set[Node] = set()
    level = set(roots)
    for _ in range(depth + 1):
        found |= level
        level = {a for n in level for a in n.args} - found
        if not level:
            break
    return found


class Walk:
    """A stage from the change on: which forms are proven to be what they were."""

    def __init__(
        self, prover: Prover, stage: int, changed: dict[Need, Variation],
        loads: dict[Node, list[tuple[Node, Need]]], writer: "Walk | None" = None,
    ) -> None:  # fmt: skip
        self.prover, self.stage, self.part = prover, stage, prover.stages[stage]
        self.roots = self.part.selection.roots
        self._changed, self._loads, self._writer = changed, loads, writer
        self._fresh: set[Need] = set()  # forms that may be others

    def sweep(self) -> set[Need]:
        """The roots that are not proven to be the same."""
        chosen = self.part.selection.chosen
        for need in self.part.order:
            starts = need in self._changed or need[0] in self._loads
            if not starts and self._fresh.isdisjoint(chosen[need].inputs):
                continue
            self._fresh.add(need)
            if chosen[need].op == "" or (starts and need[0] in self._loads):
                continue
            if need not in self.roots and self._differs_anyway(chosen[need]):
                continue
            for depth in _DEPTHS[: 3 if need in self.roots else 2]:
                if self._same(need, depth, self.prover._short):
                    self._fresh.discard(need)
                    break
        for root in self.roots:
            if root in self._fresh and self._same(root, _ALL, self.prover._patience):
                self._fresh.discard(root)
        return self._fresh & set(self.roots)

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
        terms, forms = self._terms(target, _ALL)
        want = self._form(terms, *target)
        self.prover.open_assumptions(terms, self.stage)
        return terms, _low(forms[target], target[1].width) != _low(want, target[1].width)

    def _same(self, need: Need, depth: int, patience: int) -> bool:
        terms, forms = self._terms(need, depth)
        want = self._form(terms, *need)
        claim = _low(forms[need], need[1].width) == _low(want, need[1].width)
        return self.prover.holds(terms.known, claim, patience)

    def _terms(self, target: Need, depth: int) -> tuple[Terms, dict[Need, Number]]:
        """The lane's terms, and the changed forms as far as the target needs them."""
        cone, chosen = self._cone(target), self.part.selection.chosen
        moved = self._moved(cone)
        terms = self.prover.terms(self.stage)
        terms.opened = _opened([n[0] for n in cone if n not in moved], depth)
        forms: dict[Need, Number] = {}
        others: dict[Node, Number] = {}
        for need in cone:
            if need[0] in self._loads and need not in self._changed:
                if need[0] not in others:
                    others[need[0]] = self._pair(terms, need[0])
                forms[need] = form_of(others[need[0]], need[1], self.prover.width)
                continue
            choice = chosen[need]
            if need in moved:
                forms[need] = self._form(terms, *need) + moved[need]
            elif choice.op == "":
                forms[need] = forms[choice.inputs[0]]
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
            elif choice.op in _ADDING and need[0] not in self._loads:
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
        """What a load of something changed gives; what it gave is assigned to the node."""
        assert self._writer is not None
        y = terms.fresh(self.prover.loaded(self.stage, load))
        old, new = y, y
        for node, root in self._loads[load]:
            here = z3.Bool(terms._name())
            there, forms = self._writer._terms(root, _ALL)
            # Symbols of this copy of the writer's lane are its own, but for parameters.
            kept = Terms(self.prover, self._writer.stage, terms._names)
            value, form = there.value(node), forms[root]
            value, form, facts = _renamed(kept, there, value, form)
            terms.known += facts
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
        width = self.prover.width
        if got.term.size() > width:  # masks know no width
            got = Number(z3.Extract(width - 1, 0, got.term))
        return Number(got.term + v.result)

    def _form(self, terms: Terms, node: Node, demand: Demand) -> Number:
        return form_of(terms.value(node), demand, self.prover.width)


def _renamed(kept: Terms, there: Terms, value: Any, form: Number) -> tuple[Any, Number, list[Any]]:
    """A copy of terms with inputs of its own; parameters are those there are."""
    pairs = []
    for key, x in there._names.items():
        if key.startswith("param "):
            if key not in kept._names:
                kept._names[key] = x
            else:
                pairs.append((x.term, kept._names[key].term))
    for x in there.symbols.values():
        new = z3.Const(kept._name(), _inner(x.term).sort())
        pairs.append((_inner(x.term), new))

    def swap(t: Any) -> Any:
        return z3.substitute(t, *pairs) if pairs else t

    facts = [Truth(swap(k.term)) for k in there.known]
    return Number(swap(value.term)), Number(swap(form.term)), facts


def _inner(term: Any) -> Any:
    """The input of an extended one."""
    while term.num_args() == 1:
        term = term.arg(0)
    return term


def _low(x: Number, width: int) -> Any:
    return z3.simplify(z3.Extract(width - 1, 0, x.term))
