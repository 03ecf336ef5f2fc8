# SPDX-License-Identifier: BSD-2-Clause
"""Accumulations as vectors want them: without conditions, and once for each element.

A lane whose condition fails merges the value that changes nothing. What several accumulations of a
stage merge into the same element is merged before, lane by lane.
"""

from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Index, Kernel, Node, Op, Stage, Store
from daedalus.dsl.ranges import Ranges

MERGED = {"add": Op.ADD, "min": Op.MIN, "max": Op.MAX}


def gather_accumulations(kernel: Kernel) -> Kernel:
    """`kernel` whose accumulations have no masks, and are of one element each."""
    if not any(x.combine for s in kernel.stages for x in s.stores):
        return kernel
    ranges = Ranges(kernel)
    return replace(kernel, stages=tuple(_stage(kernel, s, ranges) for s in kernel.stages))


def _stage(kernel: Kernel, stage: Stage, ranges: Ranges) -> Stage:
    if not any(s.combine for s in stage.stores):
        return stage
    builder = Builder({t.name: t for t in kernel.tables})
    copied = rewrite_stage(stage, builder, lambda node, args: None)
    stores: dict[tuple[str, Index, str, int], Store] = {}
    for n, s in enumerate(copied.stores):
        if not s.combine:
            stores["", (), "", n] = s
            continue
        value = _always(s, builder, ranges)
        key = (s.buffer, s.index, s.combine, -1)
        before = stores.get(key)
        if before is not None:
            value = builder.make(MERGED[s.combine], (before.value, value), (), s.loc)
        stores[key] = replace(s, value=value, mask=None)
    return replace(copied, stores=tuple(stores.values()))


def _always(s: Store, builder: Builder, ranges: Ranges) -> Node:
    """What every lane merges."""
    if s.mask is None:
        return s.value
    args = (s.mask, s.value, builder.const(neutral(s, ranges), s.loc))
    return builder.make(Op.SELECT, args, (), s.loc, s.value.name)


def neutral(s: Store, ranges: Ranges) -> int:
    """The value that changes nothing where it is merged."""
    held = ranges.temps[s.buffer]
    return {"add": 0, "min": held.hi, "max": held.lo}[s.combine]
