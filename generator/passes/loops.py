# SPDX-License-Identifier: BSD-2-Clause
"""Makes loops of long axes, where all lanes at once would keep more values than registers hold."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod

from daedalus.dsl.along import differing
from daedalus.dsl.ir import Kernel, Node, Op, Stage, i16, u16
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.tile import divide_axis

LANES = 8  # in a turn: of 16 bits, as most arithmetic is, a register
REGISTERS = 32
CROWDED = REGISTERS * 2 // 3
_BITS = 128
_NO_REGISTER = (Op.CONST, Op.PARAM, Op.TABLE)


def loop_lanes(kernel: Kernel) -> Kernel:
    """`kernel` whose stages do so many lanes of the innermost axis at once as registers allow."""
    ranges = Ranges(kernel)
    return replace(kernel, stages=tuple(_stage(kernel, ranges, s) for s in kernel.stages))


def _stage(kernel: Kernel, ranges: Ranges, stage: Stage) -> Stage:
    axis, extent = stage.dims[-1]
    if extent <= LANES or extent % LANES or axis in dict(stage.limits):
        return stage
    stay = _staying(stage)
    kept = sum(-(-extent * _bits(ranges, n) // _BITS) for n in stay)
    if kept + live_registers(ranges, stage.nodes(), extent) <= REGISTERS:
        return stage
    made = replace(divide_axis(kernel, stage, axis, LANES), loops=(axis,))
    if not stay:
        return made
    dims = dict(made.dims)
    return replace(made, dims=((axis, dims.pop(axis)), *dims.items()))


def _staying(stage: Stage) -> list[Node]:
    """The values that lanes keep while a loop around the vector goes on, as do those of columns
    from row to row: what they are made of differs by lane, and not in the loop."""
    axis = stage.dims[-1][0]
    across, around = differing(stage, {axis}), differing(stage, dict(stage.limits))
    return [
        n
        for n in stage.nodes()
        if n in across and n not in around and n.op is not Op.LANE
        and any(n in user.args and user in around for user in stage.nodes())
    ]  # fmt: skip


def crowded(kernel: Kernel) -> bool:
    """Whether the values of a stage that are alive at once take most of the registers; not of
    bytes, which are counted as 16 bits here, so that half as many may do."""
    if any(b.dtype is not None and b.dtype.bits == 8 for b in kernel.buffers):
        return False
    ranges = Ranges(kernel)
    return any(live_registers(ranges, s.nodes(), _at_once(s)) > CROWDED for s in kernel.stages)


def _at_once(stage: Stage) -> int:
    """Lanes of a vector, without those of the loops around it."""
    return prod(extent for _, extent in stage.dims[len(stage.dims) - stage.vector :])


def live_registers(
    ranges: Ranges, nodes: Sequence[Node], lanes: int, leaves: Collection[Node] = ()
) -> int:
    """Registers that values take at most which are still read, in the order of `nodes`.

    What is loaded, and `leaves`, comes just before it is read first.
    """
    order: dict[Node, int] = {}
    for at, n in enumerate(nodes):
        for a in n.args:
            if a.op is Op.LOAD or a in leaves:
                order.setdefault(a, at)
        if n.op not in (*_NO_REGISTER, Op.LOAD):
            order[n] = at
    last = {a: at for at, n in enumerate(nodes) for a in n.args}
    change = [0] * (len(nodes) + 1)
    for n, at in order.items():
        own = -(-lanes * _bits(ranges, n) // _BITS)
        change[at] += own
        change[max(last.get(n, at), at + 1)] -= own
    return max(accumulate(change))


def _bits(ranges: Ranges, node: Node) -> int:
    held = ranges.of(node)
    return 16 if held.lo >= i16.lo and held.hi <= u16.hi else 32
