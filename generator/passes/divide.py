# SPDX-License-Identifier: BSD-2-Clause
"""Divides a stage that would keep more values alive than registers hold into two.

The first computes what comes first in the author's order, and leaves what the second needs of it in
a temp, lane by lane. So such values lie in memory where the generator placed them, and each stage
is a loop in which a compiler need not spill.
"""

from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Affine, Buffer, Kernel, Node, Op, Stage, Store
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
        n += not crossing
        if crossing:
            kernel = _divided(kernel, n, crossing)
    return kernel


def _too_many(kernel: Kernel, stage: Stage) -> bool:
    """Whether registers do not hold the values of eight lanes of a stage that may be divided."""
    (_, extent), *others = stage.dims[::-1]
    plain = stage.guard is None and stage.given is None and not stage.limits
    if others or not plain or extent <= LANES or extent % LANES:
        return False
    return live_registers(Ranges(kernel), stage.nodes(), LANES) > REGISTERS


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
        if any(x.is_bool for x in crossing):  # which no temp holds
            continue
        most = max(
            live_registers(ranges, first, LANES),
            live_registers(ranges, second, LANES, set(crossing)),
        )
        if (max(most, _ENOUGH), len(crossing)) < cost:
            cost, found = (max(most, _ENOUGH), len(crossing)), crossing
    return found


def _divided(kernel: Kernel, n: int, crossing: list[Node]) -> Kernel:
    """The kernel with its n-th stage as two."""
    stage = kernel.stages[n]
    taken = {b.name for b in (*kernel.buffers, *kernel.temps)}
    name = next(f"part{k}" for k in range(1, len(taken) + 2) if f"part{k}" not in taken)
    ((axis, extent),) = stage.dims
    places = {x: (Affine(k), Affine(0, ((axis, 1),))) for k, x in enumerate(crossing)}
    shape = ((0, len(crossing)), (0, extent))
    temp = Buffer(name, "temp", None, shape, "inout", stage.loc)
    kept = tuple(Store(name, place, x, None, x.loc) for x, place in places.items())
    builder = Builder({t.name: t for t in kernel.tables})

    def change(node: Node, _: tuple[Node, ...]) -> Node | None:
        if node not in places:
            return None
        return builder.make(Op.LOAD, (), (name, places[node]), node.loc, node.name)

    pair = (replace(stage, stores=kept), rewrite_stage(stage, builder, change))
    stages = (*kernel.stages[:n], *pair, *kernel.stages[n + 1 :])
    return replace(kernel, temps=(*kernel.temps, temp), stages=stages)
