# SPDX-License-Identifier: BSD-2-Clause
"""Finds what all masks of the last stage have in common, and turns masks into selections.

`find_guard` is the early-out: where the common condition holds on no lane, nothing is stored.
`select_old` is for targets without predicated stores: the old value is loaded and stored back.
"""

from dataclasses import replace
from functools import reduce

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Kernel, Node, Op, Stage, parts, walk


def find_guard(kernel: Kernel) -> Kernel:
    """`kernel` with a guard on its last stage, where all its stores share a condition."""
    if not kernel.stages:
        return kernel
    *before, last = kernel.stages
    if last.given is not None or last.limits:
        return kernel  # its lanes are not all there to be asked at once
    masks = [s.mask for s in last.stores]
    if any(m is None for m in masks):
        return kernel
    common = reduce(set.intersection, (set(parts(m)) for m in masks if m is not None))
    if not common:
        return kernel
    builder = Builder({t.name: t for t in kernel.tables})
    copied = rewrite_stage(last, builder, lambda node, args: None)
    renamed = dict(zip(last.nodes(), copied.nodes(), strict=True))
    terms = [renamed[n] for n in sorted(common, key=lambda n: n.seq)]
    guard = _all(terms, builder)
    return replace(kernel, stages=(*before, replace(copied, guard=guard)))


def select_old(kernel: Kernel) -> Kernel:
    """`kernel` with every masked store replaced by storing the new or the old value.

    What of a mask is by the lane's number alone stays.
    """
    return replace(kernel, stages=tuple(_stage(kernel, s) for s in kernel.stages))


def by_lane_alone(mask: Node) -> bool:
    """Whether a condition is one on the lane's number, and not on anything in memory."""
    below = list(walk((mask,)))
    return any(n.op is Op.LANE for n in below) and not any(
        n.op is Op.LOAD or (n.op is Op.PARAM and n.index) for n in below
    )


def _stage(kernel: Kernel, stage: Stage) -> Stage:
    if all(s.mask is None for s in stage.stores):
        return stage
    builder = Builder({t.name: t for t in kernel.tables})
    copied = rewrite_stage(stage, builder, lambda node, args: None)
    stores = []
    for s in copied.stores:
        # An accumulation merges, it does not replace; and where the lane's number decides, other
        # items may own what is beyond.
        if s.mask is None or s.combine or by_lane_alone(s.mask):
            stores.append(s)
            continue
        conjuncts = sorted(set(parts(s.mask)), key=lambda n: n.seq)
        kept = _all([n for n in conjuncts if by_lane_alone(n)], builder)
        mask = _all([n for n in conjuncts if not by_lane_alone(n)], builder)
        assert mask is not None
        old = builder.make(Op.LOAD, (), (s.buffer, s.index), s.loc)
        value = builder.make(Op.SELECT, (mask, s.value, old), (), s.loc, s.value.name)
        stores.append(replace(s, value=value, mask=kept))
    return replace(copied, stores=tuple(stores))


def _all(terms: list[Node], builder: Builder) -> Node | None:
    """The conjunction of some conditions; None of none."""
    return reduce(lambda a, b: builder.make(Op.AND, (a, b), (), b.loc), terms) if terms else None
