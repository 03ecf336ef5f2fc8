# SPDX-License-Identifier: BSD-2-Clause
"""The values of a stage as virtual values, by the rules; conditions as flags."""

from collections.abc import Callable, Iterable

from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.generator.targets.glsl.device import NotLowerable
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, Flags, Test, any_of, both
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.rules import INT, UINT, Case, Expression, rule
from daedalus.generator.targets.qpu.virtual import Value


class Values:
    """Computes nodes, each once.

    read   computes a LOAD, PARAM, TABLE, DOT or LANE
    kept   values that decide places: what limits them holds for every item
    """

    def __init__(
        self, kernel: Kernel, ranges: Ranges, e: Emitter, flags: Flags,
        read: "Callable[[Node, Values], Argument]", kept: Iterable[Node] = (),
    ) -> None:  # fmt: skip
        self.kernel, self.ranges, self.e, self.flags = kernel, ranges, e, flags
        self._read, self._kept = read, set(kept)
        self._of: dict[Node, Argument] = {}
        self._conditions: dict[Node, Condition] = {}

    def emit(self, nodes: Iterable[Node]) -> None:
        """Computes values in the author's order; what is read, and conditions, where needed."""
        for n in sorted(nodes, key=lambda n: n.seq):
            if not n.is_bool and n.op not in (Op.LOAD, Op.CONST, Op.LANE, Op.TABLE, Op.PARAM):
                self.argument(n)

    def argument(self, n: Node) -> Argument:
        """The value as an operand: constants are numbers."""
        if n not in self._of:
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
            self._conditions[n] = self._condition(n)
        return self._conditions[n]

    # ------------------------------------------------------------------ arithmetic

    def _compute(self, n: Node) -> Argument:
        match n.op:
            case Op.CONST:
                return n.value
            case Op.LOAD | Op.PARAM | Op.TABLE | Op.DOT | Op.LANE:
                return self._read(n, self)
            case Op.ASSUME:
                return self.argument(n.args[0])
            case Op.SELECT:
                yes, no = (self.argument(x) for x in n.args[1:])
                return self.e.select(self.flags.flag(self.condition(n.args[0])), yes, no)
        arguments = [self.argument(a) for a in n.args]
        ranges = [self.ranges.of(a) for a in n.args]
        last = n.args[-1]
        case = Case(
            ranges[0], ranges[-1], n.attr,
            last.value if len(n.args) > 1 and last.op is Op.CONST else None, n in self._kept,
        )  # fmt: skip
        found = rule(n.op, case)
        if found is None:
            shown = ", ".join(map(str, ranges))
            raise self._refuse(n, f"{n.op} of values of {shown}: no rule computes it in 32 bits")
        return self._made(found.makes(case), arguments)

    def _made(self, x: Expression, operands: list[Argument]) -> Argument:
        """An expression of a rule, computed."""
        if isinstance(x, int):
            return x
        if isinstance(x, str):
            return operands["ab".index(x)]
        if x[0] == "|":
            return self.e.either(*(self._form(y, operands) for y in x[1:]))
        return self.e.either(self._form(x, operands))

    def _form(self, x: Expression, operands: list[Argument]) -> tuple[str | Argument, ...]:
        name, _, modifier = x[0].partition(".")
        sources = [self._made(y, operands) for y in x[1:]]
        if modifier:
            sources[0] = self.e.value(sources[0]).unpacked(modifier)
        if len(sources) == 2 and all(isinstance(s, int) for s in sources):
            sources[0] = self.e.value(sources[0])
        return (name, *sources)

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
                return self._greater(*n.args)
            case Op.LE:
                return ~self._greater(*n.args)
        raise self._refuse(n, f"{n.op} is no condition")

    def _greater(self, a: Node, b: Node) -> Condition:
        """a > b: of what is not negative, the borrow of b - a; else its sign, if that is exact;
        else the carry of min."""
        x, y = self.argument(a), self.argument(b)
        if isinstance(x, int) and isinstance(y, int):
            x = self.e.value(x)
        low, high = self.ranges.of(b), self.ranges.of(a)
        if low.within(*UINT) and high.within(*UINT):
            return Condition(Test("sub", (y, x), "c"))
        if Interval(low.lo - high.hi, low.hi - high.lo).within(*INT):
            return Condition(Test("sub", (y, x), "n"))
        if low.within(*INT) and high.within(*INT):
            return Condition(Test("min", (x, y), "c"))
        raise self._refuse(a, f"values of {high} and {low} are compared: no 32 bits hold both")

    def _refuse(self, n: Node, message: str) -> NotLowerable:
        return NotLowerable(
            "qpu", message, n.loc, self.kernel.id,
            hint=f"leave {self.kernel.id} without qpu variants in schedules.toml",
        )  # fmt: skip
