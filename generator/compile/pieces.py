# SPDX-License-Identifier: BSD-2-Clause
"""Whether an item of many rows is the same as items of fewer rows, one below the other.

Decoders' functions take blocks of any height; a kernel's item has at most as many rows as its
parameter says.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Affine, Kernel, Node, Op, Stage, walk

_TRIED = 64  # items


@dataclass(frozen=True)
class Steps:
    """How rows lie in a plane that is read in steps of their own.

    position  the parameter that says where the first row is, in parts of a row, below one row
    step      the parameter that each row is further
    plane     the plane
    parts     how many a row of it has
    """

    position: str
    step: str
    plane: str
    parts: int


def counted(kernel: Kernel) -> str:
    """The parameter that counts rows in a decoder's function, where these may be more than an item
    has (`rows+` in its signature); empty where there is none."""
    words = [w.partition(":")[0] for d in kernel.decoders for w in d.signature.split()]
    names = {p.name for p in kernel.params if p.count == 1}
    found = [w[:-1] for w in words if w.endswith("+") and w[:-1] in names]
    return next((n for n in found if not uncut(kernel, n)), "")


def uncut(kernel: Kernel, name: str) -> str:
    """Why the rows that the parameter `name` counts cannot be done in pieces; empty if they can.

    They can where every stage has that many rows, or some more if it only fills temps, every plane
    and temp moves with the row, nothing else depends on the row or on their number, and what is
    stored in a plane is read only in the row itself.
    """
    if any(b.kind != "plane" for b in kernel.buffers):
        return "the kernel has blocks"
    if any(t.init is not None for t in kernel.temps):
        return "a temp has a first value"
    if kernel.param(name).lo > 1:
        return f"{name} is at least {kernel.param(name).lo}, and the last piece may be lower"
    reasons = (_stage_uncut(kernel, stage, name) for stage in kernel.stages)
    return next((r for r in reasons if r), "") or _mixed_rows(kernel)


def _stage_uncut(kernel: Kernel, stage: Stage, name: str) -> str:
    lanes = [(ln, more) for ln, n in stage.limits if (more := rows_more(n, name)) is not None]
    if len(lanes) != 1 or stage.extents[lanes[0][0]] != kernel.param(name).hi + lanes[0][1]:
        return f"a stage has not as many rows as {name} says"
    ((row, more),) = lanes
    planes = {b.name for b in kernel.buffers}
    if more and any(s.buffer in planes for s in stage.stores):
        return f"a stage stores more rows than {name} says"
    for buffer, index in _indices(stage):
        if index[0].terms != ((row, 1),) or any(a.coefficient(row) for a in index[1:]):
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


def rows_more(limit: Node, name: str) -> int | None:
    """How many more than the parameter says; None of a limit that is no such sum."""
    if limit.op is Op.ADD and limit.args[1].op is Op.CONST:
        more = rows_more(limit.args[0], name)
        return None if more is None else more + limit.args[1].value
    return 0 if limit.op is Op.PARAM and limit.attr[0] == name and not limit.index else None


def _indices(stage: Stage) -> Iterator[tuple[str, tuple[Affine, ...]]]:
    yield from ((s.buffer, s.index) for s in stage.stores)
    yield from ((n.attr[0], n.index) for n in stage.nodes() if n.op is Op.LOAD)


def _mixed_rows(kernel: Kernel) -> str:
    """A stored plane that is touched in several rows of an item's own."""
    temps = {t.name for t in kernel.temps}
    stored = {s.buffer for stage in kernel.stages for s in stage.stores} - temps
    rows: dict[str, int] = {}
    for stage in kernel.stages:
        for buffer, index in _indices(stage):
            if buffer in stored and rows.setdefault(buffer, index[0].const) != index[0].const:
                return f"{buffer} is stored, and used in other rows"
    return ""


@lru_cache
def steps_differ(kernel: Kernel, rows: str, steps: Steps) -> bool:
    """Whether items are not the same as two of fewer rows, one below the other, of which the lower
    is read where `steps` say; tried with some items."""
    items = vectors.make_items(kernel, _TRIED, 0)
    rng = np.random.default_rng(0)
    upper = (
        rng.integers(0, items.params[rows]) if kernel.param(rows).hi > 1 else items.params[rows] * 0
    )
    whole = interp.run(kernel, items)
    at = items.params[steps.position] + upper * items.params[steps.step]
    below = {
        b.name: _raised(
            items.buffers[b.name], at // steps.parts if b.name == steps.plane else upper
        )
        for b in kernel.buffers
    }
    params = {**items.params, rows: items.params[rows] - upper, steps.position: at % steps.parts}
    lower = interp.run(kernel, interp.Items(below, params))
    for b in (b for b in kernel.buffers if b.access != "in"):
        for n in range(_TRIED):
            first, end = int(upper[n]), int(items.params[rows][n])
            if (
                whole.buffers[b.name][n, first:end] != lower.buffers[b.name][n, : end - first]
            ).any():
                return True
    return False


def _raised(planes: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Each plane without so many rows on top, and as many of no meaning below."""
    return np.stack([np.roll(p, -int(n), axis=0) for p, n in zip(planes, by, strict=True)])
