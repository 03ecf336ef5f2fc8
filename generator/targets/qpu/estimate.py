# SPDX-License-Identifier: BSD-2-Clause
"""What an item takes of the GPU's time at most, about: by which the runtime bounds submissions.

    clocks of an item = (slots of a trip / 12 QPUs
                         + those of its lookups and of its SFU-class operations / 3 slices)
                        / items of a trip
    clocks of a lookup = the most of those of its words, and of the lines that it touches

A slice's TMU and its special function unit serve its QPUs in turn. The settings are the timing
model's (docs/v3d-timing.md), which the C library tells. The model has issuing, lookups and the
special function unit side by side, and what is missed in caches behind them; their sum is more than
that. A line that is read counts as missed, and takes what the TMU's cache takes to have it come in.
Lines are counted of one item, whose elements lie as the program's addresses say, wherever in a line
of those that its alignment allows they touch most; each item of a trip touches as many of its own.
What is decided at run time counts as if it were done.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from daedalus.generator.targets.qpu.interpret import BYTES, Memory, Thread
from daedalus.generator.targets.qpu.item import RECORDS
from daedalus.generator.targets.qpu.machine import CONFIGS, LANES, QPUS, description
from daedalus.generator.targets.qpu.temps import SPACE as SCRATCH
from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Instruction,
    Load,
    LoadUnifa,
    LoadUniform,
    Program,
    Store,
    Uniform,
)

IntVector = npt.NDArray[np.int64]

SLICES = 3  # of the V3D that estimates are for
_EIGHTHS = 8  # of a clock
_APART = 1 << 22  # bytes from a buffer to the next
_STRIDE = 1 << 12  # of planes: each row begins another line


def clocks(program: Program, align: Mapping[str, int], items: int, trip: int) -> int:
    """Of an item, at least 1.

    align  of every buffer, what its address is a multiple of, in bytes
    items  of a trip
    trip   its instructions, as scheduled
    """
    assert program.loop is not None
    thread = _Looking(align, items)
    thread.run(program.entry)
    for c in program.loop.carried:
        thread.values[c.value] = thread.values[c.first]
    thread.clocks = 0
    thread.run(program.loop.body)
    issued = description().timing["slot_clocks"] * trip
    return max(1, -(-(issued * SLICES + thread.clocks * QPUS) // (QPUS * SLICES * items)))


class _Looking(Thread):
    """A thread in memory that is zero, so that all items are the first.

    clocks  that its slice's TMU and special function unit take
    """

    def __init__(self, align: Mapping[str, int], items: int) -> None:
        super().__init__(0, {}, Memory())
        self._align, self._items = align, items
        self._timing = description().timing
        self.clocks = 0

    def step(self, i: Instruction) -> None:
        if isinstance(i, LoadUniform) and i.uniform.kind != "constant":
            self.values[i.result] = np.full(LANES, self._word(i.uniform), np.uint32)
        else:
            super().step(i)
        operations = description().operations
        if isinstance(i, Compute) and any(operations[f.op].sfu for f in i.forms):
            self.clocks += self._timing["sfu_slice_clocks"]

    def load(self, i: Load) -> None:
        self._look_up(i)
        for value in i.words:
            self.values[value] = np.zeros(LANES, np.uint32)

    def load_unifa(self, i: LoadUnifa) -> None:
        for value in i.words:
            self.values[value] = np.zeros(LANES, np.uint32)

    def store(self, i: Store) -> None:
        self._look_up(i)

    def _word(self, u: Uniform) -> int:
        """As the runtime fills it in, for buffers that lie apart."""
        buffers = [*self._align]
        if u.name in buffers:
            return (buffers.index(u.name) + 1) * _APART
        if u.name.removesuffix("_stride") in buffers:
            return _STRIDE
        return {"items": _APART, "threads": 1}.get(u.name, 0)

    def _look_up(self, i: Load | Store) -> None:
        words = CONFIGS[i.type][1]
        size = BYTES.get(i.type, 4 * words)
        # Records and scratch memory lie together, whichever items they are of.
        together = i.space == RECORDS or i.space.startswith(SCRATCH)
        items, of = (1, LANES) if together else (self._items, LANES // self._items)
        # A space begins with a buffer's name; without one, as of tables, it is of words.
        align = self._align.get(i.space.split()[0], 4)
        line_bytes = self._timing["line_bytes"]
        step = line_bytes if together else max(align, min(size, 4))
        first = self.values[i.address][:of].astype(np.int64)
        lines = items * _most_lines(first, size, step, line_bytes)
        of_words = -(-LANES * words * self._timing["tmu_word_eighths"] // _EIGHTHS)
        self.clocks += max(of_words, lines * self._line_clocks(read=isinstance(i, Load)))

    def _line_clocks(self, *, read: bool) -> int:
        touched = self._timing["tmu_line_clocks"]
        return max(touched, self._timing["tmu_fill_clocks"]) if read else touched


def _most_lines(first: IntVector, size: int, step: int, line_bytes: int) -> int:
    """Lines of accesses of so many bytes, moved by a multiple of a step to where they are most."""
    moved = range(0, line_bytes, step)
    return max(
        len(np.unique(np.concatenate([first + m, first + (m + size - 1)]) // line_bytes))
        for m in moved
    )
