# SPDX-License-Identifier: BSD-2-Clause
"""Filters of unsigned bytes by taps of 8 bits with sign are made of signed bytes.

Of a pixel 128 is taken away, and what that takes from the sum is added behind the clip:

    clip((sum(t * x)) >> n, lo, hi)  =  clip((sum(t * (x - 128))) >> n, lo - c, hi - c) + c

with c = 128 * sum(t) >> n, which is the same for all rows of taps, and leaves no rest. Both factors
are bytes then, and their widening product is one cheap instruction; the sum is in the middle of its
lane.
"""

from collections.abc import Callable

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op, i8, i16, u8
from daedalus.dsl.ranges import Interval, Ranges

_MIDDLE = 128

Keep = Callable[[Kernel, Ranges, Node], bool]


def centre_filters(kernel: Kernel, keep: Keep) -> Kernel:
    """`kernel` with such sums about zero, but for those that a back end wants to keep."""
    if not any(n.op is Op.DOT for s in kernel.stages for n in s.nodes()):
        return kernel
    ranges = Ranges(kernel)

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        moved = _moved(node, ranges)
        if moved is None or keep(kernel, ranges, node.args[0].args[0]):
            return None
        shift, dot = args[0], args[0].args[0]
        middle, c = b.const(_MIDDLE, node.loc), b.const(moved, node.loc)
        xs = [_signed(b, x, middle) for x in dot.args[1:]]
        total = b.make(Op.DOT, (dot.args[0], *xs), dot.attr, dot.loc, dot.name)
        shifted = b.make(shift.op, (total,), shift.attr, shift.loc, shift.name)
        lo, hi = node.attr
        clipped = b.make(Op.CLIP, (shifted,), (lo - moved, hi - moved), node.loc)
        return b.make(Op.ADD, (clipped, c), (), node.loc, node.name)

    return rewrite(kernel, change)


def _signed(b: Builder, x: Node, middle: Node) -> Node:
    """A pixel less the middle, as a signed byte: no lane is wider than that."""
    return b.make(Op.WRAP, (b.make(Op.SUB, (x, middle), (), x.loc),), (i8,), x.loc, x.name)


def _moved(node: Node, ranges: Ranges) -> int | None:
    """By how much the result of a clip moves; None where it is of no such sum."""
    if node.op is not Op.CLIP or node.args[0].op not in (Op.SHR, Op.RSHR):
        return None
    shift, dot = node.args[0], node.args[0].args[0]
    if dot.op is not Op.DOT:
        return None
    pixels = [ranges.of(x) for x in dot.args[1:]]
    if not all(r.within(u8.lo, u8.hi) for r in pixels) or all(r.hi <= i8.hi for r in pixels):
        return None
    rows = ranges.rows(dot)
    total, rest = divmod(_MIDDLE * sum(rows[0]), 1 << int(shift.attr[0]))
    bytes_of_taps = all(i8.lo <= t <= i8.hi for r in rows for t in r)
    if rest or not bytes_of_taps or len({sum(r) for r in rows}) != 1:
        return None
    fits = all(_sum(r).within(i16.lo, i16.hi) for r in rows)
    return total if fits else None


def _sum(row: tuple[int, ...]) -> Interval:
    """Of what a row of taps makes of any signed bytes."""
    ends = [sorted((t * i8.lo, t * i8.hi)) for t in row]
    return Interval(sum(e[0] for e in ends), sum(e[1] for e in ends))
