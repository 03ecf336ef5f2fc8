# SPDX-License-Identifier: BSD-2-Clause
"""Whether an item of many rows is the same as items of fewer rows, one below the other.

Decoders' functions take blocks of any height; a kernel's item has at most as many rows as its
parameter says.
"""

from collections.abc import Iterator

from daedalus.dsl.ir import Affine, Kernel, Op, Stage, walk


def uncut(kernel: Kernel, name: str) -> str:
    """Why the rows that the parameter `name` counts cannot be done in pieces; empty if they can.

    They can where every stage has that many rows, every plane moves with the row, nothing else
    depends on the row or on their number, and what is stored is read only in the row itself.
    """
    if any(b.kind != "plane" for b in kernel.buffers) or kernel.temps:
        return "the kernel has blocks or temps"
    if kernel.param(name).lo > 1:
        return f"{name} is at least {kernel.param(name).lo}, and the last piece may be lower"
    reasons = (_stage_uncut(kernel, stage, name) for stage in kernel.stages)
    return next((r for r in reasons if r), "") or _mixed_rows(kernel)


def _stage_uncut(kernel: Kernel, stage: Stage, name: str) -> str:
    lanes = [ln for ln, n in stage.limits if n.op is Op.PARAM and n.attr[0] == name]
    if len(lanes) != 1 or stage.extents[lanes[0]] != kernel.param(name).hi:
        return f"a stage has not as many rows as {name} says"
    (row,) = lanes
    for buffer, index in _indices(stage):
        if index[0].terms != ((row, 1),) or index[1].coefficient(row):
            return f"{buffer} is not indexed by the row"
    others = [n for ln, n in stage.limits if ln != row]
    values = [n for s in stage.stores for n in (s.value, s.mask)]
    for root in (*values, *others, stage.guard, stage.given):
        for node in walk([root]) if root is not None else ():
            if node.op is Op.PARAM and node.attr[0] == name:
                return f"values depend on {name}"
            if node.op is Op.LANE and node.attr[0] == row:
                return "values depend on the row"
            if node.op is Op.PARAM and len(node.attr) > 1 and node.attr[1][0].coefficient(row):
                return f"values of {node.attr[0]} depend on the row"
    return ""


def _indices(stage: Stage) -> Iterator[tuple[str, tuple[Affine, ...]]]:
    yield from ((s.buffer, s.index) for s in stage.stores)
    yield from ((n.attr[0], n.index) for n in stage.nodes() if n.op is Op.LOAD)


def _mixed_rows(kernel: Kernel) -> str:
    """A stored plane that is touched in several rows of an item's own."""
    stored = {s.buffer for stage in kernel.stages for s in stage.stores}
    rows: dict[str, int] = {}
    for stage in kernel.stages:
        for buffer, index in _indices(stage):
            if buffer in stored and rows.setdefault(buffer, index[0].const) != index[0].const:
                return f"{buffer} is stored, and used in other rows"
    return ""
