# SPDX-License-Identifier: BSD-2-Clause
"""Zeroing the coefficients of a block after use, as some decoders' functions do.

Only what an item of its class can hold is cleared, but for blocks that the kernel stores to. The
variants that decoder entries call do it themselves: that a call follows the work would cost the
entry a stack frame. Blocks of several items lie one behind the other, so that whole ones are
cleared at once.
"""

from daedalus.dsl.ir import FULL, Kernel
from daedalus.generator.compile.signatures import read_signature


def cleared_blocks(kernel: Kernel) -> tuple[str, ...]:
    """The blocks that a decoder's function of this kernel leaves zeroed; the kernel keeps them."""
    kept: dict[str, tuple[str, ...]] = vars(kernel)
    if "_cleared" not in kept:
        names = {n for d in kernel.decoders for n in read_signature(kernel, d).cleared}
        kept["_cleared"] = tuple(b.name for b in kernel.buffers if b.name in names)
    return kept["_cleared"]


def clearing(kernel: Kernel, class_name: str, names: tuple[str, ...], items: int = 1) -> list[str]:
    """C statements that zero what so many items of the class, one behind the other, can hold in
    the blocks."""
    nonzero: dict[str, tuple[int, ...]] = {}
    if class_name != FULL:
        nonzero = dict(kernel.item_class(class_name).nonzero)
    lines: list[str] = []
    for name in names:
        b = kernel.buffer(name)
        extents = nonzero.get(name, b.extents) if b.access == "in" else b.extents
        if extents == b.extents:
            lines.append(f"memset({name}, 0, {items * b.size} * sizeof(*{name}));")
        else:
            for k in range(items):
                lines += _rows(name, b.extents, extents, k * b.size)
    return lines


def _rows(name: str, full: tuple[int, ...], extents: tuple[int, ...], first: int) -> list[str]:
    """Clears the leading part of the block that begins at an element: the runs of its last axis."""
    starts = [first]
    for k in range(len(full) - 1):
        scale = 1
        for n in full[k + 1 :]:
            scale *= n
        starts = [s + i * scale for s in starts for i in range(extents[k])]
    return [f"memset({name} + {s}, 0, {extents[-1]} * sizeof(*{name}));" for s in starts]
