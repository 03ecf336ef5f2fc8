# SPDX-License-Identifier: BSD-2-Clause
"""Forwards through a temp what is one value there, and drops temps and stages nobody needs then.

A stage cut to a single lane stores values that are the same wherever a later stage's lanes look;
such a load becomes the value itself. So that they mean the same there, lanes of which there is only
one are written as 0.
"""

from collections.abc import Container
from dataclasses import replace

import numpy as np

from daedalus.dsl.build import Builder, at_lanes, rewrite_stage
from daedalus.dsl.ir import Kernel, Node, Op, Stage, Store, walk
from daedalus.dsl.verify import flat_index, unconditional


def forward_temps(kernel: Kernel) -> Kernel:
    """`kernel` with every load from a temp that sees one value on all lanes replaced by it."""
    stored: dict[str, dict[int, Node]] = {}
    temps = {t.name: t for t in kernel.temps}
    stages: list[Stage] = []
    for n, stage in enumerate(kernel.stages):
        stage = _replace(kernel, stage, stored)
        changing = {s.buffer for later in kernel.stages[n:] for s in later.stores} | set(temps)
        for s in stage.stores:
            if s.buffer in temps:
                where = flat_index(temps[s.buffer], s.index, stage)
                known = stored.setdefault(s.buffer, {})
                for w in where:
                    known.pop(int(w), None)
                if stage.lanes == 1 and unconditional(stage, s) and _movable(s.value, changing):
                    known[int(where[0])] = s.value
        stages.append(stage)
    return _prune(kernel, stages)


def _movable(value: Node, changing: Container[str]) -> bool:
    """The value can be computed in a later stage: it reads fixed places that stay as they are."""
    return not any(
        n.op is Op.LOAD and (n.attr[0] in changing or any(a.terms for a in n.index))
        for n in walk((value,))
    )


def _replace(kernel: Kernel, stage: Stage, stored: dict[str, dict[int, Node]]) -> Stage:
    builder = Builder({t.name: t for t in kernel.tables})

    def copy(value: Node) -> Node:
        new: dict[Node, Node] = {}
        for node in walk((value,)):
            args = tuple(new[a] for a in node.args)
            new[node] = (
                builder.const(node.value, node.loc)
                if node.op is Op.CONST
                else builder.make(node.op, args, node.attr, node.loc, node.name)
            )
        return new[value]

    single = {lane: 0 for lane, n in stage.dims if n == 1}

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node.op is Op.LOAD and not node.args and node.attr[0] in stored:
            where = flat_index(kernel.buffer(node.attr[0]), node.index, stage)
            values = [stored[node.attr[0]].get(int(w)) for w in np.unique(where)]
            if values[0] is not None and all(v is values[0] for v in values):
                return copy(values[0])
        return at_lanes(node, args, single, builder)

    return rewrite_stage(stage, builder, change)


def drop_unread(kernel: Kernel) -> Kernel:
    """`kernel` without what only fills temps that no later stage reads."""
    return _prune(kernel, list(kernel.stages))


def _prune(kernel: Kernel, stages: list[Stage]) -> Kernel:
    """Without stores into temps where no later stage reads, and stages that then store nothing."""
    temps = {t.name: t for t in kernel.temps}
    read: dict[str, set[int]] = {}

    def wanted(stage: Stage, s: Store) -> bool:
        if s.buffer not in temps:
            return True
        where = flat_index(temps[s.buffer], s.index, stage)
        return not read.get(s.buffer, set()).isdisjoint(where.tolist())

    kept: list[Stage] = []
    for stage in reversed(stages):
        stores = tuple(s for s in stage.stores if wanted(stage, s))
        if not stores:
            continue
        stage = replace(stage, stores=stores)
        for s in stores:
            # What a condition leaves as it was, or a sum begins with, is wanted as if it were read.
            if s.buffer in temps and (s.mask is not None or s.combine):
                where = flat_index(temps[s.buffer], s.index, stage).tolist()
                read.setdefault(s.buffer, set()).update(where)
        for n in stage.nodes():
            if n.op is Op.LOAD and n.attr[0] in temps:
                temp = temps[n.attr[0]]
                # A place known only at run time may be anywhere.
                where = range(temp.size) if n.args else flat_index(temp, n.index, stage).tolist()
                read.setdefault(temp.name, set()).update(where)
        kept.append(stage)
    return replace(
        kernel,
        stages=tuple(reversed(kept)),
        temps=tuple(t for t in kernel.temps if t.name in read),
    )
