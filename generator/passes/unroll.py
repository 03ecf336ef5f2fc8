# SPDX-License-Identifier: BSD-2-Clause
"""Unrolls the lane axes that do not run across a vector, but for those whose extent varies."""

from dataclasses import replace
from itertools import product

from daedalus.dsl.build import Builder, at_lanes, fix_lanes
from daedalus.dsl.ir import Kernel, Node, Stage, Store


def unroll_outer(kernel: Kernel) -> Kernel:
    """`kernel` whose stages have their vector's axes, and before these the loops that must stay."""
    return replace(kernel, stages=tuple(_stage(kernel, s) for s in kernel.stages))


def _stage(kernel: Kernel, stage: Stage) -> Stage:
    limited = dict(stage.limits)
    outer = stage.dims[: len(stage.dims) - stage.vector]
    unrolled = [d for d in outer if d[0] not in limited]
    if not unrolled:
        return stage
    builder = Builder({t.name: t for t in kernel.tables})
    stores: list[Store] = []
    for point in product(*(range(n) for _, n in unrolled)):
        at = {lane: v for (lane, _), v in zip(unrolled, point, strict=True)}
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
    return replace(
        stage,
        dims=tuple(d for d in stage.dims if d not in unrolled),
        stores=tuple(stores),
        given=None if stage.given is None else new[stage.given],
        limits=tuple((lane, new[n]) for lane, n in stage.limits),
    )
