# SPDX-License-Identifier: BSD-2-Clause
"""A clip to bounds that no lane type has becomes a maximum and a minimum.

Where the bounds that bind are the ends of a type, saturation does the clip; elsewhere it takes
max(x, lo) and min(x, hi), of which a bound that cannot bind needs neither. Clips that decide which
element is read stay as they are, or keep both bounds where lanes differ in them: on them an item
that is not conformant depends.
"""

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import DTYPES, Kernel, Node, Op, i32, walk
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.dsl.verify import uniform


def split_clips(kernel: Kernel) -> Kernel:
    """`kernel` with only those clips that a saturation does."""
    ranges = Ranges(kernel)
    loads = [n for s in kernel.stages for n in s.nodes() if n.op is Op.LOAD]
    places = set(walk([a for n in loads for a in n.args]))

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        place = node in places
        if node.op is not Op.CLIP or (place and uniform(node)):
            return None
        x, (lo, hi) = ranges.of(node.args[0]), node.attr
        if _saturates(x, lo, hi):
            return None
        if not place and (x.hi <= lo or x.lo >= hi):
            return b.const(lo if x.hi <= lo else hi, node.loc)
        out = args[0]
        for op, bound, binds in ((Op.MAX, lo, x.lo < lo), (Op.MIN, hi, x.hi > hi)):
            if binds or place:
                out = b.make(op, (out, b.const(bound, node.loc)), (), node.loc, node.name)
        return out

    return rewrite(kernel, change)


def _saturates(x: Interval, lo: int, hi: int) -> bool:
    """Whether limiting x to some type is the clip, and lanes can hold x to begin with."""
    for t in DTYPES:
        low = lo == t.lo or x.lo >= max(lo, t.lo)
        high = hi == t.hi or x.hi <= min(hi, t.hi)
        held = x.within(t.lo, t.hi) if t.bits == 32 else not t.signed or x.within(i32.lo, i32.hi)
        if low and high and held:
            return True
    return False
