# SPDX-License-Identifier: BSD-2-Clause
"""Comparing a difference with zero is comparing its operands: they are narrower than it is."""

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op


def compare_operands(kernel: Kernel) -> Kernel:
    """`kernel` with a - b <= 0 as a <= b, and so on. Exact on integers."""

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        if node.op not in (Op.LE, Op.GT):
            return None
        left, right = args
        if left.op is Op.SUB and _zero(right):
            return b.make(node.op, left.args, (), node.loc, node.name)
        if right.op is Op.SUB and _zero(left):
            return b.make(node.op, right.args[::-1], (), node.loc, node.name)
        return None

    return rewrite(kernel, change)


def _zero(node: Node) -> bool:
    return node.op is Op.CONST and node.value == 0
