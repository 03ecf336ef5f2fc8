# SPDX-License-Identifier: BSD-2-Clause
"""Which units a stage reads and writes.

An invocation reads the units that its points' elements lie in, as large as its lanes' steps allow.
It writes a unit whole where the unit is its own: where it stores all elements of it, or may write
the others back with their old values (`owns`), or none at all.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

from daedalus.dsl.ir import Buffer, Kernel, Op, Stage, Store
from daedalus.generator.targets.gpu.walks import Walk, walk_of

_LARGEST = {"plane": 8, "block": 16}


def _largest(b: Buffer) -> int:
    """The largest unit that a buffer may be seen in: items of a block begin with one."""
    assert b.dtype is not None
    unit = _LARGEST[b.kind]
    while b.kind == "block" and b.size * b.dtype.bytes % unit:
        unit //= 2
    return unit


def places(kernel: Kernel, stage: Stage) -> dict[Walk, dict[int, set[int]]]:
    """Of loads at known places from buffers: walk -> row -> bytes where elements begin."""
    found: dict[Walk, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for n in stage.nodes():
        if n.op is Op.LOAD and not n.args and kernel.buffer(n.attr[0]).kind != "temp":
            walk, row, byte = walk_of(kernel.buffer(n.attr[0]), n.index)
            found[walk][row].add(byte)
    return found


def load_unit(b: Buffer, walk: Walk, rows: dict[int, set[int]]) -> int:
    """The size of the units that loads of a walk are made by.

    Beyond a word, only units of which every word holds an element that is wanted.
    """
    assert b.dtype is not None
    size, unit = b.dtype.bytes, _largest(b)
    while unit > size:
        if all(c % unit == 0 for _, c in walk.cols) and (unit <= 4 or _dense(rows, unit)):
            break
        unit //= 2
    if unit == 2 * size and unit < 4 and not _shares(rows, unit):
        return size
    return unit


def _shares(rows: dict[int, set[int]], unit: int) -> bool:
    """Whether some unit holds more than one element that is wanted."""
    return any(len({b // unit for b in bytes_}) < len(bytes_) for bytes_ in rows.values())


def _dense(rows: dict[int, set[int]], unit: int) -> bool:
    for bytes_ in rows.values():
        words = {b // 4 for b in bytes_}
        if any(w * 4 // unit * unit // 4 + n not in words for w in words for n in range(unit // 4)):
            return False
    return True


def elements(b: Buffer, unit: int, byte: int) -> list[int]:
    """Where the elements of the unit at a byte begin."""
    assert b.dtype is not None
    return list(range(byte, byte + unit, b.dtype.bytes))


class Writes:
    """What a stage stores of a buffer on one walk: row -> byte -> store.

    alone  the stage stores in the buffer on no other walk, so that no other invocation stores a
           byte of a unit that this one writes back
    """

    def __init__(
        self, b: Buffer, walk: Walk, stores: dict[int, dict[int, Store]], *, alone: bool
    ) -> None:
        self.buffer, self.walk, self.stores, self.alone = b, walk, stores, alone

    def unit(self, stage: Stage) -> int:
        """The largest unit that is whole in every place, or the element."""
        assert self.buffer.dtype is not None
        size, unit = self.buffer.dtype.bytes, _largest(self.buffer)
        while unit > size:
            if all(c % unit == 0 for _, c in self.walk.cols) and self._whole(unit, stage):
                return unit
            unit //= 2
        return size

    def units(self, row: int, unit: int) -> list[int]:
        """Where the units of a row begin that something is stored in."""
        return sorted({b // unit * unit for b in self.stores[row]})

    def _whole(self, unit: int, stage: Stage) -> bool:
        for row, stored in self.stores.items():
            for at in self.units(row, unit):
                own = elements(self.buffer, unit, at)
                missing = [b for b in own if b not in stored]
                masked = any(stored[b].mask is not None for b in own if b in stored)
                if missing and (
                    masked or not self._owned(row, missing, stage) or not self._apart(unit, stage)
                ):
                    return False
        return True

    def _apart(self, unit: int, stage: Stage) -> bool:
        """Whether each unit is stored at one point of the stage: what others store is not to be
        written back as it was."""
        grid, seen = stage.grid(), set[tuple[int, int]]()
        for point in range(stage.lanes):
            rows = sum(c * int(grid[a][point]) for a, c in self.walk.rows)
            cols = sum(c * int(grid[a][point]) for a, c in self.walk.cols)
            for row in self.stores:
                for at in self.units(row, unit):
                    place = (row + rows, at + cols)
                    if place in seen:
                        return False
                    seen.add(place)
        return True

    def _owned(self, row: int, bytes_: Iterable[int], stage: Stage) -> bool:
        """Whether the item may write these back, wherever the lanes are."""
        owns, size = self.buffer.owns, self.buffer.dtype
        if owns is None or size is None or not self.alone:
            return False
        extents = stage.extents
        rows = [c * (extents[a] - 1) for a, c in self.walk.rows]
        cols = [c * (extents[a] - 1) for a, c in self.walk.cols]
        top, bottom = row + sum(min(0, c) for c in rows), row + sum(max(0, c) for c in rows)
        if top < owns[0][0] or bottom >= owns[0][1]:
            return False
        left = min(bytes_) + sum(min(0, c) for c in cols)
        right = max(bytes_) + sum(max(0, c) for c in cols)
        return left >= owns[1][0] * size.bytes and right < owns[1][1] * size.bytes


def writes(kernel: Kernel, stage: Stage) -> list[Writes]:
    """What a stage stores in buffers."""
    found: dict[Walk, dict[int, dict[int, Store]]] = {}
    for s in stage.stores:
        b = kernel.buffer(s.buffer)
        if b.kind != "temp":
            walk, row, byte = walk_of(b, s.index)
            found.setdefault(walk, {}).setdefault(row, {})[byte] = s
    walks = Counter(w.buffer for w in found)
    return [
        Writes(kernel.buffer(w.buffer), w, stores, alone=walks[w.buffer] == 1)
        for w, stores in found.items()
    ]
