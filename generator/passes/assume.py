# SPDX-License-Identifier: BSD-2-Clause
"""Keeps the assumptions that are in force and drops the others."""

from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op


def keep_assumptions(kernel: Kernel, assume: frozenset[str]) -> Kernel:
    """`kernel` with only the named assumptions; the others' values lose their bound."""

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        return args[0] if node.op is Op.ASSUME and node.attr[0] not in assume | {""} else None

    kept = tuple(replace(a, default=True) for a in kernel.assumptions if a.name in assume)
    return replace(rewrite(kernel, change), assumptions=kept)
