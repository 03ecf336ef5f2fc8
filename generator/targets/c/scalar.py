# SPDX-License-Identifier: BSD-2-Clause
"""Scalar C expressions for the values of a stage.

A value is computed in int32_t where its proven range fits, else in int64_t. Where a hostile item
could make the arithmetic overflow although no conformant one does, it is written in unsigned
arithmetic: the result is then some value, and the behaviour defined.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator

from daedalus.dsl.ir import DType, Kernel, Node, Op, Stage, walk
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.generator.targets.shell import table_name

# Names a generated function uses itself, or that C reserves.
_RESERVED = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if"
    " inline int long register restrict return short signed sizeof static struct switch typedef"
    " union unsigned void volatile while items n_items buffers meta j item m".split()
)
_BITWISE = {Op.BITAND: "&", Op.BITOR: "|", Op.BITXOR: "^"}


class Names:
    """Unique C identifiers that stay close to the author's names."""

    def __init__(self, taken: tuple[str, ...] = ()) -> None:
        self._taken = set(taken) | _RESERVED

    def fresh(self, wanted: str) -> str:
        """`wanted`, or with a number appended when it is in use."""
        base = re.sub(r"\W", "_", wanted) or "t"
        name, n = base, 2
        while name in self._taken:
            name, n = f"{base}_{n}", n + 1
        self._taken.add(name)
        return name


