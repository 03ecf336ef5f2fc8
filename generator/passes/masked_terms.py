# SPDX-License-Identifier: BSD-2-Clause
"""What a condition lets through is added or not, instead of choosing between two results.

select(m, clip(x + d), x) is clip(x + select(m, d, 0)) where x lies within the clip's bounds: with
conditions as integers, the inner choice is one AND.
"""

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Ranges


def choose_terms(kernel: Kernel) -> Kernel:
    """`kernel` with selections moved towards the terms that they concern. Exact on integers."""
    ranges = Ranges(kernel, hostile=True)

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        if node.op is not Op.SELECT:
            return None
        mask, x, y = args
        if x.op is Op.CLIP and ranges.of(node.args[2]).within(*x.attr):
            inner = _term(mask, x.args[0], y, node, b)
            return inner and b.make(Op.CLIP, (inner,), x.attr, node.loc, node.name)
        return _term(mask, x, y, node, b)

    return rewrite(kernel, change)


def _term(mask: Node, x: Node, y: Node, node: Node, b: Builder) -> Node | None:
    """select(mask, x, y) where x is y and something added or taken away; else None."""
    if x.op not in (Op.ADD, Op.SUB):
        return None
    first, second = x.args
    if x.op is Op.ADD and second is y:
        first, second = second, first
    if first is not y:
        return None
    chosen = b.make(Op.SELECT, (mask, second, b.const(0, node.loc)), (), node.loc)
    return b.make(x.op, (y, chosen), (), node.loc, node.name)
