# SPDX-License-Identifier: BSD-2-Clause
"""Makes constants of products that are shifted to the right so large that an upper half remains.

(x * c + 2^(n-1)) >> n becomes (x * (c << (15-n)) + 2^14) >> 15 where both factors fit 16 signed
bits and the product does not: NEON has that in one instruction, and the 32 bits of the product
never come to be. Without the rounding likewise.
"""

from functools import cache

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op, i16, u16
from daedalus.dsl.ranges import Ranges

_SHIFT = 15


def scale_products(kernel: Kernel) -> Kernel:
    """`kernel` with the constants of shifted products as large as 16 bits allow."""
    ranges = cache(lambda: Ranges(kernel))  # few programs shift products

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        if node.op not in (Op.SHR, Op.RSHR) or node.attr[0] >= _SHIFT:
            return None
        product = node.args[0]
        if product.op is not Op.MUL or product.args[1].op is not Op.CONST:
            return None
        scaled = product.args[1].value << (_SHIFT - node.attr[0])
        x, whole = ranges().of(product.args[0]), ranges().of(product)
        lowest = x.lo <= i16.lo and scaled == i16.lo  # their product is one too large
        if not (i16.lo <= scaled <= i16.hi and x.within(i16.lo, i16.hi)) or lowest:
            return None
        if whole.within(i16.lo, i16.hi) or whole.within(u16.lo, u16.hi):
            return None
        if args[0].op is not Op.MUL or args[0].args[1].attr != product.args[1].attr:
            return None  # it became something simpler on the way
        factor = b.const(scaled, node.loc)
        wide = b.make(Op.MUL, (args[0].args[0], factor), (), node.loc)
        return b.make(node.op, (wide,), (_SHIFT,), node.loc, node.name)

    return rewrite(kernel, change)
