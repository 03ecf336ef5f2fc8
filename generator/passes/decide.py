# SPDX-License-Identifier: BSD-2-Clause
"""Comparisons that every item decides alike are not computed, nor values that are always the same.

Decided by the hostile ranges, so that nothing is assumed of an item. A store that never happens
goes; a mask that always holds, too. Of a kernel that never stores all stores stay, under masks that
are known not to hold.
"""

from dataclasses import replace

from daedalus.dsl.build import Builder, known_outcome, rewrite_stage
from daedalus.dsl.ir import Kernel, Node, Op, Stage
from daedalus.dsl.ranges import Ranges


def decide_comparisons(kernel: Kernel) -> Kernel:
    """`kernel` without the comparisons whose outcome the ranges tell."""
    ranges = Ranges(kernel, hostile=True)
    tables = {t.name: t for t in kernel.tables}
    stages = [_decided(s, ranges, Builder(tables)) for s in kernel.stages]
    kept = [made for s in stages if (made := _without_idle_stores(s)).stores]
    return replace(kernel, stages=tuple(kept or stages))


def _single(node: Node, ranges: Ranges, builder: Builder) -> Node | None:
    """The only value that a node can have, where that is so."""
    if node.is_bool or node.op is Op.CONST:
        return None
    r = ranges.of(node)
    return builder.const(r.lo, node.loc) if r.lo == r.hi else None


def _decided(stage: Stage, ranges: Ranges, builder: Builder) -> Stage:
    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node.op not in (Op.LE, Op.GT):
            return _single(node, ranges, builder)
        a, b = (ranges.of(x) for x in node.args)
        if a.hi <= b.lo or a.lo > b.hi:
            zero = builder.const(0, node.loc)
            holds = node.op is (Op.LE if a.hi <= b.lo else Op.GT)
            return builder.make(Op.LE if holds else Op.GT, (zero, zero), (), node.loc)
        return None

    return rewrite_stage(stage, builder, change)


def _without_idle_stores(stage: Stage) -> Stage:
    stores = []
    for s in stage.stores:
        outcome = None if s.mask is None else known_outcome(s.mask)
        if outcome is not False:
            stores.append(replace(s, mask=None) if outcome else s)
    return replace(stage, stores=tuple(stores))
