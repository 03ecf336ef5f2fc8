# SPDX-License-Identifier: BSD-2-Clause
"""The values of a stage as virtual values, by the rules; conditions as flags."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.dsl.show import node_kind
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, Flags, any_of, both
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.expressions import Operands, made, operation, tested
from daedalus.generator.targets.qpu.flag_rules import FLAG_RULES
from daedalus.generator.targets.qpu.rules import RULES, Case, Expression, Rule, operands
from daedalus.generator.targets.qpu.virtual import Value

_LATE = (Op.LOAD, Op.CONST, Op.LANE, Op.TABLE, Op.PARAM, Op.DOT)
_NAMES = "abc"  # of operands that are values
_NO_RULE = "no rule computes it in 32 bits"
_RULES = (*FLAG_RULES, *RULES)


@dataclass(frozen=True)
class _Choice:
    """A rule for a node: its case, and the operands by name."""

    rule: Rule
    case: Case
    nodes: dict[str, Node]

    @property
    def makes(self) -> Expression:
        return self.rule.makes(self.case)


def greater(
    x: Argument, high: Interval, y: Argument, low: Interval, e: Emitter
) -> Condition | None:
    """x > y, of values in these ranges; None where no rule compares them in 32 bits."""
    case = Case(high, low)
    plain = (r for r in FLAG_RULES if r.on is Op.GT and r.of == ("a", "b"))
    found = next((r for r in plain if r.when(case)), None)
    return None if found is None else tested(found.makes(case), {"a": x, "b": y}.__getitem__, e)


def _of_one_sum(kernel: Kernel) -> set[Node]:
    """What is 0 where a condition does not hold, or where it does, and one sum alone takes: it can
    be made under the condition."""
    uses = Counter(a for s in kernel.stages for n in s.nodes() for a in n.args)
    uses.update(st.value for s in kernel.stages for st in s.stores)
    sums = [n for s in kernel.stages for n in s.nodes() if n.op in (Op.ADD, Op.SUB)]
    terms = [a for n in sums for a in n.args[n.op is Op.SUB :]]
    return {a for a in terms if uses[a] == 1 and a.op is Op.SELECT and _has_zero(a)}


def _has_zero(n: Node) -> bool:
    return any(a.op is Op.CONST and a.value == 0 for a in n.args[1:])


class Values:
    """Computes nodes, each once.

    read   computes a LOAD, PARAM, TABLE, DOT or LANE
    kept   values that decide places: what limits them holds for every item
    dots   computes a value and a number where the value is a sum that it knows a better way for
    """

    def __init__(
        self, kernel: Kernel, ranges: Ranges, e: Emitter, flags: Flags,
        read: "Callable[[Node, Values], Argument]", kept: Iterable[Node] = (),
        dots: "Callable[[Node, int, Values], Value | None] | None" = None,
    ) -> None:  # fmt: skip
        self.kernel, self.ranges, self.e, self.flags = kernel, ranges, e, flags
        self._read, self._kept, self._dots = read, set(kept), dots
        self._of_one_sum = _of_one_sum(kernel)
        self._of: dict[Node, Argument] = {}
        self._conditions: dict[Node, Condition] = {}

    def emit(self, *roots: Node) -> None:
        """Computes what values are made of, in the author's order; what is read, conditions, what
        these alone need, and what a sum is made of under one, where they are needed."""
        below: set[Node] = set()
        stack = list(roots)
        while stack:
            n = stack.pop()
            if n not in below and n not in self._of and n.op not in _LATE:
                below.add(n)
                stack += n.args[1:] if n.op is Op.SELECT else n.args
        for n in sorted(below, key=lambda n: n.seq):
            if n not in self._of_one_sum:
                self.argument(n)

    def argument(self, n: Node) -> Argument:
        """The value as an operand: constants are numbers."""
        if n not in self._of:
            with self.e.note(self.e.where(n.loc, n.name or node_kind(n))):
                self._of[n] = self._compute(n)
        return self._of[n]

    def value(self, n: Node) -> Value:
        """The value in a register."""
        return self.e.value(self.argument(n))

    def known(self, n: Node, value: Argument) -> None:
        """Says what a value is."""
        self._of[n] = value

    def condition(self, n: Node) -> Condition:
        """A boolean."""
        if n not in self._conditions:
            with self.e.note(self.e.where(n.loc, n.name or node_kind(n))):
                self._conditions[n] = self._condition(n)
        return self._conditions[n]

    # ------------------------------------------------------------------ by rules

    def _compute(self, n: Node) -> Argument:
        match n.op:
            case Op.CONST:
                return n.value
            case Op.LOAD | Op.PARAM | Op.TABLE | Op.LANE:
                return self._read(n, self)
            case Op.ASSUME:
                return self.argument(n.args[0])
            case Op.DOT:
                dot = self._sum(n, 0)
                return self._read(n, self) if dot is None else dot
        chosen = self._rule(n)
        x: Expression = chosen.makes if chosen else None
        dot = self._dot(n, x)
        if dot is not None:
            return dot
        if chosen is None:
            raise self._refuse(n, f"{n.op} of values of {self._shown(n)}: {_NO_RULE}")
        if x[0] == "if":
            return self._conditional(x, chosen.nodes)
        return made(x, self._by_name(chosen.nodes), self.e)

    def _rule(self, n: Node) -> _Choice | None:
        """The first rule that holds."""
        for one in _RULES:
            nodes = operands(one, n, self._of) if one.on is n.op else None
            if nodes is not None:
                case = self._case(n, nodes)
                if one.when(case):
                    return _Choice(one, case, nodes)
        return None

    def _case(self, n: Node, nodes: dict[str, Node]) -> Case:
        names = [x for x in _NAMES if x in nodes]
        r = {x: self.ranges.of(y) for x, y in nodes.items() if not y.is_bool}
        last = nodes[names[-1]]
        const = last.value if len(names) > 1 and last.op is Op.CONST else None
        a = r["a"]
        return Case(
            a, r.get("b", a), n.attr, const, n in self._kept, r.get("c", a), r.get("inner", a)
        )

    def _by_name(self, nodes: dict[str, Node]) -> Operands:
        """Operands as they are asked for, a and b first of all."""
        for name in "ab":
            if name in nodes:
                self.argument(nodes[name])
        return lambda name: self.argument(nodes[name])

    def _conditional(self, x: Expression, nodes: dict[str, Node]) -> Value:
        """What is done where a condition holds."""
        _, where, done, otherwise = x
        operands = self._by_name(nodes)
        condition = self.condition(nodes["f"])
        flag = self.flags.flag(condition if where == "f" else ~condition)
        old = self.value(nodes[otherwise])
        name, sources = operation(done, lambda x: old if x == otherwise else operands(x), self.e)
        return self.e.b.op(name, *sources, when=flag, old=old)

    def _dot(self, n: Node, x: Expression) -> Value | None:
        """A sum, or the shift of one and a number, as dot products."""
        if n.op in (Op.ADD, Op.SUB):
            return self._sum(n, 0)
        if n.op is not Op.RSHR or x is None or x[1][:2] != ("add", "a"):
            return None
        total = self._sum(n.args[0], x[1][2])
        return None if total is None else self.e.op(x[0], total, x[2])

    def _sum(self, n: Node, more: int) -> Value | None:
        """A value and a number as dot products."""
        return None if self._dots is None else self._dots(n, more, self)

    # ------------------------------------------------------------------ conditions

    def _condition(self, n: Node) -> Condition:
        match n.op:
            case Op.AND:
                return both(*(self.condition(a) for a in n.args))
            case Op.OR:
                return any_of(*(self.condition(a) for a in n.args))
            case Op.NOT:
                return ~self.condition(n.args[0])
            case Op.GT:
                return self._greater(n)
            case Op.LE:
                return ~self._greater(replace(n, op=Op.GT))
        raise self._refuse(n, f"{n.op} is no condition")

    def _greater(self, n: Node) -> Condition:
        chosen = self._rule(n)
        if chosen is None:
            raise self._refuse(n, f"values of {self._shown(n)} are compared: {_NO_RULE}")
        return tested(chosen.makes, self._by_name(chosen.nodes), self.e)

    def _shown(self, n: Node) -> str:
        return ", ".join(str(self.ranges.of(a)) for a in n.args)

    def _refuse(self, n: Node, message: str) -> NotLowerable:
        return NotLowerable(
            "qpu", message, n.loc, self.kernel.id,
            hint=f"leave {self.kernel.id} without qpu variants in options.toml",
        )  # fmt: skip
