# SPDX-License-Identifier: BSD-2-Clause
"""Keeps the assumptions that are in force and drops the others."""

from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Kernel, Node, Op


def keep_assumptions(kernel: Kernel, assume: frozenset[str]) -> Kernel:
    """`kernel` with only the named assumptions; the others' values lose their bound."""
    builder_tables = {t.name: t for t in kernel.tables}

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        return args[0] if node.op is Op.ASSUME and node.attr[0] not in assume | {""} else None

    stages = tuple(rewrite_stage(s, Builder(builder_tables), change) for s in kernel.stages)
    kept = tuple(replace(a, default=True) for a in kernel.assumptions if a.name in assume)
    return replace(kernel, stages=stages, assumptions=kept)
