# SPDX-License-Identifier: BSD-2-Clause
"""Divides a stage that would keep more values alive than registers hold into two.

The first computes what comes first in the author's order, and leaves what the second needs of it in
a temp, lane by lane. So such values lie in memory where the generator placed them, and each stage
is a loop in which a compiler need not spill.
"""

from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Affine, Buffer, Index, Kernel, Node, Op, Stage, Store, i32, u32
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.loops import LANES, REGISTERS, live_registers
from daedalus.generator.passes.tails import LEAVES, tails_early

_ENOUGH = REGISTERS - 4  # for values; others hold multipliers


def divide_stages(kernel: Kernel) -> Kernel:
    """`kernel` with such stages divided, as often as it helps."""
    n = 0
    while n < len(kernel.stages):
        stage = kernel.stages[n]
        if _too_many(kernel, stage):
            stage = tails_early(kernel, stage)
            kernel = replace(kernel, stages=(*kernel.stages[:n], stage, *kernel.stages[n + 1 :]))
        crossing = _crossing(kernel, stage)
        made = _divided(kernel, n, crossing) if crossing else kernel
        if crossing and _most(made, n, n + 2) < _most(kernel, n, n + 1):
            kernel = made
        else:
            n += 1
    return kernel


def _most(kernel: Kernel, first: int, end: int) -> int:
    """Registers that eight lanes of some stages take at most."""
    ranges = Ranges(kernel)
    return max(live_registers(ranges, s.nodes(), LANES) for s in kernel.stages[first:end])


def _too_many(kernel: Kernel, stage: Stage) -> bool:
    """Whether registers do not hold the values of eight lanes of a stage that may be divided.

    Where values decide places it may not: what limits them would be lost on the way.
    """
    (_, extent), *others = stage.dims[::-1]
    plain = stage.guard is None and stage.given is None and not stage.limits
    if others or not plain or extent <= LANES or extent % LANES:
        return False
    if any(x.op in (Op.LOAD, Op.TABLE) and x.args for x in stage.nodes()):
        return False
    n = next(k for k, s in enumerate(kernel.stages) if s is stage)
    return _most(kernel, n, n + 1) > REGISTERS


def _crossing(kernel: Kernel, stage: Stage) -> list[Node]:
    """What the second of two stages would read of the first: as little as does, where registers
    hold the values of both. Nothing where the stage is to stay one."""
    if not _too_many(kernel, stage):
        return []
    ranges = Ranges(kernel)
    nodes = [x for x in stage.nodes() if x.op not in LEAVES]
    last = {a: at for at, x in enumerate(nodes) for a in x.args}
    last |= {x: len(nodes) for x in stage.roots() if x.op not in LEAVES}
    found: list[Node] = []
    cost = (live_registers(ranges, nodes, LANES), 0)
    for at in range(len(nodes) // 4, 3 * len(nodes) // 4):
        first, second = nodes[:at], nodes[at:]
        crossing = [x for x in first if last.get(x, 0) >= at]
        if any(x.is_bool or not _held(ranges, x) for x in crossing):  # which no temp holds
            continue
        most = max(
            live_registers(ranges, first, LANES),
            live_registers(ranges, second, LANES, set(crossing)),
        )
        if (max(most, _ENOUGH), len(crossing)) < cost:
            cost, found = (max(most, _ENOUGH), len(crossing)), crossing
    return found


def _held(ranges: Ranges, x: Node) -> bool:
    """Whether 32 bits hold a value."""
    held = ranges.of(x)
    return held.within(i32.lo, i32.hi) or held.within(u32.lo, u32.hi)


def _divided(kernel: Kernel, n: int, crossing: list[Node]) -> Kernel:
    """The kernel with its n-th stage as two.

    Values of a range have a temp of their own, so that as much is known of them as before. No name
    in a spec begins with n_.
    """
    stage = kernel.stages[n]
    ranges, taken = Ranges(kernel), len(kernel.temps)
    ((axis, extent),) = stage.dims
    alike: dict[tuple[int, int], list[Node]] = {}
    for x in crossing:
        alike.setdefault((ranges.of(x).lo, ranges.of(x).hi), []).append(x)
    temps: list[Buffer] = []
    places: dict[Node, tuple[str, Index]] = {}
    for k, values in enumerate(alike.values()):
        name, shape = f"n_part{taken + k}", ((0, len(values)), (0, extent))
        temps.append(Buffer(name, "temp", None, shape, "inout", stage.loc))
        places |= {x: (name, (Affine(at), Affine(0, ((axis, 1),)))) for at, x in enumerate(values)}
    kept = tuple(Store(name, place, x, None, x.loc) for x, (name, place) in places.items())
    builder = Builder({t.name: t for t in kernel.tables})

    def change(node: Node, _: tuple[Node, ...]) -> Node | None:
        if node not in places:
            return None
        return builder.make(Op.LOAD, (), places[node], node.loc, node.name)

    pair = (replace(stage, stores=kept), rewrite_stage(stage, builder, change))
    stages = (*kernel.stages[:n], *pair, *kernel.stages[n + 1 :])
    return replace(kernel, temps=(*kernel.temps, *temps), stages=stages)
