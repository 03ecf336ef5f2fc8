# SPDX-License-Identifier: BSD-2-Clause
"""Makes constants of products that are shifted to the right so large that an upper half remains.

(x * c + 2^(n-1)) >> n becomes (x * (c << (15-n)) + 2^14) >> 15 where both factors fit 16 signed
bits and the product does not: NEON has that in one instruction, and the 32 bits of the product
never come to be. Without the rounding likewise; and so with 32 bits and 64, for a target that has
that, too.
"""

from functools import cache

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op, i16, i32, u16, u32
from daedalus.dsl.ranges import Ranges

_ELEMENTS = {16: (i16, u16), 32: (i32, u32)}


def scale_products(kernel: Kernel, most: int) -> Kernel:
    """`kernel` with the constants of shifted products as large as elements allow, of so many bits
    at most."""
    ranges = cache(lambda: Ranges(kernel))  # few programs shift products

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        if node.op not in (Op.SHR, Op.RSHR):
            return None
        product = node.args[0]
        if product.op is not Op.MUL or product.args[1].op is not Op.CONST:
            return None
        if args[0].op is not Op.MUL or args[0].args[1].attr != product.args[1].attr:
            return None  # it became something simpler on the way
        for bits in (w for w in _ELEMENTS if w <= most):
            scaled = _scaled(ranges(), node, bits)
            if scaled is not None:
                factor = b.const(scaled, node.loc)
                wide = b.make(Op.MUL, (args[0].args[0], factor), (), node.loc)
                return b.make(node.op, (wide,), (bits - 1,), node.loc, node.name)
        return None

    return rewrite(kernel, change)


def _scaled(ranges: Ranges, node: Node, bits: int) -> int | None:
    """The constant with which an upper half of elements of so many bits remains."""
    product, by = node.args[0], bits - 1 - int(node.attr[0])
    if by <= 0:
        return None
    signed, unsigned = _ELEMENTS[bits]
    scaled = product.args[1].value << by
    x, whole = ranges.of(product.args[0]), ranges.of(product)
    lowest = x.lo <= signed.lo and scaled == signed.lo  # their product is one too large
    if not (signed.lo <= scaled <= signed.hi and x.within(signed.lo, signed.hi)) or lowest:
        return None
    narrow = any(whole.within(t.lo, t.hi) for t in (signed, unsigned))
    return None if narrow else scaled
