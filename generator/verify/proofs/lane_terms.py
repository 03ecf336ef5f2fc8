# SPDX-License-Identifier: BSD-2-Clause
"""The values of a lane of a stage as terms for the solver."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import z3

from daedalus.dsl.ir import Kernel, Node, Op, evaluate
from daedalus.dsl.ranges import Interval, table_rows
from daedalus.generator.targets.neon.forms import Demand
from daedalus.generator.targets.neon.rules import limits
from daedalus.generator.verify.proofs.symbolic import Number, Truth


class Inputs(Protocol):
    """What is known of a program's values; width: bits of every term."""

    kernel: Kernel
    width: int

    def range_of(self, node: Node) -> Interval: ...

    def loaded(self, stage: int, node: Node) -> list[Interval]: ...


@dataclass
class Names:
    """What all terms of one question share: names that none uses twice, and the parameters, which
    are the same in all lanes and stages, with what is known of them."""

    params: dict[str, Number] = field(default_factory=dict)
    known: list[Truth] = field(default_factory=list)
    count: int = 0

    def new(self) -> str:
        """By order of use, so that equal questions are the same text."""
        self.count += 1
        return f"x{self.count}"

    def any_in(self, ranges: list[Interval], width: int) -> tuple[Number, Truth]:
        """Any value in one of the ranges, as a term of that width: it, and that it is in them."""
        lo, hi = min(r.lo for r in ranges), max(r.hi for r in ranges)
        signed = lo < 0
        bits = max(1, max(-lo - 1 if signed else 0, hi).bit_length() + signed)
        extend = z3.SignExt if signed else z3.ZeroExt
        x = Number(extend(width - bits, z3.BitVec(self.new(), bits)))
        inside = [z3.And((x >= r.lo).term, (x <= r.hi).term) for r in ranges]
        return x, Truth(z3.Or(*inside))


class Terms:
    """The values of a lane of a stage as terms; beyond `opened` nodes they are symbols.

    own  what is known of this lane alone; its assumptions hold only where the stage runs
    """

    def __init__(self, inputs: Inputs, stage: int, names: Names) -> None:
        self._inputs, self._stage, self.names = inputs, stage, names
        self.opened: set[Node] = set()
        self.own: list[Truth] = []
        self._values: dict[Node, Any] = {}

    @property
    def known(self) -> list[Truth]:
        """What is known of the lane and of the parameters."""
        return [*self.names.known, *self.own]

    def value(self, root: Node) -> Any:
        """A node's value: a Number, of a condition a Truth."""
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [a for a in self._operands(node) if a not in self._values]
            if missing and node not in self._values:
                stack += missing
                continue
            stack.pop()
            if node not in self._values:
                self._values[node] = self._made(node)
        return self._values[root]

    def assign(self, node: Node, value: Any) -> None:
        """Says what a node is."""
        self._values[node] = value

    def _operands(self, node: Node) -> tuple[Node, ...]:
        if node not in self.opened or node.op is Op.LOAD:
            return ()
        return node.args

    def _made(self, node: Node) -> Any:
        if node.op is Op.CONST:
            return Number(z3.BitVecVal(node.value, self._inputs.width))
        if node.op is Op.PARAM and len(node.attr) == 1:  # one value, in all stages
            return self._param(node)
        if node not in self.opened or node.op in (Op.PARAM, Op.LANE, Op.LOAD, Op.DOT):
            return self._symbol(node)
        args = tuple(self._values[a] for a in node.args)
        if node.op is Op.TABLE:
            return self._looked_up(node, args)
        if node.op is Op.ASSUME:
            self.own += [args[0] >= node.attr[1], args[0] <= node.attr[2]]
        made = evaluate(node.op, node.attr, args)
        if not node.is_bool:  # it follows, but the solver need not find out
            held = self._inputs.range_of(node)
            self.own += [made >= held.lo, made <= held.hi]
        return made

    def _param(self, node: Node) -> Number:
        name, names = str(node.attr[0]), self.names
        if name not in names.params:
            held = [self._inputs.range_of(node)]
            names.params[name], fact = names.any_in(held, self._inputs.width)
            names.known.append(fact)
        return names.params[name]

    def _symbol(self, node: Node) -> Any:
        if node.is_bool:
            return Truth(z3.Bool(self.names.new()))
        if node.op is Op.LOAD:
            return self.fresh(self._inputs.loaded(self._stage, node))
        return self.fresh([self._inputs.range_of(node)])

    def fresh(self, ranges: list[Interval]) -> Number:
        """Any value in one of the ranges."""
        made, fact = self.names.any_in(ranges, self._inputs.width)
        self.own.append(fact)
        return made

    def _looked_up(self, node: Node, args: tuple[Any, ...]) -> Any:
        table = self._inputs.kernel.table(node.attr[0])
        row = self._inputs.range_of(node.args[0])
        first, width = min(max(row.lo, 0), len(table.rows) - 1), self._inputs.width
        found: Any = None
        for r, values in enumerate(table_rows(table, row), first):
            for c, value in enumerate(values):
                if found is None:
                    found = Number(z3.BitVecVal(value, width))
                    continue
                here = _is_at(args[0], r, len(table.rows))
                if len(args) > 1:
                    here = z3.And(here, _is_at(args[1], c, len(values)))
                found = Number(z3.If(here, z3.BitVecVal(value, width), found.term))
        return found


def _is_at(index: Any, n: int, count: int) -> Any:
    """Whether an index, limited to a table of `count`, is n."""
    if n == count - 1:
        return (index >= n).term
    return (index <= n).term if n == 0 else (index == n).term


def form_of(value: Any, demand: Demand, width: int) -> Number:
    """A value in a form, as a term of that width: what "demanded" means. Only the low bits of the
    result count."""
    match demand.kind:
        case "negated":
            return Number(-value.term)
        case "mask":
            return Number(z3.If(value.term, z3.BitVecVal(-1, width), z3.BitVecVal(0, width)))
        case "sat_u" | "sat_s":
            lo, hi = limits(demand.width, demand.kind == "sat_s")
            low, high = z3.BitVecVal(lo, width), z3.BitVecVal(hi, width)
            return Number(z3.If(value.term < low, low, z3.If(value.term > high, high, value.term)))
    return Number(value.term)
