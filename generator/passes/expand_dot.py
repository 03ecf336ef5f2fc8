# SPDX-License-Identifier: BSD-2-Clause
"""A dot product with a table row becomes multiplications and additions in the author's order.

A tap that is the same in all rows that items can select is a constant: where it is 0, as in a class
of rows with few taps, the product goes. The row-wise bound of the sum is kept as a fact (an
assumption without a name).
"""

from collections.abc import Callable
from functools import cache

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Ranges

Keep = Callable[[Kernel, Ranges, Node], bool]


def expand_dot(kernel: Kernel, keep: Keep = lambda kernel, ranges, node: False) -> Kernel:
    """`kernel` without DOT, but for those that a back end wants to keep."""
    ranges = cache(lambda: Ranges(kernel))  # few programs have such products

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        if node.op is not Op.DOT or keep(kernel, ranges(), node):
            return None
        total = b.const(0, node.loc)
        columns = list(zip(*ranges().rows(node), strict=True))
        for k, x in enumerate(args[1:]):
            if len(set(columns[k])) == 1:
                tap = b.const(columns[k][0], node.loc)
            else:
                row = (args[0], b.const(k, node.loc))
                tap = b.make(Op.TABLE, row, (node.attr[0],), node.loc)
            total = b.make(Op.ADD, (total, b.make(Op.MUL, (x, tap), (), node.loc)), (), node.loc)
        r = ranges().of(node)
        return b.make(Op.ASSUME, (total,), ("", r.lo, r.hi), node.loc, node.name)

    return rewrite(kernel, change)
