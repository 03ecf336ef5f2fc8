# SPDX-License-Identifier: BSD-2-Clause
"""The values of a lane of a stage as terms for the solver."""

from typing import Any, Protocol

import z3

from daedalus.dsl.ir import Kernel, Node, Op, evaluate
from daedalus.dsl.ranges import Interval, table_rows
from daedalus.generator.symbolic import Number, Truth
from daedalus.generator.targets.neon.forms import Demand
from daedalus.generator.targets.neon.rules import limits


class Inputs(Protocol):
    """What is known of a program's values; width: bits of every term."""

    kernel: Kernel
    width: int

    def range_of(self, node: Node) -> Interval: ...

    def loaded(self, stage: int, node: Node) -> list[Interval]: ...


class Terms:
    """The values of a lane of a stage as terms; beyond `opened` nodes they are symbols."""

    def __init__(self, inputs: Inputs, stage: int, names: dict[str, Any]) -> None:
        self._inputs, self._stage, self._names = inputs, stage, names
        self.opened: set[Node] = set()
        self.known: list[Any] = []
        self._values: dict[Node, Any] = {}
        self.symbols: dict[Node, Any] = {}

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
            key = f"param {node.attr[0]}"
            if key not in self._names:
                self._names[key] = self.fresh([self._inputs.range_of(node)])
            return self._names[key]
        if node not in self.opened or node.op in (Op.PARAM, Op.LANE, Op.LOAD, Op.DOT):
            self.symbols[node] = made = self._symbol(node)
            return made
        args = tuple(self._values[a] for a in node.args)
        if node.op is Op.TABLE:
            return self._looked_up(node, args)
        if node.op is Op.ASSUME:
            self.known += [args[0] >= node.attr[1], args[0] <= node.attr[2]]
        made = evaluate(node.op, node.attr, args)
        if not node.is_bool:  # it follows, but the solver need not find out
            held = self._inputs.range_of(node)
            self.known += [made >= held.lo, made <= held.hi]
        return made

    def _symbol(self, node: Node) -> Any:
        if node.is_bool:
            return Truth(z3.Bool(self._name()))
        if node.op is Op.LOAD:
            return self.fresh(self._inputs.loaded(self._stage, node))
        return self.fresh([self._inputs.range_of(node)])

    def fresh(self, ranges: list[Interval]) -> Number:
        """Any value in one of the ranges."""
        lo, hi = min(r.lo for r in ranges), max(r.hi for r in ranges)
        signed = lo < 0
        bits = max(1, max(-lo - 1 if signed else 0, hi).bit_length() + signed)
        extend = z3.SignExt if signed else z3.ZeroExt
        x = Number(extend(self._inputs.width - bits, z3.BitVec(self._name(), bits)))
        inside = [z3.And((x >= r.lo).term, (x <= r.hi).term) for r in ranges]
        self.known.append(Truth(z3.Or(*inside)))
        return x

    def _name(self) -> str:
        """By order of use, so that equal questions are the same text."""
        self._names["count"] = self._names.get("count", 0) + 1
        return f"x{self._names['count']}"

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
