# SPDX-License-Identifier: BSD-2-Clause
"""Sums that fit 16 bits but for their sign are made from a bias up, and the bias taken away last.

A filter's sum can reach beyond 16 signed bits and below zero, while from lowest to highest it
spans less than 2**16. With the bias that lifts the lowest to zero it is accumulated in 16 unsigned
bits; taking the bias away with saturation gives the sum's part above zero, all that a clip to
unsigned wants.
"""

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Interval, Ranges


def bias_sums(kernel: Kernel) -> Kernel:
    """`kernel` with (sum + bias) - bias for such sums where they are rounded or shifted."""
    ranges = Ranges(kernel)

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        if node.op not in (Op.RSHR, Op.SHR) or not _wanted(node.args[0], ranges):
            return None
        r = ranges.of(node.args[0])
        bias = b.const(-r.lo, node.loc)
        lifted = b.make(Op.ASSUME, (_lift(b, args[0], bias),), ("", 0, r.hi - r.lo), node.loc)
        lowered = b.make(Op.SUB, (lifted, bias), (), node.loc)
        return b.make(node.op, (lowered,), node.attr, node.loc, node.name)

    return rewrite(kernel, change)


def _wanted(node: Node, ranges: Ranges) -> bool:
    """A sum of products whose bound is known, which needs the bias and is saved by it."""
    r: Interval = ranges.of(node)
    inner = node.args[0] if node.op is Op.ASSUME else node
    return inner.op in (Op.ADD, Op.SUB) and r.lo < 0 and r.hi >= 1 << 15 and r.hi - r.lo < 1 << 16


def _lift(b: Builder, node: Node, bias: Node) -> Node:
    """The sum with the bias as its first term."""
    if node.op is Op.ASSUME:
        return _lift(b, node.args[0], bias)
    if node.op in (Op.ADD, Op.SUB):
        args = (_lift(b, node.args[0], bias), node.args[1])
        return b.make(node.op, args, (), node.loc, node.name)
    return b.make(Op.ADD, (bias, node), (), node.loc)
