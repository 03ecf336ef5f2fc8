# SPDX-License-Identifier: BSD-2-Clause
"""Dot products that four bytes at a time can be multiplied for."""

from daedalus.dsl.ir import Affine, Kernel, Node, Op, i8
from daedalus.dsl.ranges import Ranges
from daedalus.dsl.verify import uniform


def suits(kernel: Kernel, ranges: Ranges, node: Node) -> bool:
    """Whether a DOT can be done so: 4 or 8 adjacent bytes, taps of 8 bits, equal sums."""
    xs = node.args[1:]
    if len(xs) not in (4, 8) or any(x.op is not Op.LOAD for x in xs):
        return False
    name, first = xs[0].attr[0], xs[0].index
    buffer = kernel.buffer(name)
    table = kernel.table(node.attr[0])
    if table.dtype.bits > 16 or not table.dtype.signed or len(table.rows[0]) != len(xs):
        return False
    if buffer.kind != "plane" or ranges.dtype(name).bits != 8 or ranges.dtype(name).signed:
        return False
    *before, last = first
    for k, x in enumerate(xs):
        there = (*before, Affine(last.const + k, last.terms))
        if x.attr[0] != name or x.index != there or x.args != xs[0].args:
            return False
    if not all(map(uniform, xs[0].args)):
        return False
    rows = ranges.rows(node)
    return len({sum(r) for r in rows}) == 1 and all(i8.lo <= t <= i8.hi for r in rows for t in r)
