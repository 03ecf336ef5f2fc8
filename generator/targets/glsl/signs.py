# SPDX-License-Identifier: BSD-2-Clause
"""Conditions as integers that are negative where they hold.

Mesa makes two or three instructions of every comparison that is not used at once. A difference has
the sign of the comparison already, signs are joined by bit operations, and one shift makes a mask
of a sign.
"""

from daedalus.dsl.ir import Node, Op
from daedalus.dsl.ranges import Interval
from daedalus.generator.targets.glsl.values import Values

_INT = (-(2**31), 2**31 - 1)


class SignValues(Values):
    """Values whose booleans are such integers."""

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)  # type: ignore[arg-type]
        self._masks: dict[Node, str] = {}

    def kind(self, node: Node) -> str:
        return "int" if node.is_bool else super().kind(node)

    def condition(self, node: Node) -> str:
        return f"{self.operand(node)} < 0"

    def _expression(self, n: Node) -> tuple[str, bool]:
        match n.op:
            case Op.LE | Op.GT:
                return self._compared(n)
            case Op.AND | Op.OR:
                a, b = (self.operand(x) for x in n.args)
                return f"{a} {'&' if n.op is Op.AND else '|'} {b}", False
            case Op.NOT:
                return f"~{self.operand(n.args[0])}", True
            case Op.ADD | Op.SUB if _is_flag(n.args[1]) and self.kind(n) == "int":
                value, mask = self.operand(n.args[0], "int"), self._mask(n.args[1].args[0])
                return f"{value} {'-' if n.op is Op.ADD else '+'} {mask}", False
            case Op.SELECT:
                return self._chosen(n)
        return super()._expression(n)

    def _compared(self, n: Node) -> tuple[str, bool]:
        """a <= b is a - (b + 1) < 0; a > b is b - a < 0."""
        a, b = n.args if n.op is Op.LE else n.args[::-1]
        low, high = self.hostile.of(a), self.hostile.of(b)
        more = 1 if n.op is Op.LE else 0
        if not Interval(low.lo - high.hi - more, low.hi - high.lo).within(*_INT):
            x, y, _ = self._alike(n)
            return f"({x} {'<=' if more else '>'} {y} ? -1 : 0)", True
        left, right = self.operand(a, "int"), self.operand(b, "int")
        if not more:
            zero = b.op is Op.CONST and b.value == 0
            return (left, False) if zero else (self.difference(a, b, "int"), False)
        if a.op is Op.CONST:
            return f"{a.value - 1} - {right}", False
        if b.op is Op.CONST:
            return f"{left} - {b.value + 1}", False
        return f"{left} - ({right} + 1)", False

    def _chosen(self, n: Node) -> tuple[str, bool]:
        mask, x, y = n.args
        kind = self.kind(n)
        if y.op is Op.CONST and y.value == 0:
            if x.op is Op.CONST and x.value == 1:
                return f"{kind}(uint({self.text(mask)}) >> 31)", True
            return f"{self.operand(x, kind)} & {self._mask(mask)}", False
        if x.op is Op.CONST and x.value == 0:
            return f"{self.operand(y, kind)} & ~{self._mask(mask)}", False
        a, b = (self.operand(v, kind) for v in (x, y))
        return f"{self.condition(mask)} ? {a} : {b}", False

    def _mask(self, condition: Node) -> str:
        """All ones where the condition holds, else 0."""
        if condition not in self._masks:
            name = self.names.fresh("m")
            text = f"{self.operand(condition)} >> 31"
            if condition.op is Op.AND and self._masks.keys() >= set(condition.args):
                text = " & ".join(self._masks[part] for part in condition.args)
            self.lines.append(f"const int {name} = {text};")
            self._masks[condition] = name
        return self._masks[condition]


def _is_flag(n: Node) -> bool:
    """Whether a value is 1 where a condition holds, else 0: a mask is the same, negated."""
    return n.op is Op.SELECT and [(x.op, x.attr) for x in n.args[1:]] == [
        (Op.CONST, (1,)), (Op.CONST, (0,))
    ]  # fmt: skip
