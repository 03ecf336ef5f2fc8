# SPDX-License-Identifier: BSD-2-Clause
"""Which values of a stage differ along its axes: of a vector, or of a loop around it."""

from collections.abc import Collection

from daedalus.dsl.ir import Node, Op, Stage


def moves(node: Node, axes: Collection[str]) -> bool:
    """Whether a node itself, whatever its operands, differs along some of the axes."""
    if node.op is Op.LANE:
        return node.attr[0] in axes
    return node.op in (Op.LOAD, Op.PARAM) and any(
        name in axes for a in node.index for name, _ in a.terms
    )


def differing(stage: Stage, axes: Collection[str], others: Collection[Op] = ()) -> set[Node]:
    """The values that differ along some of the axes; and those that are made of any of `others`."""
    found: set[Node] = set()
    for n in stage.nodes():
        if n.op in others or moves(n, axes) or any(a in found for a in n.args):
            found.add(n)
    return found
