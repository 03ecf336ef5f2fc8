# SPDX-License-Identifier: BSD-2-Clause
"""Values relative to one that they are compared with, where their differences are computed anyway.

min(x, y)                 q + min(x - q, y - q), where x - q and y - q are there, or are 0
|x - y|                   the magnitude of x - y, where that or y - x is there
x < 0 ? 1 : 0             -(x >> 15), for x of 16 bits
wrap(x) of a type         x, where the type holds it
"""

from dataclasses import dataclass, field, replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Kernel, Node, Op, Stage, i32
from daedalus.dsl.ranges import Ranges

_SIGN = 15  # of 16 bits


def relate_values(kernel: Kernel) -> Kernel:
    """`kernel` with such values made so. Exact on integers, and in 32 bits for any item."""
    ranges = Ranges(kernel, hostile=True, declared_params=True)
    return replace(kernel, stages=tuple(_Stage(s, ranges, kernel).made() for s in kernel.stages))


@dataclass
class _Stage:
    """A stage as it is rebuilt.

    new       what became of a node
    relative  of a node and another one, what the first is more, as it is rebuilt
    """

    stage: Stage
    ranges: Ranges
    kernel: Kernel
    new: dict[Node, Node] = field(default_factory=dict)
    relative: dict[Node, dict[Node, Node]] = field(default_factory=dict)

    def made(self) -> Stage:
        self.b = Builder({t.name: t for t in self.kernel.tables})
        self.differences: dict[Node, dict[Node, None]] = {}
        for n in self.stage.nodes():
            if n.op is Op.SUB:
                x, y = (self._bare(a) for a in n.args)
                self.differences.setdefault(x, {})[y] = None
        return rewrite_stage(self.stage, self.b, self._change)

    def _change(self, node: Node, args: tuple[Node, ...]) -> Node | None:
        self.new.update(zip(node.args, args, strict=True))
        match node.op:
            case Op.WRAP:
                return args[0] if self._bare(node) is not node else None
            case Op.MIN | Op.MAX:
                return self._compared(node)
            case Op.ABSDIFF:
                return self._distance(node)
            case Op.SELECT:
                sign = self._sign(node)
                return sign and self.b.make(Op.SUB, (self._zero(node), sign), (), node.loc)
            case Op.SUB:
                sign = self._sign(node.args[1])
                return sign and self.b.make(Op.ADD, (args[0], sign), (), node.loc, node.name)
        return None

    def _bare(self, node: Node) -> Node:
        """The value without types that hold it."""
        while node.op is Op.WRAP:
            t, (inner,) = node.attr[0], node.args
            if not self.ranges.of(inner).within(t.lo, t.hi):
                break
            node = inner
        return node

    def _zero(self, node: Node) -> Node:
        return self.b.const(0, node.loc)

    def _more(self, x: Node, q: Node) -> Node | None:
        """x - q, if that is there."""
        if x is q:
            return self._zero(x)
        known = self.relative.get(x, {}).get(q)
        if known is None and q in self.differences.get(x, {}):
            known = self.b.make(Op.SUB, (self.new[x], self.new[q]), (), x.loc)
        return known

    def _compared(self, node: Node) -> Node | None:
        x, y = (self._bare(a) for a in node.args)
        found = [q for n in (x, y) for q in (*self.relative.get(n, {}), n)]
        found += [q for n in (x, y) for q in self.differences.get(n, {})]
        for q in dict.fromkeys(found):
            if q not in self.new or q.op is Op.CONST:
                continue
            a, b = self._more(x, q), self._more(y, q)
            if a is not None and b is not None and self._fits({x, y} - {q}, q):
                more = self.b.make(node.op, (a, b), (), node.loc, node.name)
                self.relative.setdefault(node, {})[q] = more
                return self.b.make(Op.ADD, (self.new[q], more), (), node.loc)
        return None

    def _fits(self, values: set[Node], q: Node) -> bool:
        """Whether differences and sums stay in 32 bits, whatever an item holds: a difference that
        wraps would be the lesser one, and a limit of a place none."""
        by = self.ranges.of(q)
        far = by.hi - by.lo
        return all(
            r.lo - by.hi >= i32.lo and r.hi - by.lo <= i32.hi
            and r.lo - far >= i32.lo and r.hi + far <= i32.hi
            for r in map(self.ranges.of, values)
        )  # fmt: skip

    def _distance(self, node: Node) -> Node | None:
        a, b = (self._bare(x) for x in node.args)
        for x, y in ((a, b), (b, a)):
            if y in self.differences.get(x, {}):
                there = self.b.make(Op.SUB, (self.new[x], self.new[y]), (), node.loc)
                return self.b.make(Op.ABS, (there,), (), node.loc, node.name)
        return None

    def _sign(self, node: Node) -> Node | None:
        """-1 for 1 and 0 for 0, of a selection of these by the sign of a value."""
        if node.op is not Op.SELECT or node.args[0].op not in (Op.GT, Op.LE):
            return None
        compare, yes, no = node.args
        if compare.op is Op.LE:
            yes, no = no, yes
        zero, x = compare.args
        if (zero.op, yes.op, no.op) != (Op.CONST,) * 3:
            return None
        if (zero.value, yes.value, no.value) != (0, 1, 0) or x not in self.new:
            return None
        if not self.ranges.of(x).within(-(1 << _SIGN), (1 << _SIGN) - 1):
            return None
        return self.b.make(Op.SHR, (self.new[x],), (_SIGN,), node.loc)
