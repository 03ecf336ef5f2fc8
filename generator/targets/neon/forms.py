# SPDX-License-Identifier: BSD-2-Clause
"""The forms of every value of a stage: all ways to make each, and the cheapest, nothing shared.

What can be done with a value follows from its operation, its range, and the same of what it is
made of. Values that agree in all of that are of one *kind*, of which unrolled rows have many; each
kind is solved once, on its first value, and its choices are read off for the others.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.neon.held import Held
from daedalus.generator.targets.neon.lanes import Lanes
from daedalus.generator.targets.neon.rules import Rule, limits
from daedalus.generator.targets.neon.vectors import Shape

WIDTHS = (8, 16, 32)
_LOOKUP = 4.0  # what a lane of a lookup costs: out of a register, a load, and in again


class Demand(NamedTuple):
    """What a use wants: kind is bits, sat_u, sat_s, mask or negated."""

    kind: str
    width: int


Need = tuple[Node, Demand]


class Choice(NamedTuple):
    """One way to meet a demand.

    op      machine operation; "" for an alias; "lookup" of a table, or of memory, by the lane; of
            leaves "dup", "load", "lane", "dot"
    inputs  vector operands
    scalars operands taken as a scalar (a constant or uniform)
    """

    rule: str
    op: str
    inputs: tuple[Need, ...]
    scalars: tuple[Node, ...]
    imm: int
    cost: float


def signed_as(need: Need, ranges: Ranges) -> bool:
    """Whether a form that holds a value, or one limited, holds it as a signed number."""
    node, demand = need
    if demand.kind == "bits":
        return not ranges.of(node).within(*limits(demand.width, False))
    return demand.kind == "sat_s"


@dataclass
class Kind:
    """What is known of all values of a kind, in terms of the first.

    choices  those that lead to something, by demand
    best     the cheapest of them
    cost     of that, with all it is made of
    """

    first: Node
    choices: dict[Demand, list[Choice]] = field(default_factory=dict)
    best: dict[Demand, Choice] = field(default_factory=dict)
    cost: dict[Demand, float] = field(default_factory=dict)


def _near(node: Node) -> tuple[Node, ...]:
    """The node and what rules look at below it."""
    return (node, *node.args, *(x for a in node.args for x in a.args))


def _moved(choice: Choice, to: dict[Node, Node]) -> Choice:
    """A choice of one value as that of another of its kind; `to` says which nodes are which."""
    return Choice(
        choice.rule, choice.op, tuple((to[n], d) for n, d in choice.inputs),
        tuple(to[n] for n in choice.scalars), choice.imm, choice.cost,
    )  # fmt: skip


class Forms:
    """The forms of a stage's values."""

    def __init__(self, kernel: Kernel, lanes: Lanes, ranges: Ranges, shape: Shape) -> None:
        self.kernel, self.lanes, self.ranges, self.shape = kernel, lanes, ranges, shape
        self._uniform = lanes.uniform_nodes()
        self.held = Held(kernel, ranges, lanes)
        self._widths = self._used_widths()
        self._kinds: dict[Node, Kind] = {}
        self._choices: dict[Need, list[Choice]] = {}
        known: dict[tuple[Any, ...], Kind] = {}
        for node in lanes.stage.nodes():
            key = self._key(node)
            kind = known.get(key)
            if kind is None:
                kind = known[key] = self._kinds[node] = Kind(node)
                self._solve(node, kind)
            self._kinds[node] = kind

    def _used_widths(self) -> tuple[int, ...]:
        """Of elements: those of 64 bits only where a value needs them."""
        most = max(WIDTHS)
        numbers = [n for n in self.lanes.stage.nodes() if not n.is_bool]
        fits = all(
            any(self.ranges.of(n).within(*limits(most, signed)) for signed in (True, False))
            for n in numbers
        )
        return WIDTHS if fits or self.shape.target.widest == most else (*WIDTHS, 2 * most)

    def choices(self, need: Need) -> list[Choice]:
        """The ways to meet a demand, in an order that only the node's kind decides."""
        found = self._choices.get(need)
        if found is None:
            node, kind = need[0], self._kinds[need[0]]
            found = kind.choices[need[1]]
            if node is not kind.first:
                to = dict(zip(_near(kind.first), _near(node), strict=True))
                found = [_moved(c, to) for c in found]
            self._choices[need] = found
        return found

    def can(self, need: Need) -> bool:
        """Whether there is a way to meet a demand."""
        return need[1] in self._kinds[need[0]].best

    def best(self, need: Need) -> Choice:
        """The cheapest way."""
        node, kind = need[0], self._kinds[need[0]]
        found = kind.best[need[1]]
        if node is kind.first:
            return found
        return _moved(found, dict(zip(_near(kind.first), _near(node), strict=True)))

    def best_from(self, need: Need) -> list[Demand]:
        """The other forms of the same value that the cheapest way starts from."""
        kind = self._kinds[need[0]]
        return [d for x, d in kind.best[need[1]].inputs if x is kind.first]

    def _key(self, node: Node) -> tuple[Any, ...]:
        """Equal for values of one kind: what they are, and which values near are the same."""
        r, near = self.ranges.of(node), _near(node)
        memory = node.op is Op.LOAD or node.op is Op.PARAM
        return (
            node.op,
            self._element_bits(node) if memory else node.attr,
            self._held(node),
            r.lo,
            r.hi,
            node in self._uniform,
            tuple(id(self._kinds[x]) for x in near[1:]),
            tuple(near.index(x) for x in near),
        )

    # ------------------------------------------------------------------ alternatives

    def _fits(self, node: Node, width: int, signed: bool) -> bool:
        return width in self._widths and self.ranges.of(node).within(*limits(width, signed))

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
                return (node, Demand("bits", 2 * w)) if 2 * w in self._widths else None
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
            if demand != Demand("bits", self._element_bits(node)):
                return
            if all(x in self._uniform for x in node.args):
                yield Choice("load", "load", (), node.args, 0, self.shape.count(w))
            else:
                yield from self._gathers(node)
            return
        if node.op is Op.DOT:
            if demand == Demand("bits", 32):
                scalars = (node.args[0], *node.args[1].args)
                yield Choice("dot", "dot", (), scalars, 0, 1.5 * self.shape.count(w))
            return
        if node.op is Op.TABLE:
            if demand == Demand("bits", self.kernel.table(node.attr[0]).dtype.bits):
                yield from self._lookups(node)
            return
        if node.op is Op.LANE:
            if demand.kind == "bits":
                yield Choice("lane", "lane", (), (), 0, self.shape.count(w))
            return
        for rule in self.shape.target.rules_by_demand.get((node.op, demand.kind), []):
            if w not in rule.widths:
                continue
            for operands in rule.pick(node):
                choice = self._apply(rule, node, operands, w)
                if choice is not None:
                    yield choice

    def _lookups(self, node: Node) -> Iterator[Choice]:
        """A table's entries, by the forms that its indices can have: limited ones will do, where
        the last row is inside the limits."""
        table = self.kernel.table(node.attr[0])
        ends = (len(table.rows) - 1, len(table.rows[0]) - 1)
        scalars = tuple(x for x in node.args if x in self._uniform)
        ways: list[list[Need]] = []
        for x, end in zip(node.args, ends, strict=False):
            if x in self._uniform:
                continue
            ways.append([])
            for w, s in product(WIDTHS, "us"):
                if self._fits(x, w, s == "s"):
                    found = (x, Demand("bits", w))
                    ways[-1] += [] if found in ways[-1] else [found]
                elif end <= limits(w, s == "s")[1]:
                    ways[-1].append((x, Demand(f"sat_{s}", w)))
        width = table.dtype.bits
        for inputs in product(*ways):
            yield Choice("lookup", "lookup", inputs, scalars, 0, self._cost(node, inputs, width))

    def _gathers(self, node: Node) -> Iterator[Choice]:
        """A LOAD of an element for each lane, by the forms that what decides its place can have."""
        scalars = tuple(x for x in node.args if x in self._uniform)
        ways = [
            [
                (x, Demand("bits", w))
                for w in WIDTHS
                if any(self._fits(x, w, s) for s in (True, False))
            ]
            for x in dict.fromkeys(node.args)
            if x not in self._uniform
        ]
        width = self._element_bits(node)
        for inputs in product(*ways):
            yield Choice("gather", "lookup", inputs, scalars, 0, self._cost(node, inputs, width))

    def _held(self, node: Node) -> int:
        """How many registers hold what lanes look up; of one kind what costs the same."""
        if node.op not in (Op.LOAD, Op.TABLE) or not self.shape.target.looks_up:
            return 0
        varying = [x for x in dict.fromkeys(node.args) if x not in self._uniform]
        return self.held.registers(node, varying)

    def _cost(self, node: Node, inputs: tuple[Need, ...], width: int) -> float:
        """Of a lookup: in registers, where an index is as wide as what it finds, or by the lane."""
        alike = self.shape.target.looks_up and all(d.width == width for _, d in inputs)
        if node.op is Op.TABLE:  # whose index is limited as a number without sign
            alike = alike and not any(signed_as(need, self.ranges) for need in inputs)
        many = self.held.registers(node, [x for x, _ in inputs]) if alike else 0
        if not many:
            return _LOOKUP * self.shape.lanes
        return many + self.shape.count(width) * (many if width == 8 else many + 2)

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
            widest = 2 * w if self.shape.target.ops[rule.op].shape == "narrow" else w
            cost = self.shape.target.ops[rule.op].cost * self.shape.count(widest)
        return Choice(rule.name, rule.op, inputs, scalars, rule.imm(node), cost)

    def _converted(self, node: Node, demand: Demand) -> Iterator[Choice]:
        """Alternatives that start from another form of the same value."""
        w, half, twice = demand.width, demand.width // 2, demand.width * 2

        def from_(op: str, kind: str, width: int, imm: int = 0) -> Choice:
            cost = self.shape.target.ops[op].cost * self.shape.count(max(w, width)) if op else 0.0
            return Choice(op or "alias", op, ((node, Demand(kind, width)),), (), imm, cost)

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
                signed = demand.kind == "sat_s"
                if self._fits(node, w, signed):
                    yield from_("", "bits", w)
                elif w == max(WIDTHS) and self._fits(node, w, not signed):
                    # What is beyond one end only; narrower lanes come from wider ones.
                    limit = limits(w, True)[1] if signed else 0
                    yield from_("min_n_u" if signed else "max_n_s", "bits", w, limit)
                if twice in WIDTHS:
                    narrow = "qmovun" if demand.kind == "sat_u" else "qmovn_s"
                    yield from_(narrow, "sat_s", twice)
                    if demand.kind == "sat_u":
                        yield from_("qmovn_u", "sat_u", twice)

    # ------------------------------------------------------------------ dynamic programme

    def _solve(self, node: Node, kind: Kind) -> None:
        """Ways and costs of a kind, from its first value; those of the operands are known."""
        kinds = ("mask",) if node.is_bool else ("bits", "sat_u", "sat_s", "negated")
        demands = [Demand(k, w) for k in kinds for w in WIDTHS]
        demands += [Demand("bits", w) for w in self._widths if w not in WIDTHS]
        for d in demands:
            kind.choices[d] = [*self._direct(node, d), *self._converted(node, d)]
        while any([self._relax(kind, d) for d in demands]):
            pass  # forms of one value can be made from one another, in chains
        for d in demands:
            kind.choices[d] = [c for c in kind.choices[d] if all(map(self.can, c.inputs))]

    def _relax(self, kind: Kind, demand: Demand) -> bool:
        """Takes the cheapest choice; whether that is better than what was known."""
        better = False
        for choice in kind.choices[demand]:
            cost = choice.cost + sum(self._kinds[x].cost.get(d, math.inf) for x, d in choice.inputs)
            if cost < kind.cost.get(demand, math.inf):
                kind.cost[demand], kind.best[demand], better = cost, choice, True
        return better
