# SPDX-License-Identifier: BSD-2-Clause
"""What of a stage is computed before anything is stored.

By itself each store's value is computed just before it. Where a transform is large, what the first
one is made of leaves so much behind for the others that registers do not hold it.
"""

from collections import Counter

from daedalus.dsl.ir import Node, Stage, walk
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.loops import live_registers

MANY = 40  # values: with addresses and constants, registers hold no more
_ONE = 4  # lanes of which any value takes one register, as live_registers() counts


def first_of_all(ranges: Ranges, stage: Stage) -> list[Node]:
    """What several stores need, if fewer values are alive then."""
    below = [sorted(walk([s.value]), key=lambda n: n.seq) for s in stage.stores]
    apart = tuple(dict.fromkeys(n for nodes in below for n in nodes))
    if (one_by_one := live_registers(ranges, apart, _ONE)) <= MANY:
        return []
    uses = Counter(n for nodes in below for n in nodes)
    shared = [n for n in stage.nodes() if uses[n] > 1]
    order = tuple(dict.fromkeys((*shared, *apart)))
    return shared if live_registers(ranges, order, _ONE) < one_by_one else []
