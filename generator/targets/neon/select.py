# SPDX-License-Identifier: BSD-2-Clause
"""Width assignment and selection: which form of every value is computed, and by which operation.

A value has no width; each use demands one. For every (node, demand) the rules give alternatives.
A dynamic programme from the leaves up finds the cheapest as if nothing were shared; a local search
then changes single decisions while the cost of the whole stage, sharing counted, goes down. Both
are deterministic, so the result is a function of the kernel alone.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.generator.targets.neon.lanes import Lanes
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.targets.neon.rules import RULES, Rule, limits
from daedalus.generator.targets.neon.vectors import Shape

WIDTHS = (8, 16, 32)


class NotLowerable(SpecError):
    """No rule of this back end computes a value as it is needed."""


@dataclass(frozen=True, order=True)
class Demand:
    """What a use wants: kind is bits, sat_u, sat_s, mask or negated."""

    kind: str
    width: int


Need = tuple[Node, Demand]


@dataclass(frozen=True)
class Choice:
    """One way to meet a demand.

    op      machine operation; "" for an alias; of leaves "dup", "load", "lane", "dot"
    inputs  vector operands
    scalars operands taken as a scalar (a constant or uniform)
    """

    rule: str
    op: str
    inputs: tuple[Need, ...]
    scalars: tuple[Node, ...]
    imm: int
    cost: float


class Selection:
    """The decisions of one stage.

    registers  the C variables that hold each form; the emitter fills it in
    """

    def __init__(self, kernel: Kernel, lanes: Lanes, ranges: Ranges, shape: Shape) -> None:
        self.kernel, self.lanes, self.ranges, self.shape = kernel, lanes, ranges, shape
        self.registers: dict[Need, tuple[str, ...]] = {}
        self.stage = stage = lanes.stage
        self._uniform = lanes.uniform_nodes()
        self._rules: dict[tuple[Op, str], list[Rule]] = {}
        for r in RULES:
            self._rules.setdefault((r.on, r.gives), []).append(r)
        self.roots: list[Need] = [
            (s.value, Demand("bits", ranges.dtype(s.buffer).bits)) for s in stage.stores
        ]
        if stage.guard is not None:
            self.roots.append((stage.guard, Demand("mask", 8)))
        self._alternatives: dict[Need, list[Choice]] = {}
        self._best: dict[Need, Choice] = {}
        self._cost: dict[Need, float] = {}
        for node in stage.nodes():
            self._solve(node)
        for root in self.roots:
            if root not in self._best:
                raise self._refusal(root)
        self.chosen = self._search()

    def reached(self) -> list[Need]:
        """Everything the stage computes, operands before their users."""
        return self._reach(self.chosen)

    # ------------------------------------------------------------------ alternatives

    def _fits(self, node: Node, width: int, signed: bool) -> bool:
        return width in WIDTHS and self.ranges.of(node).within(*limits(width, signed))

    def _operand(self, node: Node, code: str, w: int) -> Need | Node | None:
        """What a rule's code asks of a node at width w; None where its condition fails."""
        signed = code.endswith("_s") or code == "s"
        match code:
            case "bits" | "mask" | "sat_u" | "sat_s" | "negated":
                return node, Demand(code, w)
            case "u" | "s":
                return (node, Demand("bits", w)) if self._fits(node, w, signed) else None
            case "half_u" | "half_s":
                half = w // 2
                return (node, Demand("bits", half)) if self._fits(node, half, signed) else None
            case "twice":
                return (node, Demand("bits", 2 * w)) if 2 * w in WIDTHS else None
            case "twice_sat_u" | "twice_sat_s":
                return (node, Demand(code[6:], 2 * w)) if 2 * w in WIDTHS else None
            case "twice_u" | "twice_s":
                return (node, Demand("bits", 2 * w)) if self._fits(node, 2 * w, signed) else None
            case "const":
                fits = self._fits(node, w, True) or self._fits(node, w, False)
                return node if self._scalar(node) and fits else None
            case "half_const_u" | "half_const_s":
                return node if self._scalar(node) and self._fits(node, w // 2, signed) else None
        raise AssertionError(code)

    def _scalar(self, node: Node) -> bool:
        """One value for the whole vector: a constant, or uniform where a vector holds one item."""
        return node.op is Op.CONST or (node in self._uniform and self.lanes.items == 1)

    def _direct(self, node: Node, demand: Demand) -> Iterator[Choice]:
        """Alternatives that compute the node's operation, or fetch a leaf."""
        w = demand.width
        if node in self._uniform:
            yield Choice("dup", "dup", (), (node,), 0, 0.6 * self.shape.count(w))
            return
        if demand.kind == "negated":
            yield Choice("neg", "neg", ((node, Demand("bits", w)),), (), 0, self.shape.count(w))
            return
        if node.op is Op.LOAD or node.op is Op.PARAM:
            if demand == Demand("bits", self._element_bits(node)):
                yield Choice("load", "load", (), node.args, 0, self.shape.count(w))
            return
        if node.op is Op.DOT:
            if demand == Demand("bits", 32):
                scalars = (node.args[0], *node.args[1].args)
                yield Choice("dot", "dot", (), scalars, 0, 1.5 * self.shape.count(w))
            return
        if node.op is Op.LANE:
            if demand.kind == "bits":
                yield Choice("lane", "lane", (), (), 0, self.shape.count(w))
            return
        for rule in self._rules.get((node.op, demand.kind), []):
            if w not in rule.widths:
                continue
            for operands in rule.pick(node):
                choice = self._apply(rule, node, operands, w)
                if choice is not None:
                    yield choice

    def _element_bits(self, node: Node) -> int:
        """Bits of what a LOAD, or a PARAM of an array, reads."""
        if node.op is Op.PARAM:
            return self.kernel.param(node.attr[0]).dtype.bits
        return self.ranges.dtype(node.attr[0]).bits

    def _apply(self, rule: Rule, node: Node, operands: tuple[Node, ...], w: int) -> Choice | None:
        got = [self._operand(x, c, w) for x, c in zip(operands, rule.takes, strict=True)]
        if any(g is None for g in got) or not rule.when(node, w, self.ranges.of):
            return None
        inputs = tuple(g for g in got if isinstance(g, tuple))
        scalars = tuple(g for g in got if isinstance(g, Node))
        cost = 0.0
        if rule.op:
            widest = 2 * w if OPS[rule.op].shape == "narrow" else w
            cost = OPS[rule.op].cost * self.shape.count(widest)
        return Choice(rule.name, rule.op, inputs, scalars, rule.imm(node), cost)

    def _converted(self, node: Node, demand: Demand) -> Iterator[Choice]:
        """Alternatives that start from another form of the same value."""
        w, half, twice = demand.width, demand.width // 2, demand.width * 2

        def from_(op: str, kind: str, width: int) -> Choice:
            cost = OPS[op].cost * self.shape.count(max(w, width)) if op else 0.0
            return Choice(op or "alias", op, ((node, Demand(kind, width)),), (), 0, cost)

        match demand.kind:
            case "bits":
                if twice in WIDTHS:
                    yield from_("movn", "bits", twice)
                for s in "us":
                    if self._fits(node, half, s == "s"):
                        yield from_(f"movl_{s}", "bits", half)
                    if self._fits(node, w, s == "s"):
                        yield from_("", f"sat_{s}", w)
            case "mask":
                if twice in WIDTHS:
                    yield from_("movn", "mask", twice)
                if half in WIDTHS:
                    yield from_("movl_s", "mask", half)
            case "sat_u" | "sat_s":
                if self._fits(node, w, demand.kind == "sat_s"):
                    yield from_("", "bits", w)
                if twice in WIDTHS:
                    narrow = "qmovun" if demand.kind == "sat_u" else "qmovn_s"
                    yield from_(narrow, "sat_s", twice)
                    if demand.kind == "sat_u":
                        yield from_("qmovn_u", "sat_u", twice)

    # ------------------------------------------------------------------ dynamic programme

    def _solve(self, node: Node) -> None:
        """Best choice per demand for a node whose operands are solved."""
        kinds = ("mask",) if node.is_bool else ("bits", "sat_u", "sat_s", "negated")
        needs = [(node, Demand(k, w)) for k in kinds for w in WIDTHS]
        for need in needs:
            self._alternatives[need] = [*self._direct(*need), *self._converted(*need)]
        while any([self._relax(need, self._alternatives[need]) for need in needs]):
            pass  # forms of one value can be made from one another, in chains

    def _relax(self, need: Need, choices: list[Choice]) -> bool:
        """Takes the cheapest choice; whether that is better than what was known."""
        better = False
        for choice in choices:
            if any(i not in self._cost for i in choice.inputs):
                continue
            cost = choice.cost + sum(self._cost[i] for i in choice.inputs)
            if cost < self._cost.get(need, math.inf):
                self._cost[need], self._best[need], better = cost, choice, True
        return better

    def _refusal(self, need: Need) -> NotLowerable:
        """The deepest node that no rule computes: that is the line to look at."""
        node = need[0]
        for n in self.stage.nodes():
            if not any((n, Demand(k, w)) in self._best for k in ("bits", "mask") for w in WIDTHS):
                node = n
                break
        r: Interval = self.ranges.of(node)
        return NotLowerable(
            "neon",
            f"{node.op}{' ' + node.name if node.name else ''}, in {r}, has no NEON form",
            node.loc,
            self.kernel.id,
            hint="NEON lanes are at most 32 bits, and tables are looked up by uniform indices only",
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
        shared = _Shared(self._best, self.roots)
        improved = True
        while improved:
            improved = False
            for need in self._reach(shared.chosen):
                for choice in self._alternatives[need]:
                    if need not in shared.uses:
                        break  # an earlier change made it superfluous
                    if all(i in self._best for i in choice.inputs):
                        improved |= shared.try_change(need, choice)
        return shared.chosen


class _Shared:
    """The choices in force, and what they cost when each value is computed once.

    uses   how many uses each needed value has; what nobody needs is not in it
    """

    def __init__(self, best: dict[Need, Choice], roots: list[Need]) -> None:
        self.chosen = dict(best)
        self.uses: Counter[Need] = Counter()
        self._total = 0.0
        for root in roots:
            self._acquire(root)

    def _acquire(self, need: Need) -> None:
        stack = [need]
        while stack:
            n = stack.pop()
            self.uses[n] += 1
            if self.uses[n] == 1:
                self._total += self.chosen[n].cost
                stack.extend(self.chosen[n].inputs)

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
        stack = [i for i in choice.inputs if i[0] is need[0]]
        while stack:
            n = stack.pop()
            if n == need:
                return True
            stack.extend(i for i in self.chosen[n].inputs if i[0] is need[0])
        return False

    def try_change(self, need: Need, choice: Choice) -> bool:
        """Makes the change if the whole gets cheaper by it."""
        old, before = self.chosen[need], self._total
        if choice is old or self._circular(need, choice):
            return False
        self._change(need, choice)
        if self._total < before - 1e-9:
            return True
        self._change(need, old)
        self._total = before  # no rounding error stays behind
        return False
