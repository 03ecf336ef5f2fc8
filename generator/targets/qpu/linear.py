# SPDX-License-Identifier: BSD-2-Clause
"""An order of a block's nodes that needs fewer registers than the one in which it is written.

Of what can go on the order takes what frees most registers, among the nodes in a window behind the
oldest that waits: a narrow one keeps to the written order, a wide one takes more chances to end
lives early, and to begin many.
"""

from bisect import insort

from daedalus.generator.targets.qpu.block import Block
from daedalus.generator.targets.qpu.depend import in_order
from daedalus.generator.targets.qpu.flags import in_written_order
from daedalus.generator.targets.qpu.nodes import Node
from daedalus.generator.targets.qpu.pressure import Pressure
from daedalus.generator.targets.qpu.stages import copies

WINDOWS = (16, 32, 64, 128, 256)
SPARE = 10  # registers that a scheduler wants besides those of the order it goes by
_NARROWER = 2  # registers that a wider window has to save


def fewer_registers(block: Block) -> list[Node]:
    """The block's nodes, renumbered, in the written order if that leaves registers to spare."""
    best, need = list(range(len(block.nodes))), block.written_need()
    if need <= block.registers - SPARE:
        return block.nodes
    # Another order of pushes might be one in which flags get lost.
    copied = copies(block.nodes, frozenset(block.nodes), 0)
    in_written_order(copied, None)
    for window in WINDOWS:
        order, most = _order(block, copied, window)
        if most <= need - _NARROWER:
            best, need = order, most
    for at, order_of in enumerate(best):
        block.nodes[order_of].order = at
    return in_order([block.nodes[k] for k in best])


def _order(block: Block, copied: list[Node], window: int) -> tuple[list[int], int]:
    """An order, and the registers that it takes."""
    nodes = block.nodes
    followers: list[list[int]] = [[] for _ in nodes]
    missing = [len(n.preds) for n in copied]
    for node in copied:
        for pred in node.preds:
            followers[pred.order].append(node.order)
    pressure = Pressure(block.lives)
    most, oldest = pressure.used, 0
    ready = [k for k, n in enumerate(missing) if not n]
    done = [False] * len(nodes)
    out: list[int] = []
    while ready:
        while done[oldest]:
            oldest += 1
        best, least = ready[0], pressure.used
        for k in ready:
            if k > oldest + window:
                break
            grows = pressure.growth(k)
            if grows < least:
                best, least = k, grows
                if least < 0:
                    break
        ready.remove(best)
        done[best] = True
        out.append(best)
        pressure.place(best)
        most = max(most, pressure.used)
        for follower in followers[best]:
            missing[follower] -= 1
            if not missing[follower]:
                insort(ready, follower)
    return out, most
