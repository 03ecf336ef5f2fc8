# SPDX-License-Identifier: BSD-2-Clause
"""Scalar GLSL expressions for the values of a stage.

A value is an `int`; a `uint` where its proven range does not fit that; a `bool` where it is one.
Arithmetic of both wraps, so it is defined for every input.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from daedalus.dsl.ir import DType, Kernel, Node, Op, walk
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.gpu.device import NotLowerable

_INT = (-(2**31), 2**31 - 1)
_INFIX = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*", Op.LE: "<=", Op.GT: ">", Op.AND: "&&", Op.OR: "||",
          Op.BITAND: "&", Op.BITOR: "|", Op.BITXOR: "^"}  # fmt: skip

# 0, which Mesa cannot know: of 0 - x it would make a negation, which only one of V3D's two units
# does, while both subtract.
ZERO = "zero"
DECLARED_ZERO = f"const int {ZERO} = int(push.n_items >> 31);  // no batch has so many"


class Values:
    """Emits nodes as expressions and locals.

    axes    how a lane's coordinate is spelled
    load    how a LOAD, a PARAM or a TABLE is read -> (expression, whether it is an int already)
    is_field  whether a value that is no LOAD is read like one, all at once
    kept    values that decide places: what limits them is kept even where no conformant item needs
            it
    """

    def __init__(
        self,
        kernel: Kernel,
        ranges: Ranges,
        hostile: Ranges,
        names: Names,
        read: "Callable[[Node, Values], str]",
        kept: Iterable[Node] = (),
        is_field: Callable[[Node], bool] = lambda node: False,
    ) -> None:
        self.kernel, self.ranges, self.hostile, self.names = kernel, ranges, hostile, names
        self._read, self._kept, self._is_field = read, set(kept), is_field
        self.lines: list[str] = []
        self.negates = False  # whether ZERO is needed
        self._text: dict[Node, str] = {}
        self._atomic: set[Node] = set()  # needs no parentheses as an operand
        self._uses: Counter[Node] = Counter()

    def emit(self, roots: list[Node]) -> None:
        """Declares locals for all values below `roots`, in the author's order."""
        below = [n for n in self._below(roots) if n not in self._text]
        self._uses.update(roots)
        self._uses.update(a for n in below for a in (*self._inputs(n), *_read_again(n)))
        for node in sorted(below, key=lambda n: n.seq):
            self._emit(node)

    def _below(self, roots: list[Node]) -> list[Node]:
        """Every value that the roots are made of, once."""
        seen: dict[Node, None] = {}
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node not in seen:
                seen[node] = None
                stack.extend(self._inputs(node))
        return list(seen)

    def _inputs(self, node: Node) -> tuple[Node, ...]:
        """The values that have to be there before this one."""
        return () if self._is_field(node) else node.args

    def decides_place(self, node: Node) -> bool:
        """Whether it is one of those that keep what limits them."""
        return node in self._kept

    def text(self, node: Node) -> str:
        """The expression of a value emitted before."""
        return self._text[node]

    def operand(self, node: Node, kind: str = "") -> str:
        """The same beside an operator, converted to `kind` if it is of another one."""
        if node.op is Op.CONST and kind == "uint":
            return f"{node.value & 0xFFFFFFFF}u"
        if kind and kind != self.kind(node):
            return f"{kind}({self._text[node]})"
        return self._text[node] if node in self._atomic else f"({self._text[node]})"

    def difference(self, a: Node, b: Node, kind: str) -> str:
        """a - b of values emitted before."""
        left = self.operand(a, kind)
        if a.op is Op.CONST and a.value == 0 and kind == "int":
            self.negates, left = True, ZERO
        return f"{left} - {self.operand(b, kind)}"

    def certain(self, node: Node) -> bool:
        """Whether a value is in its range for hostile items as well: nothing below it is less
        limited there."""
        for n in walk((node,)):
            match n.op:
                case Op.LOAD | Op.PARAM:
                    r, allowed = self.hostile.of(n), self.ranges.of(n)
                case Op.ASSUME if n.attr[0]:
                    r, allowed = self.ranges.of(n.args[0]), self.ranges.of(n)
                case _:
                    continue
            if not r.within(allowed.lo, allowed.hi):
                return False
        return True

    def condition(self, node: Node) -> str:
        """A boolean emitted before, beside `&&`."""
        return self.operand(node)

    def kind(self, node: Node) -> str:
        """Its type in GLSL."""
        if node.is_bool:
            return "bool"
        return "int" if self.ranges.of(node).within(*_INT) else "uint"

    def _emit(self, node: Node) -> None:
        expr, atomic = self._expression(node)
        plain = re.fullmatch(r"-?\w+", expr) is not None
        shared = (
            node.op is Op.LOAD
            or self._is_field(node)
            or node.name
            or self._uses[node] > 1
            or node.is_bool
        )
        if not plain and shared:
            name = self.names.fresh(node.name or f"t{node.seq}")
            self.lines.append(f"const {self.kind(node)} {name} = {expr};")
            expr, atomic = name, True
        self._text[node] = expr
        if atomic or plain:
            self._atomic.add(node)

    def _expression(self, n: Node) -> tuple[str, bool]:
        """The text, and whether it can stand beside any operator."""
        kind = self.kind(n)
        if self._is_field(n):
            return self._read(n, self), False
        match n.op:
            case Op.CONST:
                return constant(n.value, kind), n.value >= 0
            case Op.PARAM | Op.LANE | Op.LOAD | Op.TABLE:
                return self._read(n, self), True
            case Op.ASSUME if self.kind(n.args[0]) != kind:
                return f"{kind}({self._text[n.args[0]]})", True
            case Op.ASSUME:
                return self._text[n.args[0]], n.args[0] in self._atomic
            case Op.MUL if _sum_of(n):
                return " + ".join([self.operand(n.args[0], kind)] * _sum_of(n)), False
            case Op.SUB if n.inverted is not None:
                return f"~{self.operand(n.args[1], kind)}", False
            case Op.SUB:
                return self.difference(n.args[0], n.args[1], kind), False
            case Op.ADD | Op.MUL | Op.BITAND | Op.BITOR | Op.BITXOR:
                a, b = (self.operand(x, kind) for x in n.args)
                return f"{a} {_INFIX[n.op]} {b}", False
            case Op.SHR:
                return self._in(kind, n.args[0], f"{self.operand(n.args[0])} >> {n.attr[0]}")
            case Op.RSHR:
                return self._in(kind, n.args[0], self._round_shift(n))
            case Op.SHRV:
                text = f"{self.operand(n.args[0])} >> {self._amount(n)}"
                return self._in(kind, n.args[0], text)
            case Op.SHLV:
                return f"{self.operand(n.args[0], kind)} << {self._amount(n)}", False
            case Op.MIN | Op.MAX:
                a, b, both = self._alike(n)
                text = f"{n.op}({a}, {b})"
                return (text if both == kind else f"{kind}({text})"), True
            case Op.ABS if self.kind(n.args[0]) == "uint":  # for which GLSL has no abs()
                return self._in(kind, n.args[0], self.text(n.args[0]))
            case Op.ABS:
                return self._in(kind, n.args[0], f"abs({self.text(n.args[0])})")
            case Op.ABSDIFF:
                return self._difference(n)
            case Op.CLIP:
                return self._clip(n)
            case Op.WRAP:
                return self._wrap(n)
            case Op.SELECT:
                a, b = (self.operand(x, kind) for x in n.args[1:])
                return f"{self.operand(n.args[0])} ? {a} : {b}", False
            case Op.LE | Op.GT:
                a, b, _ = self._alike(n)
                return f"{a} {_INFIX[n.op]} {b}", False
            case Op.AND | Op.OR:
                a, b = (self.operand(x) for x in n.args)
                return f"{a} {_INFIX[n.op]} {b}", False
            case Op.NOT:
                return f"!{self.operand(n.args[0])}", True
        raise self._refuse(n, f"{n.op} has no GLSL form")

    def _amount(self, n: Node) -> str:
        """By how much a shift by a value shifts."""
        by = self.operand(n.args[1], "int")
        return by if self.hostile.of(n.args[1]).within(0, 31) else f"clamp({by}, 0, 31)"

    def _in(self, kind: str, of: Node, text: str) -> tuple[str, bool]:
        """An expression of the type of `of` as one of `kind`."""
        return (text, False) if self.kind(of) == kind else (f"{kind}({text})", True)

    def _alike(self, n: Node) -> tuple[str, str, str]:
        """Both operands in the one type that holds them, and that type."""
        a, b = (self.ranges.of(x) for x in n.args)
        both = a | b
        if both.within(*_INT):
            kind = "int"
        elif both.lo >= 0:
            kind = "uint"
        else:
            raise self._refuse(n, f"{n.op} of values of {a} and {b}: no type of 32 bits holds both")
        return self.operand(n.args[0], kind), self.operand(n.args[1], kind), kind

    def _difference(self, n: Node) -> tuple[str, bool]:
        """The larger of both differences: V3D has no abs(), and negates in one of its two units
        only, but subtracts in both."""
        a, b, kind = self._alike(n)
        low, high = (self.ranges.of(x) for x in n.args)
        both = Interval(low.lo - high.hi, low.hi - high.lo)
        if both.within(-_INT[1], _INT[1]) and kind == "int":
            return f"max({a} - {b}, {b} - {a})", True
        return f"{self.kind(n)}(max({a}, {b}) - min({a}, {b}))", True

    def _clip(self, n: Node) -> tuple[str, bool]:
        x, (lo, hi) = self.ranges.of(n.args[0]), n.attr
        kind, text = self.kind(n), self.operand(n.args[0])
        if self.kind(n.args[0]) == "uint":
            if hi < 0:
                return constant(hi, kind), False
            hi = min(hi, 2**32 - 1)
            return self._in(kind, n.args[0], f"clamp({text}, {max(lo, 0)}u, {hi}u)")
        if lo > _INT[1]:
            return constant(lo, kind), True
        below, above = (x.lo < lo, x.hi > hi) if not self.decides_place(n) else (True, True)
        lo, hi = max(lo, _INT[0]), min(hi, _INT[1])
        bare = self.text(n.args[0])
        if below and above:
            return f"clamp({bare}, {constant(lo)}, {constant(hi)})", True
        if below or above:
            return (
                f"max({bare}, {constant(lo)})" if below else f"min({bare}, {constant(hi)})"
            ), True
        return bare, n.args[0] in self._atomic

    def _wrap(self, n: Node) -> tuple[str, bool]:
        t: DType = n.attr[0]
        kind, x = self.kind(n), n.args[0]
        if t.bits == 32:
            return self.operand(x, kind), True
        if self.hostile.of(x).within(t.lo, t.hi) and self.kind(x) == kind:
            return self.text(x), x in self._atomic
        if not t.signed:
            mask = (1 << t.bits) - 1
            return f"{self.operand(x, kind)} & {constant(mask, kind)}", False
        by = 32 - t.bits
        return f"({self.operand(x, 'int')} << {by}) >> {by}", False

    def _round_shift(self, n: Node) -> str:
        x, half = n.args[0], 1 << (n.attr[0] - 1)
        r, text = self.ranges.of(x), self.operand(x)
        if r.hi + half <= (_INT[1] if self.kind(x) == "int" else 2**32 - 1):
            suffix = "u" if self.kind(x) == "uint" else ""
            return f"({text} + {half}{suffix}) >> {n.attr[0]}"
        return f"({text} >> {n.attr[0]}) + ({text} >> {n.attr[0] - 1} & 1)"

    def _refuse(self, n: Node, message: str) -> NotLowerable:
        return NotLowerable(
            "glsl", message, n.loc, self.kernel.id,
            hint=f"leave {self.kernel.id} without glsl variants in options.toml",
        )  # fmt: skip


_MOST_ADDED = 3  # a multiple that is written as a sum


def _sum_of(n: Node) -> int:
    """How often a product adds its first operand; 0: it is no sum.

    V3D shifts in one of its two units only, multiplies in two steps, and adds in both units.
    """
    if n.op is not Op.MUL or n.args[1].op is not Op.CONST:
        return 0
    by = n.args[1].value
    return by if 2 <= by <= _MOST_ADDED else 0


def _read_again(n: Node) -> tuple[Node, ...]:
    """Operands that a node's expression has more than once."""
    if n.op is Op.ABSDIFF:
        return n.args
    return n.args[:1] if _sum_of(n) else ()


def constant(value: int, kind: str = "int") -> str:
    """A literal."""
    if kind == "uint":
        return f"{value}u" if value < 0x10000 else f"0x{value:x}u"
    return str(value) if value > _INT[0] else "int(0x80000000u)"
