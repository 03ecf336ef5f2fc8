# SPDX-License-Identifier: BSD-2-Clause
"""Several values against one limit: all(x <= c) becomes max(x) <= c, any(x > c) max(x) > c.

Halves the comparisons on every target.
"""

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op

_PAIRS = {Op.AND: Op.LE, Op.OR: Op.GT}


def merge_limits(kernel: Kernel) -> Kernel:
    """`kernel` with comparisons against a common limit merged."""

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        compare = _PAIRS.get(node.op)
        if compare is None:
            return None
        terms = [t for a in args for t in _terms(node.op, a)]
        merged: list[Node] = []
        for term in terms:
            at = next(
                (
                    n
                    for n, m in enumerate(merged)
                    if term.op is compare and m.op is compare and m.args[1] is term.args[1]
                ),
                None,
            )
            if at is None:
                merged.append(term)
            else:
                both = b.make(Op.MAX, (merged[at].args[0], term.args[0]), (), node.loc)
                merged[at] = b.make(compare, (both, term.args[1]), (), node.loc)
        out = merged[0]
        for m in merged[1:]:
            out = b.make(node.op, (out, m), (), node.loc)
        return out

    return rewrite(kernel, change)


def _terms(op: Op, node: Node) -> list[Node]:
    if node.op is op:
        return [t for a in node.args for t in _terms(op, a)]
    return [node]
