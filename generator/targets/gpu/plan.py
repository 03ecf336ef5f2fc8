# SPDX-License-Identifier: BSD-2-Clause
"""How a stage reaches memory: which bytes its loads read together, and which its stores write.

A load takes a field of a *run*: of an element, of a unit, which is larger and aligned, or of a
window, which begins at any byte and is read in the words that it lies in. Stores write *units*,
each as a whole. What stands here is the same for GLSL and for the QPU; how runs are read and units
written is their own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from daedalus.dsl.ir import Buffer, DType, Index, Kernel, Node, Op, Stage, Store
from daedalus.generator.targets.gpu.limits import Limits, comparison, strongest
from daedalus.generator.targets.gpu.walks import Moves, Walk, moved_place, walk_of
from daedalus.generator.targets.gpu.windows import Writes, elements, load_unit, places, writes


@dataclass(frozen=True)
class Run:
    """Bytes of a row that are read together.

    begin   the first of them, counted as the walk's bytes are
    size    how many
    window  whether it begins at any byte, and not with a multiple of its size
    moves   what moves it at run time
    load    where something does, a LOAD of it
    """

    walk: Walk
    row: int
    begin: int
    size: int
    window: bool = False
    moves: Moves = ()
    load: Node | None = field(default=None, compare=False)

    def index(self, b: Buffer) -> Index:
        """The index of the first element of a run that is moved."""
        assert self.load is not None and b.dtype is not None
        if not self.window:
            return self.load.index
        *rows, col = self.load.index
        return (*rows, replace(col, const=self.begin // b.dtype.bytes))


@dataclass(frozen=True)
class Field:
    """An element of a run: its first byte there, and its type."""

    run: Run
    at: int
    type: DType

    @property
    def byte(self) -> int:
        """Its first byte, counted as the walk's bytes are."""
        return self.run.begin + self.at

    @property
    def word(self) -> int:
        """The number of the run's word that it lies in."""
        return self.at // 4

    @property
    def bit(self) -> int:
        """The bit of that word that it begins with."""
        return 8 * (self.at % 4)

    @property
    def whole(self) -> bool:
        """Whether it is read by itself."""
        return not self.run.window and self.run.size == self.type.bytes

    @property
    def in_words(self) -> bool:
        """Whether it is read as a part of whole words."""
        return self.run.window or self.run.size >= 4


