# SPDX-License-Identifier: BSD-2-Clause
"""Multiplies before adding where a sum is too wide for a widening multiplication.

(a + b) * c becomes a*c + b*c when a and b fit 16 signed bits and a + b does not. Exact on integers.
"""

from functools import cache

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Ranges

_LIMIT = (-(1 << 15), (1 << 15) - 1)


def split_products(kernel: Kernel) -> Kernel:
    """`kernel` with the products of wide sums by constants distributed."""
    ranges = cache(lambda: Ranges(kernel))  # few programs have products of sums

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        if node.op is not Op.MUL or node.args[1].op is not Op.CONST:
            return None
        total = node.args[0]
        if total.op not in (Op.ADD, Op.SUB) or ranges().of(total).within(*_LIMIT):
            return None
        if not all(ranges().of(x).within(*_LIMIT) for x in total.args):
            return None
        if args[0].op is not total.op:  # it became something simpler on the way
            return None
        products = tuple(b.make(Op.MUL, (x, args[1]), (), node.loc) for x in args[0].args)
        return b.make(total.op, products, (), node.loc, node.name)

    return rewrite(kernel, change)