class Scalars:
    """Emits the nodes of one stage as C expressions and locals.

    load   how a LOAD reads: node, and these scalars for its index -> C expression
    param  how a PARAM is spelled
    """

    def __init__(
        self,
        kernel: Kernel,
        ranges: Ranges,
        hostile: Ranges,
        names: Names,
        load: "Callable[[Node, Scalars], str]",
        param: Callable[[str], str],
    ) -> None:
        self.kernel, self.ranges, self.hostile, self.names = kernel, ranges, hostile, names
        self._load, self._param = load, param
        self._at: dict[str, str] = {}  # how an axis is spelled, where not by its name
        self.lines: list[str] = []
        self._indexing: set[Node] = set()
        self._text: dict[Node, str] = {}
        self._atomic: set[Node] = set()  # needs no parentheses as an operand
        self._uses: Counter[Node] = Counter()
        self._inline = False

    def stage(self, stage: Stage, roots: list[Node]) -> None:
        """Declares locals for all values below `roots`, in the author's order.

        Parameters that decide where the stage touches memory are kept within their ranges.
        """
        self._indexing = set(self._deciding(stage))
        self._declare(set(walk(roots)), roots)

    def further(self, roots: list[Node]) -> None:
        """Declares what is not there yet of further values of the stage."""
        self._declare({n for n in walk(roots) if n not in self._text}, roots)

    @staticmethod
    def _deciding(stage: Stage) -> Iterator[Node]:
        """Parameters that decide where a stage touches memory."""
        places = [a for n in stage.nodes() if n.op is Op.LOAD for a in n.args]
        places += [n for _, n in stage.limits]
        return (n for n in walk(places) if n.op is Op.PARAM)

    def _declare(self, below: set[Node], roots: list[Node]) -> None:
        self._uses.update(roots)
        self._uses.update(a for n in below for a in n.args)
        for node in sorted(below, key=lambda n: n.seq):
            self._emit(node)

    def inline(self, root: Node, at: dict[str, str]) -> str:
        """A value as one expression: of what was emitted before, with some axes spelled anew."""
        before = dict(self._text), set(self._atomic), dict(self._at)
        self._at, self._inline = {**self._at, **at}, True
        for node in sorted(walk((root,)), key=lambda n: n.seq):
            if node not in before[0]:
                self._emit(node)
        text = self._text[root]
        (self._text, self._atomic, self._at), self._inline = before, False
        return text

    def text(self, node: Node) -> str:
        """The C expression of a value emitted before, as an argument or a condition."""
        return self._text[node]

    def operand(self, node: Node) -> str:
        """The same, in parentheses where an operator beside it could tear it apart."""
        return self._text[node] if node in self._atomic else f"({self._text[node]})"

    def limited(self, node: Node, most: int) -> str:
        """The smaller of a value emitted before and a number."""
        wide = "64" if self.c_type(node) == "int64_t" else ""
        return f"daedalus_min{wide}({self._text[node]}, {most})"

    def _emit(self, node: Node) -> None:
        expr, atomic = self._expression(node)
        if node in self.hostile.wraps and self._narrows(node):
            expr, atomic = f"(int32_t)({expr})", True  # or an item could carry more on from here
        plain = self._inline or re.fullmatch(r"\w+", expr) is not None
        if not plain and (node.op is Op.LOAD or node.name or self._uses[node] > 1):
            name = self.names.fresh(node.name or f"t{node.seq}")
            self.lines.append(f"{self.c_type(node)} {name} = {expr};")
            expr, atomic = name, True
        self._text[node] = expr
        if atomic:
            self._atomic.add(node)

    def c_type(self, node: Node) -> str:
        if node.is_bool:
            return "int"
        return "int32_t" if self._fits32(self.ranges.of(node)) else "int64_t"

    def _narrows(self, node: Node) -> bool:
        """Whether the value has 32 bits, but is computed of wider ones."""
        return self.c_type(node) == "int32_t" and any(
            self.c_type(x) == "int64_t" for x in node.args
        )

    @staticmethod
    def _fits32(r: Interval) -> bool:
        return r.within(-(2**31), 2**31 - 1)

    def _expression(self, n: Node) -> tuple[str, bool]:
        """The text, and whether it can stand beside any operator."""
        a = [self.operand(x) for x in n.args]
        bare = ", ".join(self._text[x] for x in n.args)
        wide = self.c_type(n) == "int64_t" or any(self.c_type(x) == "int64_t" for x in n.args)
        w = "64" if wide else ""
        match n.op:
            case Op.CONST:
                return _literal(n.value), True
            case Op.PARAM:
                return self._parameter(n), True
            case Op.LANE:
                return self._at.get(n.attr[0], n.attr[0]), True
            case Op.LOAD:
                return self._load(n, self), True
            case Op.ASSUME:
                return self._text[n.args[0]], n.args[0] in self._atomic
            case Op.TABLE:
                return self._table(n), True
            case Op.SUB if n.inverted is not None:
                return f"~{a[1]}", False
            case Op.ADD | Op.SUB | Op.MUL:
                return self._arithmetic(n, a), False
            case Op.SHR:
                return f"{a[0]} >> {n.attr[0]}", False
            case Op.RSHR:
                return self._round_shift(n, a[0], w)
            case Op.SHRV:
                return f"{a[0]} >> {self._amount(n.args[1])}", False
            case Op.SHLV:
                bits = 64 if self.c_type(n) == "int64_t" else 32
                by = self._amount(n.args[1])
                return f"(int{bits}_t)((uint{bits}_t){a[0]} << {by})", True
            case Op.BITAND | Op.BITOR | Op.BITXOR:
                text = f"{a[0]} {_BITWISE[n.op]} {a[1]}"
                narrows = wide and self.c_type(n) == "int32_t"
                return (f"(int32_t)({text})", True) if narrows else (text, False)
            case Op.MIN | Op.MAX | Op.ABS | Op.ABSDIFF:
                return f"daedalus_{n.op}{w}({bare})", True
            case Op.CLIP:
                lo, hi = n.attr
                w = w if self._fits32(Interval(lo, hi)) else "64"
                return f"daedalus_clip{w}({bare}, {lo}, {hi})", True
            case Op.WRAP:
                t: DType = n.attr[0]
                call = f"daedalus_wrap({bare}, {t.bits}, {int(t.signed)})"
                return (call if self.c_type(n) == "int64_t" else f"(int32_t){call}"), True
            case Op.SELECT:
                return f"{a[0]} ? {a[1]} : {a[2]}", False
            case Op.LE:
                return f"{a[0]} <= {a[1]}", False
            case Op.GT:
                return f"{a[0]} > {a[1]}", False
            case Op.AND:
                return f"{a[0]} & {a[1]}", False
            case Op.OR:
                return f"{a[0]} | {a[1]}", False
            case Op.NOT:
                return f"!{a[0]}", False
        raise AssertionError(n.op)

    def _amount(self, n: Node) -> str:
        """What a shift is by. Processors take it modulo the width, so the limit costs nothing."""
        text = self.operand(n)
        return text if self.hostile.of(n).within(0, 31) else f"({text} & 31)"

    def _parameter(self, n: Node) -> str:
        """A parameter; one that decides where memory is touched is kept within its range."""
        text = self._param(n.attr[0]) + (f"[{n.index[0]}]" if n.index else "")
        if n not in self._indexing:
            return text
        p = self.kernel.param(n.attr[0])
        return f"daedalus_clip({text}, {p.lo}, {p.hi})"

    def _arithmetic(self, n: Node, a: list[str]) -> str:
        sign = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*"}[n.op]
        if self.c_type(n) == "int32_t":
            if n in self.hostile.wraps:
                return f"(int32_t)((uint32_t){a[0]} {sign} (uint32_t){a[1]})"
            if all(self.c_type(x) == "int32_t" for x in n.args):
                return f"{a[0]} {sign} {a[1]}"
            return f"(int32_t)({a[0]} {sign} {a[1]})"
        if n in self.hostile.wraps:
            return f"(int64_t)((uint64_t){a[0]} {sign} (uint64_t){a[1]})"
        return f"(int64_t){a[0]} {sign} {a[1]}"

    def _round_shift(self, n: Node, a: str, w: str) -> tuple[str, bool]:
        half = 1 << (n.attr[0] - 1)
        x = self.hostile.of(n.args[0])
        if w or not self._fits32(Interval(x.lo + half, x.hi + half)):
            call = f"daedalus_round_shift{w}({a}, {n.attr[0]})"
            return (f"(int32_t){call}" if w and self.c_type(n) == "int32_t" else call), True
        return f"({a} + {half}) >> {n.attr[0]}", False

    def _table(self, n: Node) -> str:
        table = self.kernel.table(n.attr[0])
        limits = (len(table.rows) - 1, len(table.rows[0]) - 1)
        index = "".join(
            f"[{min(max(x.value, 0), limit)}]"
            if x.op is Op.CONST
            else f"[daedalus_clip{'64' if self.c_type(x) == 'int64_t' else ''}"
            f"({self._text[x]}, 0, {limit})]"
            for x, limit in zip(n.args, limits, strict=False)
        )
        return f"{table_name(table)}{index}"


def _literal(value: int) -> str:
    text = str(abs(value)) if abs(value) < 2**31 else f"INT64_C({abs(value)})"
    return text if value >= 0 else f"(-{text})"