@dataclass(frozen=True)
class Unit:
    """Bytes of a row that are stored together.

    stores  of its elements in order; None of one that is written back as it was
    masks   conditions that hold only where those of all its stores do
    """

    buffer: Buffer
    walk: Walk
    row: int
    begin: int
    size: int
    stores: tuple[Store | None, ...]
    masks: tuple[Node, ...]

    @property
    def own(self) -> list[tuple[int, Store]]:
        """The stores, each with its first byte."""
        where = elements(self.buffer, self.size, self.begin)
        return [(at, s) for at, s in zip(where, self.stores, strict=True) if s is not None]

    @property
    def alike(self) -> bool:
        """Whether all its stores are made under one condition."""
        return len({s.mask for _, s in self.own}) == 1

    @property
    def words(self) -> list[tuple[Store | None, ...]]:
        """The stores of each of its words, of which it has at least one."""
        each = max(len(self.stores) * 4 // self.size, 1)
        return [self.stores[k : k + each] for k in range(0, len(self.stores), each)]


class StagePlan:
    """The loads and stores of a stage.

    words    units larger than elements are used, where they are whole and aligned
    shifted  planes that are only read are read in words although their items lie at any place
    read     the size of the units that loads of a walk at known places are made by
    units    what is stored
    """

    nested = False  # whether one of a unit's conditions has to imply all others

    def __init__(self, kernel: Kernel, stage: Stage, *, words: bool, shifted: bool) -> None:
        self.kernel, self.stage = kernel, stage
        self.shifted, self.in_units = shifted, words
        self._places = places(kernel, stage)
        self.read = {walk: self._read_unit(walk, rows) for walk, rows in self._places.items()}
        self._moved: dict[tuple[Walk, int, Moves], set[int]] = {}
        for n in stage.nodes():
            if n.op is Op.LOAD and n.args and (b := kernel.buffer(n.attr[0])).kind != "temp":
                walk, row, moves, byte = moved_place(b, n)
                self._moved.setdefault((walk, row, moves), set()).add(byte)
        self.units = [u for w in writes(kernel, stage) for u in self._written(w)]

    # ------------------------------------------------------------------ what a target may change

    def anywhere(self, b: Buffer) -> bool:
        """Whether a plane is read in words although its items lie at any place."""
        return self.shifted and b.kind == "plane" and b.access == "in"

    def largest(self, b: Buffer) -> int:
        """The largest unit of a buffer to use."""
        return 16

    def limits(self, mask: Node) -> Limits:
        """What is known of a store's condition."""
        return comparison(mask)

    def moved_in_words(self, b: Buffer, n: Node, bytes_: set[int]) -> bool:
        """Whether these bytes, which a LOAD moves at run time, are read in words."""
        return self._in_windows(b)

    # ------------------------------------------------------------------ loads

    def _size(self, walk: Walk) -> int:
        """The bytes of an element."""
        t = self.kernel.buffer(walk.buffer).dtype
        assert t is not None
        return t.bytes

    def _in_windows(self, b: Buffer) -> bool:
        """Whether rows of a plane are read as windows of words."""
        return self.anywhere(b) and b.dtype is not None and b.dtype.bytes < 4

    def _read_unit(self, walk: Walk, rows: dict[int, set[int]]) -> int:
        b = self.kernel.buffer(walk.buffer)
        if not self.in_units or self.anywhere(b):
            return self._size(walk)
        return min(load_unit(b, walk, rows), self.largest(b))

    def field(self, n: Node) -> Field:
        """What a LOAD from a buffer reads."""
        b = self.kernel.buffer(n.attr[0])
        assert b.dtype is not None
        if not n.args:
            return self.at(*walk_of(b, n.index))
        walk, row, moves, byte = moved_place(b, n)
        near = self._moved[walk, row, moves]
        if not self.moved_in_words(b, n, near):
            return Field(Run(walk, row, byte, b.dtype.bytes, False, moves, n), 0, b.dtype)
        low, end = min(near), max(near) + b.dtype.bytes
        return Field(Run(walk, row, low, end - low, True, moves, n), byte - low, b.dtype)

    def at(self, walk: Walk, row: int, byte: int) -> Field:
        """What a load of the element at a byte reads."""
        b = self.kernel.buffer(walk.buffer)
        assert b.dtype is not None
        if self._in_windows(b):
            near = self._places[walk][row]
            run = Run(walk, row, min(near), max(near) + b.dtype.bytes - min(near), True)
        else:
            unit = self.read[walk]
            run = Run(walk, row, byte // unit * unit, unit)
        return Field(run, byte - run.begin, b.dtype)

    def in_words(self, n: Node) -> Field | None:
        """What a LOAD reads that is a part of whole words; None of any other value."""
        if n.op is not Op.LOAD or self.kernel.buffer(n.attr[0]).kind == "temp":
            return None
        found = self.field(n)
        return found if found.in_words else None

    def runs(self, walk: Walk, row: int) -> list[Run]:
        """What is read of a row, in order."""
        found = [self.at(walk, row, byte).run for byte in sorted(self._places[walk][row])]
        return list(dict.fromkeys(found))

    # ------------------------------------------------------------------ stores

    def _written(self, w: Writes) -> list[Unit]:
        size = self._size(w.walk)
        unit = min(w.unit(self.stage), self.largest(w.buffer)) if self.in_units else size
        made = [
            self._unit(w, row, at, unit) for row in sorted(w.stores) for at in w.units(row, unit)
        ]
        if unit > size and self.nested and any(len(u.masks) > 1 for u in made):
            return [
                self._unit(w, row, at, size) for row in sorted(w.stores) for at in w.stores[row]
            ]
        return made

    def _unit(self, w: Writes, row: int, at: int, unit: int) -> Unit:
        stores = tuple(w.stores[row].get(byte) for byte in elements(w.buffer, unit, at))
        masks = strongest([s.mask for s in stores if s is not None], self.limits)
        return Unit(w.buffer, w.walk, row, at, unit, stores, tuple(masks))

    def before(self, u: Unit, number: int) -> Field:
        """An element of a unit as it was before."""
        b = u.buffer
        assert b.dtype is not None
        unit = self.read.get(u.walk, u.size)
        unit = u.size if unit < 4 else unit
        byte = u.begin + number * b.dtype.bytes
        run = Run(u.walk, u.row, byte // unit * unit, unit)
        return Field(run, byte - run.begin, b.dtype)

    def reads_of(self, u: Unit) -> bool:
        """Whether loads at known places read bytes of a unit."""
        near = self._places.get(u.walk, {}).get(u.row, set())
        return any(u.begin <= byte < u.begin + u.size for byte in near)

    # ------------------------------------------------------------------ both

    def wanted(self) -> Iterator[tuple[Walk, int, int, int]]:
        """The walk, unit, row and first byte of all that is read and written at known places."""
        for walk, rows in self._places.items():
            unit = self.read[walk]
            yield from (
                (walk, unit, row, byte // unit * unit) for row in rows for byte in rows[row]
            )
        for u in self.units:
            yield u.walk, u.size, u.row, u.begin
