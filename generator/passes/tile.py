# SPDX-License-Identifier: BSD-2-Clause
"""Chooses the lane axes that run across a vector: the innermost, and as much of others as fits.

An axis of few lanes takes the next one along, so that a vector is not left half empty; `rows` more
points of the following axis share a vector if the variant says so. Only powers of two are joined:
the lanes of a vector are then those of the axes, one after the other.
"""

from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Affine, Index, Kernel, Node, Op, Stage

_FULL = 8  # lanes that fill a vector well enough: 16 bits each, as most arithmetic is


def choose_vectors(kernel: Kernel, rows: int) -> Kernel:
    """`kernel` with `vector` set in every stage; an axis that is divided becomes two."""
    return replace(kernel, stages=tuple(_stage(kernel, s, rows) for s in kernel.stages))


def _joinable(stage: Stage, axis: str) -> bool:
    return axis not in dict(stage.limits) and axis not in stage.loops


def _stage(kernel: Kernel, stage: Stage, rows: int) -> Stage:
    dims = stage.dims
    lanes, vector = dims[-1][1], 1
    if lanes & (lanes - 1) or not _joinable(stage, dims[-1][0]):
        return replace(stage, vector=1)
    while vector < len(dims) and lanes < _FULL:
        axis, n = dims[-1 - vector]
        if n & (n - 1) or lanes * n > 2 * _FULL or not _joinable(stage, axis):
            break
        lanes, vector = lanes * n, vector + 1
    stage = replace(stage, vector=vector)
    if rows == 1 or vector == len(dims):
        return stage
    axis, n = dims[-1 - vector]
    if n % rows or not _joinable(stage, axis):
        return stage
    if n == rows:
        return replace(stage, vector=vector + 1)
    return replace(divide_axis(kernel, stage, axis, rows), vector=vector + 1)


def divide_axis(kernel: Kernel, stage: Stage, axis: str, by: int) -> Stage:
    """The stage with axis = by * axis + inner.

    Where `by` does not divide the extent, the last points lie beyond it: ranges then hold of all
    that there are, and who walks the stage has to end before them.
    """
    inner = f"{axis}_in"
    while inner in stage.extents:
        inner += "_"

    def place(index: Index) -> Index:
        return tuple(
            Affine(
                a.const,
                tuple(
                    term
                    for lane, c in a.terms
                    for term in (((lane, by * c), (inner, c)) if lane == axis else ((lane, c),))
                ),
            )
            for a in index
        )

    builder = Builder({t.name: t for t in kernel.tables})

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node.op is Op.LANE and node.attr[0] == axis:
            outer, within = (builder.make(Op.LANE, (), (x,), node.loc) for x in (axis, inner))
            scaled = builder.make(Op.MUL, (outer, builder.const(by, node.loc)), (), node.loc)
            return builder.make(Op.ADD, (scaled, within), (), node.loc, node.name)
        if node.op in (Op.LOAD, Op.PARAM) and node.index:
            attr = (node.attr[0], place(node.index))
            return builder.make(node.op, args, attr, node.loc, node.name)
        return None

    dims = tuple(
        d
        for name, n in stage.dims
        for d in (((axis, -(-n // by)), (inner, by)) if name == axis else ((name, n),))
    )
    made = rewrite_stage(stage, builder, change)
    stores = tuple(replace(s, index=place(s.index)) for s in made.stores)
    return replace(made, dims=dims, stores=stores)
