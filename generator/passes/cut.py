# SPDX-License-Identifier: BSD-2-Clause
"""Cuts stages of more points than a device does at once into several, one after the other.

No lane of a stage reads what another one writes, so it makes no difference which come first.
"""

from dataclasses import replace
from itertools import product
from math import prod

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Affine, Index, Kernel, Node, Op, Stage


def cut_stages(kernel: Kernel, most: int) -> Kernel:
    """`kernel` none of whose stages has more than `most` points."""
    if all(s.lanes <= most for s in kernel.stages):
        return kernel
    return replace(kernel, stages=tuple(p for s in kernel.stages for p in pieces(kernel, s, most)))


def pieces(kernel: Kernel, stage: Stage, most: int) -> list[Stage]:
    """A stage's parts: whole inner axes, and as much of the next one as there is room for."""
    if stage.lanes <= most:
        return [stage]
    ways: list[list[tuple[int, int]]] = []  # of every axis, its parts: first point, and how many
    room = most
    for _, extent in reversed(stage.dims):
        each = max(1, min(room, extent))
        ways.insert(0, [(at, min(each, extent - at)) for at in range(0, extent, each)])
        room = room // extent if each == extent else 0
    return [_part(kernel, stage, parts) for parts in product(*ways)]


def _part(kernel: Kernel, stage: Stage, parts: tuple[tuple[int, int], ...]) -> Stage:
    """The points of a stage from the first of each axis on, so many."""
    first = {axis: at for (axis, _), (at, _) in zip(stage.dims, parts, strict=True)}
    only = {axis for (axis, _), (_, n) in zip(stage.dims, parts, strict=True) if n == 1}
    builder = Builder({t.name: t for t in kernel.tables})

    def place(index: Index) -> Index:
        return tuple(
            Affine(
                a.const + sum(c * first.get(lane, 0) for lane, c in a.terms),
                tuple((lane, c) for lane, c in a.terms if lane not in only),
            )
            for a in index
        )

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node.op is Op.LANE:
            at = builder.const(first[node.attr[0]], node.loc)
            if node.attr[0] in only:
                return at
            lane = builder.make(Op.LANE, (), node.attr, node.loc)
            return builder.make(Op.ADD, (lane, at), (), node.loc, node.name)
        if node.op in (Op.LOAD, Op.PARAM) and node.index:
            attr = (node.attr[0], place(node.index))
            return builder.make(node.op, args, attr, node.loc, node.name)
        return None

    made = rewrite_stage(stage, builder, change)

    def left(axis: str, limit: Node) -> Node:
        """How many of an axis' points there are, of those of this part."""
        at = builder.const(first[axis], limit.loc)
        return builder.make(Op.SUB, (limit, at), (), limit.loc)

    return replace(
        made,
        dims=tuple((axis, n) for (axis, _), (_, n) in zip(stage.dims, parts, strict=True)),
        stores=tuple(replace(s, index=place(s.index)) for s in made.stores),
        limits=tuple((axis, left(axis, limit)) for axis, limit in made.limits),
    )


def as_wide(kernel: Kernel) -> int:
    """The points of the largest stage, as a power of two."""
    most = max((prod(n for _, n in s.dims) for s in kernel.stages), default=1)
    return 1 << (most - 1).bit_length()
