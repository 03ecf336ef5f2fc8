# SPDX-License-Identifier: BSD-2-Clause
"""A limited distance that gets its sign back is a limited difference.

For m = min(|p - q|, l) with l >= 0, the selection of -m where p < q and of m elsewhere is
max(min(p - q, l), -l).
"""

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Ranges


def limit_differences(kernel: Kernel) -> Kernel:
    """`kernel` with such selections as limits. Exact on integers."""
    ranges = Ranges(kernel, hostile=True)
    new: dict[Node, Node] = {}  # what became of a node

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        new.update(zip(node.args, args, strict=True))
        found = _signed_limit(node)
        if found is None:
            return None
        p, q, limit = found
        if ranges.of(limit).lo < 0:
            return None
        most, loc = new[limit], node.loc
        difference = b.make(Op.SUB, (new[p], new[q]), (), loc)
        least = b.make(Op.SUB, (b.const(0, loc), most), (), loc)
        below = b.make(Op.MIN, (difference, most), (), loc)
        return b.make(Op.MAX, (below, least), (), loc, node.name)

    return rewrite(kernel, change)


def _signed_limit(node: Node) -> tuple[Node, Node, Node] | None:
    """p, q and l of a selection as above; at p = q both choices are 0."""
    if node.op is not Op.SELECT or node.args[0].op not in (Op.GT, Op.LE):
        return None
    compare, chosen, other = node.args
    small, large = compare.args if compare.op is Op.LE else compare.args[::-1]
    for p, q, minus, m in ((small, large, chosen, other), (large, small, other, chosen)):
        if not (minus.op is Op.SUB and _zero(minus.args[0]) and minus.args[1] is m):
            continue
        if m.op is not Op.MIN:
            continue
        for distance, limit in (m.args, m.args[::-1]):
            if distance.op is Op.ABSDIFF and set(distance.args) == {p, q}:
                return p, q, limit
    return None


def _zero(node: Node) -> bool:
    return node.op is Op.CONST and node.value == 0
