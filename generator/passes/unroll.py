# SPDX-License-Identifier: BSD-2-Clause
"""Unrolls all lane axes of a stage but the innermost, which runs across a vector."""

from dataclasses import replace
from itertools import product

from daedalus.dsl.build import Builder, fix_lanes
from daedalus.dsl.ir import Kernel, Node, Op, Stage, Store


def unroll_outer(kernel: Kernel) -> Kernel:
    """`kernel` with one lane axis a stage."""
    return replace(kernel, stages=tuple(_stage(kernel, s) for s in kernel.stages))


def _stage(kernel: Kernel, stage: Stage) -> Stage:
    if len(stage.dims) == 1:
        return stage
    builder = Builder({t.name: t for t in kernel.tables})
    *outer, inner = stage.dims
    stores: list[Store] = []
    for point in product(*(range(n) for _, n in outer)):
        at = {lane: v for (lane, _), v in zip(outer, point, strict=True)}
        new: dict[Node, Node] = {}
        for node in stage.nodes():
            if node.op is Op.CONST:
                new[node] = builder.const(node.value, node.loc)
                continue
            attr = node.attr
            if node.op is Op.LOAD:
                attr = (node.attr[0], fix_lanes(node.index, at))
            args = tuple(new[a] for a in node.args)
            new[node] = builder.make(node.op, args, attr, node.loc, node.name)
        stores += [
            replace(
                s,
                index=fix_lanes(s.index, at),
                value=new[s.value],
                mask=new[s.mask] if s.mask else None,
            )
            for s in stage.stores
        ]
    return replace(stage, dims=(inner,), stores=tuple(stores))
