# SPDX-License-Identifier: BSD-2-Clause
"""Gives an invocation several points of each stage: neighbours along the innermost axis.

Where that axis has fewer, it takes all of them and goes on with the next one. An axis of which only
so many points exist as a parameter says is divided, too: a point that does not exist then computes,
but stores nothing. For that it may read what does not belong to it, so an axis that decides which
rows of a plane are read stays whole: a caller may have no memory there.
"""

from dataclasses import replace
from math import gcd

from daedalus.dsl.build import Builder, at_lanes, fix_lanes, rewrite_stage
from daedalus.dsl.ir import Kernel, Node, Op, Stage, i32, walk
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.tile import divide_axis
from daedalus.generator.passes.unroll import unroll_axes


def give_points(kernel: Kernel, points: int) -> Kernel:
    """`kernel` each of whose lanes does the work of up to `points` lanes, a power of two."""
    near = replace(kernel, stages=tuple(_cut_limits(kernel, s, points) for s in kernel.stages))
    return replace(near, stages=tuple(points_of(near, s, points) for s in near.stages))


def points_of(kernel: Kernel, stage: Stage, points: int) -> Stage:
    """The stage with each lane doing up to so many points; its limits plus these fit in 32 bits."""
    left = points
    for axis, extent in reversed(stage.dims):
        by = gcd(extent, left)
        if by == 1 or not _divisible(kernel, stage, axis):
            break
        left //= by
        limited = axis in dict(stage.limits)
        inner = axis
        if by < extent or limited or len(stage.dims) == 1:  # a stage keeps an axis
            before = set(stage.extents)
            if limited:
                stage = _mask_beyond(kernel, stage, axis, by)
            stage = divide_axis(kernel, stage, axis, by)
            inner = next(a for a in stage.extents if a not in before)
        stage = unroll_axes(kernel, stage, [inner])
        if by < extent:
            break
    return _single(kernel, stage)


def _single(kernel: Kernel, stage: Stage) -> Stage:
    """The stage with axes of a single point written as 0 where they occur."""
    at = {axis: 0 for axis, n in stage.dims if n == 1}
    if not at:
        return stage
    builder = Builder({t.name: t for t in kernel.tables})
    made = rewrite_stage(stage, builder, lambda node, args: at_lanes(node, args, at, builder))
    return replace(
        made, stores=tuple(replace(s, index=fix_lanes(s.index, at)) for s in made.stores)
    )


def _divisible(kernel: Kernel, stage: Stage, axis: str) -> bool:
    """Whether points beyond the axis's limit, if it has one, may read."""
    if axis not in dict(stage.limits):
        return True
    planes = {b.name for b in kernel.buffers if b.kind == "plane"}
    return not any(
        n.op is Op.LOAD and n.attr[0] in planes and (n.index[0].coefficient(axis) or _by(n, axis))
        for n in stage.nodes()
    )


def _by(load: Node, axis: str) -> bool:
    """Whether a value that depends on an axis decides the row of a load."""
    rows = [load.args[int(name[1:])] for name, _ in load.index[0].terms if name.startswith("#")]
    return any(
        (n.op is Op.LANE and n.attr[0] == axis)
        or (n.op in (Op.LOAD, Op.PARAM) and any(a.coefficient(axis) for a in n.index))
        for n in walk(rows)
    )


def _cut_limits(kernel: Kernel, stage: Stage, points: int) -> Stage:
    """The stage with limits that can be rounded up to groups of points in 32 bits."""
    if not stage.limits:
        return stage
    ranges = Ranges(kernel)
    far = {axis for axis, limit in stage.limits if ranges.of(limit).hi > i32.hi - points}
    if not far:
        return stage
    builder = Builder({t.name: t for t in kernel.tables})
    copied = rewrite_stage(stage, builder, lambda node, args: None)

    def cut(axis: str, limit: Node) -> Node:
        extent = builder.const(stage.extents[axis], limit.loc)
        return builder.make(Op.MIN, (limit, extent), (), limit.loc)

    return replace(
        copied, limits=tuple((a, cut(a, n) if a in far else n) for a, n in copied.limits)
    )


def _mask_beyond(kernel: Kernel, stage: Stage, axis: str, by: int) -> Stage:
    """The stage whose stores happen only at points that exist, and whose limit is that of groups
    of `by` points."""
    builder = Builder({t.name: t for t in kernel.tables})
    copied = rewrite_stage(stage, builder, lambda node, args: None)

    def grouped(limit: Node) -> Node:
        most = builder.make(Op.ADD, (limit, builder.const(by - 1, limit.loc)), (), limit.loc)
        return builder.make(Op.SHR, (most,), (by.bit_length() - 1,), limit.loc)

    limits = dict(copied.limits)
    lane = builder.make(Op.LANE, (), (axis,), stage.loc)
    exists = builder.make(Op.GT, (limits[axis], lane), (), stage.loc)
    stores = tuple(
        replace(
            s,
            mask=exists if s.mask is None else builder.make(Op.AND, (s.mask, exists), (), s.loc),
        )
        for s in copied.stores
    )
    bounds = tuple((a, grouped(n) if a == axis else n) for a, n in copied.limits)
    return replace(copied, stores=stores, limits=bounds)
