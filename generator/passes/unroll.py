# SPDX-License-Identifier: BSD-2-Clause
"""Unrolls all lane axes of a stage but the innermost, which runs across a vector."""

from dataclasses import replace
from itertools import product

from daedalus.dsl.build import Builder, at_lanes, fix_lanes
from daedalus.dsl.ir import Kernel, Node, Stage, Store


def unroll_outer(kernel: Kernel) -> Kernel:
    """`kernel` with one lane axis a stage."""
    return replace(kernel, stages=tuple(_stage(kernel, s) for s in kernel.stages))


def _stage(kernel: Kernel, stage: Stage) -> Stage:
    *outer, inner = stage.dims
    if not outer or stage.limits:  # a back end that does limits does the loops, too
        return stage
    builder = Builder({t.name: t for t in kernel.tables})
    stores: list[Store] = []
    for point in product(*(range(n) for _, n in outer)):
        at = {lane: v for (lane, _), v in zip(outer, point, strict=True)}
        new: dict[Node, Node] = {}
        for node in stage.nodes():
            new[node] = at_lanes(node, tuple(new[a] for a in node.args), at, builder)
        stores += [
            replace(
                s,
                index=fix_lanes(s.index, at),
                value=new[s.value],
                mask=new[s.mask] if s.mask else None,
            )
            for s in stage.stores
        ]
    given = None if stage.given is None else new[stage.given]
    return replace(stage, dims=(inner,), stores=tuple(stores), given=given)
