# SPDX-License-Identifier: BSD-2-Clause
"""A temp that only repeats an input is read where the input is.

A class may leave of a padded tile nothing but a copy: the loads from it, those at run-time places
too, then read the input itself, and the temp goes.
"""

from dataclasses import replace

import numpy as np

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Affine, Buffer, Index, Kernel, Node, Op, Stage
from daedalus.dsl.verify import unconditional


def read_originals(kernel: Kernel) -> Kernel:
    """`kernel` with the loads from every temp that is a copy of an input moved to the input."""
    stored = {s.buffer for stage in kernel.stages for s in stage.stores}
    moves = {
        t.name: found
        for t in kernel.temps
        if (found := _original(kernel, t)) is not None and found[0] not in stored
    }
    if not moves:
        return kernel
    return replace(kernel, stages=tuple(_stage(kernel, s, moves) for s in kernel.stages))


def _original(kernel: Kernel, t: Buffer) -> tuple[str, tuple[int, ...]] | None:
    """The buffer that a temp repeats, and how far apart the same element lies in the two."""
    written = np.zeros(t.extents, dtype=bool)
    found: set[tuple[str, tuple[int, ...]]] = set()
    read = False
    for stage in kernel.stages:
        read |= any(n.op is Op.LOAD and n.attr[0] == t.name for n in stage.nodes())
        if read and any(s.buffer == t.name for s in stage.stores):
            return None  # not there yet when it was read
        for s in stage.stores:
            if s.buffer != t.name:
                continue
            value = s.value
            if not unconditional(stage, s) or value.op is not Op.LOAD or value.args:
                return None
            apart = _apart(value.index, s.index)
            if apart is None:
                return None
            found.add((value.attr[0], apart))
            grid = stage.grid()
            places = tuple(
                np.broadcast_to(a.at(grid) - lo, (stage.lanes,))
                for a, (lo, _) in zip(s.index, t.shape, strict=True)
            )
            written[places] = True
    return found.pop() if len(found) == 1 and written.all() else None


def _apart(of: Index, at: Index) -> tuple[int, ...] | None:
    """Constant differences of two indices that move alike; None for others."""
    if len(of) != len(at) or any(
        dict(a.terms) != dict(b.terms) for a, b in zip(of, at, strict=True)
    ):
        return None
    return tuple(a.const - b.const for a, b in zip(of, at, strict=True))


def _stage(kernel: Kernel, stage: Stage, moves: dict[str, tuple[str, tuple[int, ...]]]) -> Stage:
    builder = Builder({t.name: t for t in kernel.tables})

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node.op is not Op.LOAD or node.attr[0] not in moves:
            return None
        name, apart = moves[node.attr[0]]
        index = tuple(Affine(a.const + d, a.terms) for a, d in zip(node.index, apart, strict=True))
        return builder.make(Op.LOAD, args, (name, index), node.loc, node.name)

    return rewrite_stage(stage, builder, change)
