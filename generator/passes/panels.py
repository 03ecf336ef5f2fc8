# SPDX-License-Identifier: BSD-2-Clause
"""Cuts a wide item into panels: so many columns of it that the same code does one after the other.

That is possible where a panel needs nothing of another one: every stage has the axis, innermost;
elements of planes and temps follow it, lane by lane; and what a stage leaves is read again in its
own column alone. A plane that does not follow it is only read, and is the same to all panels.
"""

from collections.abc import Iterator
from dataclasses import replace

from daedalus.dsl.ir import Buffer, Index, Kernel, Op, Panels, Stage

_REGISTER = 16  # bytes of a register, and lanes of a panel at least
_VALUES = 256  # of all lanes that are kept in registers at once


def lanes_at_once(stage: Stage) -> int:
    """Lanes of a row that registers hold, by how many values each has for what it stores."""
    values = sum(n.op is not Op.CONST for n in stage.nodes()) / len(stage.stores)
    return next((n for n in (64, 32) if n * values <= _VALUES), _REGISTER)


def cut_panels(kernel: Kernel) -> Kernel:
    """`kernel` of one panel with how many there are, where an item has more lanes than one."""
    widths = {s.dims[-1][1] for s in kernel.stages}
    width = max(widths, default=0)
    lanes = min(map(lanes_at_once, kernel.stages), default=0)
    if len(widths) != 1 or width <= lanes or width % lanes or not all(map(_free, kernel.stages)):
        return kernel
    columns: dict[str, set[tuple[int, int]]] = {}
    for name, column in (x for s in kernel.stages for x in _columns(s)):
        columns.setdefault(name, set()).add(column)
    changed = {s.buffer for stage in kernel.stages for s in stage.stores}
    if not all(_alone(places, name in changed) for name, places in columns.items()):
        return kernel
    follow = {name for name, places in columns.items() if (1 in {c for c, _ in places})}
    if any(kernel.buffer(n).kind == "block" or kernel.buffer(n).owns for n in follow):
        return kernel

    def narrow(b: Buffer) -> Buffer:
        if b.name not in follow:
            return b
        *others, (lo, hi) = b.shape
        return replace(b, shape=(*others, (lo, hi - width + lanes)))

    def one(s: Stage) -> Stage:
        return replace(s, dims=(*s.dims[:-1], (s.dims[-1][0], lanes)))

    planes = tuple(b.name for b in kernel.buffers if b.name in follow)
    return replace(
        kernel,
        buffers=tuple(map(narrow, kernel.buffers)),
        temps=tuple(map(narrow, kernel.temps)),
        stages=tuple(map(one, kernel.stages)),
        panels=Panels(width // lanes, lanes, planes),
    )


def _free(stage: Stage) -> bool:
    """Whether nothing but places follows the innermost axis."""
    axis = stage.dims[-1][0]
    numbers = any(
        (n.op is Op.LANE and n.attr[0] == axis)
        or (n.op is Op.PARAM and any(a.coefficient(axis) for a in n.index))
        for n in stage.nodes()
    )  # fmt: skip
    return not numbers and axis not in dict(stage.limits)


def _columns(stage: Stage) -> Iterator[tuple[str, tuple[int, int]]]:
    """Of each place in a buffer how it follows the innermost axis, and the column of lane 0.

    A coefficient of -1 says that it does so in no way that a panel could.
    """
    axis = stage.dims[-1][0]

    def column(index: Index) -> tuple[int, int]:
        *others, last = index
        if any(a.coefficient(axis) for a in others) or last.coefficient(axis) not in (0, 1):
            return -1, 0
        if last.coefficient(axis) and len(last.terms) > 1:
            return -1, 0
        return last.coefficient(axis), last.const

    for n in stage.nodes():
        if n.op is Op.LOAD:
            yield n.attr[0], column(n.index)
    for s in stage.stores:
        yield s.buffer, column(s.index)


def _alone(columns: set[tuple[int, int]], changed: bool) -> bool:
    """Whether panels can share a buffer with such places: all follow, or none does; and of what is
    stored all in one column."""
    (way, *others) = {c for c, _ in columns}
    if others or way < 0:
        return False
    return not changed or (way == 1 and len(columns) == 1)
