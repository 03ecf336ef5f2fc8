# SPDX-License-Identifier: BSD-2-Clause
"""Unrolls lane axes: what one lane did at each of their points, it does for all of them."""

from dataclasses import replace
from itertools import product

from daedalus.dsl.build import Builder, at_lanes, fix_lanes
from daedalus.dsl.ir import Kernel, Node, Op, Stage, Store
from daedalus.generator.passes.guard import find_guard


def unroll_outer(kernel: Kernel, early: bool = False) -> Kernel:
    """`kernel` whose stages have their vector's axes, and before these the loops that must stay:
    those whose extent varies, and with `early` those of which each turn can end early."""
    if early and kernel.stages:
        *before, last = find_guard(kernel).stages
        if last.guard is not None:
            outer = last.dims[: len(last.dims) - last.vector]
            last = replace(kernel.stages[-1], loops=tuple(a for a, _ in outer))
            kernel = replace(kernel, stages=(*before, last))
    stages = []
    for stage in kernel.stages:
        outer = stage.dims[: len(stage.dims) - stage.vector]
        stay = {*dict(stage.limits), *stage.loops}
        stages.append(unroll_axes(kernel, stage, [a for a, _ in outer if a not in stay]))
    return replace(kernel, stages=tuple(stages))


def unroll_axes(kernel: Kernel, stage: Stage, axes: list[str]) -> Stage:
    """The stage without these axes, which no limit concerns."""
    unrolled = [d for d in stage.dims if d[0] in axes]
    if not unrolled:
        return stage
    builder = Builder({t.name: t for t in kernel.tables})
    stores: list[Store] = []
    guard: Node | None = None
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
        if stage.guard is not None:  # where it fails for every point, nothing is stored
            mine = new[stage.guard]
            both = None if guard is None else (guard, mine)
            guard = mine if both is None else builder.make(Op.OR, both, (), mine.loc)
    return replace(
        stage,
        dims=tuple(d for d in stage.dims if d not in unrolled),
        stores=tuple(stores),
        guard=guard,
        given=None if stage.given is None else new[stage.given],
        limits=tuple((lane, new[n]) for lane, n in stage.limits),
    )
