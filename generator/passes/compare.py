# SPDX-License-Identifier: BSD-2-Clause
"""Comparing a difference with zero is comparing its operands: they are narrower than it is."""

from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Kernel, Node, Op


def compare_operands(kernel: Kernel) -> Kernel:
    """`kernel` with a - b <= 0 as a <= b, and so on. Exact on integers."""
    tables = {t.name: t for t in kernel.tables}
    stages = []
    for stage in kernel.stages:
        builder = Builder(tables)

        def change(node: Node, args: tuple[Node, ...], b: Builder = builder) -> Node | None:
            if node.op not in (Op.LE, Op.GT):
                return None
            left, right = args
            if left.op is Op.SUB and _zero(right):
                return b.make(node.op, left.args, (), node.loc, node.name)
            if right.op is Op.SUB and _zero(left):
                return b.make(node.op, right.args[::-1], (), node.loc, node.name)
            return None

        stages.append(rewrite_stage(stage, builder, change))
    return replace(kernel, stages=tuple(stages))


def _zero(node: Node) -> bool:
    return node.op is Op.CONST and node.value == 0
