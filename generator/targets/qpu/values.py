# SPDX-License-Identifier: BSD-2-Clause
"""The values of a stage as virtual values, by the rules; conditions as flags."""

from collections.abc import Callable, Iterable

from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.dsl.show import node_kind
from daedalus.generator.targets.glsl.device import NotLowerable
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, Flags, Test, any_of, both
from daedalus.generator.targets.qpu.emitter import Emitter, amount
from daedalus.generator.targets.qpu.rules import INT, UINT, Case, Expression, rule
from daedalus.generator.targets.qpu.virtual import Value

_LATE = (Op.LOAD, Op.CONST, Op.LANE, Op.TABLE, Op.PARAM, Op.DOT)
_ROOT = (1 << 16) - 1  # what has a square of 32 bits, unsigned


def greater(x: Argument, high: Interval, y: Argument, low: Interval) -> Condition | None:
    """x > y, of values in these ranges: of what is not negative, the borrow of y - x; else its
    sign, if that is exact; else the carry of min. None where no 32 bits hold both."""
    if low.within(*UINT) and high.within(*UINT):
        return Condition(Test("sub", (y, x), "c"))
    if Interval(low.lo - high.hi, low.hi - high.lo).within(*INT):
        return Condition(Test("sub", (y, x), "n"))
    if low.within(*INT) and high.within(*INT):
        return Condition(Test("min", (x, y), "c"))
    return None


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
        self._of: dict[Node, Argument] = {}
        self._conditions: dict[Node, Condition] = {}

    def emit(self, root: Node) -> None:
        """Computes what a value is made of, in the author's order; what is read, conditions and
        what these alone need, where they are needed."""
        below: set[Node] = set()
        stack = [root]
        while stack:
            n = stack.pop()
            if n not in below and n not in self._of and n.op not in _LATE:
                below.add(n)
                stack += n.args[1:] if n.op is Op.SELECT else n.args
        for n in sorted(below, key=lambda n: n.seq):
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

    # ------------------------------------------------------------------ arithmetic

    def _compute(self, n: Node) -> Argument:
        match n.op:
            case Op.CONST:
                return n.value
            case Op.LOAD | Op.PARAM | Op.TABLE | Op.LANE:
                return self._read(n, self)
            case Op.ASSUME:
                return self.argument(n.args[0])
            case Op.SELECT:
                yes, no = (self.argument(x) for x in n.args[1:])
                return self.e.select(self.flags.flag(self.condition(n.args[0])), yes, no)
        dot = self._dot(n)
        if dot is not None:
            return dot
        if n.op is Op.DOT:
            return self._read(n, self)
        chosen = self._under_condition(n)
        if chosen is not None:
            return chosen
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

    def _dot(self, n: Node) -> Argument | None:
        """A sum, or the rounding shift of one, as dot products."""
        if self._dots is None or not self.ranges.of(n).within(*INT):
            return None
        if n.op is Op.RSHR:
            total = self._dots(n.args[0], 1 << (n.attr[0] - 1), self)
            return None if total is None else self.e.op("asr", total, amount(n.attr[0]))
        return self._dots(n, 0, self) if n.op in (Op.ADD, Op.SUB, Op.DOT) else None

    def _under_condition(self, n: Node) -> Argument | None:
        """x + (c ? y : 0) and x - (c ? y : 0): done where c holds."""
        if n.op not in (Op.ADD, Op.SUB):
            return None
        pairs = [(n.args[0], n.args[1])]
        if n.op is Op.ADD:
            pairs.append((n.args[1], n.args[0]))
        for x, choice in pairs:
            if choice.op is not Op.SELECT or choice in self._of:
                continue
            c, yes, no = choice.args
            zero = [v.op is Op.CONST and v.value == 0 for v in (yes, no)]
            if zero[0] == zero[1]:
                continue
            condition = self.condition(c) if zero[1] else ~self.condition(c)
            old = self.value(x)
            y = self.argument(yes if zero[1] else no)
            flag = self.flags.flag(condition)
            return self.e.b.op(str(n.op), old, y, when=flag, old=old)
        return None

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
        """a > b."""
        squared = self._squares(a, b)
        if squared is not None:
            return squared
        if a.op is Op.CONST and a.value == 0 and b.op is Op.SUB and self.ranges.of(b).within(*INT):
            return Condition(Test("sub", self._pair(*b.args), "n"))  # its own sign
        x, y = self.argument(a), self.argument(b)
        if isinstance(x, int) and isinstance(y, int):
            x = self.e.value(x)
        low, high = self.ranges.of(b), self.ranges.of(a)
        found = greater(x, high, y, low)
        if found is not None:
            return found
        raise self._refuse(a, f"values of {high} and {low} are compared: no 32 bits hold both")

    def _pair(self, *nodes: Node) -> tuple[Argument, Argument]:
        """Two operands of which one at most is a number."""
        x, y = (self.argument(n) for n in nodes)
        return (self.e.value(x) if isinstance(x, int) and isinstance(y, int) else x), y

    def _squares(self, a: Node, b: Node) -> Condition | None:
        """|x - y| > c, or c > |x - y|, by squares: a product instead of an absolute value."""
        distance, limit = (a, b) if a.op is Op.ABSDIFF else (b, a)
        if distance.op is not Op.ABSDIFF or limit.op is Op.ABSDIFF or distance in self._of:
            return None
        r, most = self.ranges.of(distance), self.ranges.of(limit)
        if not r.within(0, _ROOT) or not most.within(0, _ROOT):
            return None
        d = self.e.op("sub", *self._pair(*distance.args))
        left = self.e.op("smul24", d, d)
        right: Argument
        if limit.op is Op.CONST:
            right = limit.value * limit.value
        else:
            value = self.argument(limit)
            right = self.e.op("smul24", value, value)
        x, y = (left, right) if distance is a else (right, left)
        return Condition(Test("sub", (y, x), "c"))

    def _refuse(self, n: Node, message: str) -> NotLowerable:
        return NotLowerable(
            "qpu", message, n.loc, self.kernel.id,
            hint=f"leave {self.kernel.id} without qpu variants in schedules.toml",
        )  # fmt: skip
