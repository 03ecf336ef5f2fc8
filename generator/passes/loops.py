# SPDX-License-Identifier: BSD-2-Clause
"""Makes loops of long axes, where all lanes at once would keep more values than registers hold."""

from dataclasses import replace

from daedalus.dsl.ir import Kernel, Node, Op, Stage, i16, u16
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.tile import divide_axis

_LANES = 8  # in a turn: of 16 bits, as most arithmetic is, a register
_REGISTERS = 32
_BITS = 128


def loop_lanes(kernel: Kernel) -> Kernel:
    """`kernel` whose stages do so many lanes of the innermost axis at once as registers allow."""
    ranges = Ranges(kernel)
    return replace(kernel, stages=tuple(_stage(kernel, ranges, s) for s in kernel.stages))


def _stage(kernel: Kernel, ranges: Ranges, stage: Stage) -> Stage:
    axis, extent = stage.dims[-1]
    if extent <= _LANES or extent % _LANES or axis in dict(stage.limits):
        return stage
    if live_registers(ranges, stage, extent) <= _REGISTERS:
        return stage
    return replace(divide_axis(kernel, stage, axis, _LANES), loops=(axis,))


def live_registers(ranges: Ranges, stage: Stage, lanes: int) -> int:
    """Registers that values take at most which are still read, in the author's order."""
    nodes = [n for n in stage.nodes() if n.op not in (Op.CONST, Op.PARAM, Op.TABLE)]
    last = {a: n.seq for n in nodes for a in n.args}
    held: dict[int, int] = {}
    most = now = 0
    for n in nodes:
        now -= sum(count for at, count in held.items() if at <= n.seq)
        held = {at: count for at, count in held.items() if at > n.seq}
        own = -(-lanes * _bits(ranges, n) // _BITS)
        now += own
        most = max(most, now)
        end = last.get(n, n.seq)
        held[end] = held.get(end, 0) + own
    return most


def _bits(ranges: Ranges, node: Node) -> int:
    held = ranges.of(node)
    return 16 if held.lo >= i16.lo and held.hi <= u16.hi else 32
