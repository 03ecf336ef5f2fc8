# SPDX-License-Identifier: BSD-2-Clause
"""Temps in shared memory: the items of a workgroup one after the other.

An element takes a word, or as much of one as its range needs: then an axis is chosen along which
every word is stored whole by one invocation, and of which all that is read is known when the
shader is made. Where all temps at once are more than there is, those lie in one place of which no
stage has need at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from daedalus.dsl.ir import Affine, Buffer, DType, Index, Kernel, Node, Op, Stage, i32
from daedalus.dsl.ranges import Ranges


@dataclass(frozen=True)
class Layout:
    """How a temp lies: its axes, the fastest last, and the type of an element."""

    axes: tuple[int, ...]
    dtype: DType

    @property
    def each(self) -> int:
        """Elements a word."""
        return 32 // self.dtype.bits


class TempLayouts:
    """Where the elements of temps lie.

    places  name of a temp -> the one that its place is called after; `most`: bytes there are
    """

    def __init__(
        self, kernel: Kernel, ranges: Ranges, *, packed: bool, most: int | None = None
    ) -> None:
        self._kernel, self._temps = kernel, kernel.temps
        self._layouts = {
            t.name: self._layout(t, ranges.dtype(t.name) if packed else i32) for t in kernel.temps
        }
        self.places = {t.name: t.name for t in kernel.temps}
        if most is not None and self.bytes_an_item > most:
            self.places = self._in_turn()

    def of(self, t: Buffer) -> Layout:
        return self._layouts[t.name]

    def place(self, t: Buffer, index: Index) -> tuple[Affine, int]:
        """The word of an element inside its item's part, and the element's number in the word."""
        layout = self.of(t)
        at = _flat(t, layout.axes, index)
        if layout.each == 1:
            return at, 0
        terms = tuple((lane, c // layout.each) for lane, c in at.terms)
        return Affine(at.const // layout.each, terms), at.const % layout.each

    def words(self, t: Buffer) -> int:
        """Words that an item's part of a temp takes."""
        return -(-t.size // self.of(t).each)

    def room(self, place: str) -> int:
        """Words that an item's part of a place takes: those of the largest temp there."""
        return max(self.words(t) for t in self._temps if self.places[t.name] == place)

    @property
    def bytes_an_item(self) -> int:
        """Shared memory that an item takes."""
        return 4 * sum(map(self.room, dict.fromkeys(self.places.values())))

    def _in_turn(self) -> dict[str, str]:
        """Places for temps of which none is needed any more when the next one is written."""
        stages = self._kernel.stages
        needed: dict[str, list[int]] = {
            t.name: [n for n, s in enumerate(stages) if t.name in _touched(s)] for t in self._temps
        }
        places: dict[str, str] = {}
        last: dict[str, int] = {}  # of a place, the stage that needs it last
        for t in sorted(self._temps, key=lambda t: min(needed[t.name], default=0)):
            free = [
                p for p, n in last.items()
                if n < min(needed[t.name], default=0) and self._alike(p, t) and t.init is None
            ]  # fmt: skip
            # The largest, so that no place grows where it need not.
            place = max(free, key=lambda p: self.words(self._kernel.buffer(p)), default=t.name)
            places[t.name] = place
            last[place] = max(needed[t.name], default=0)
        return places

    def _alike(self, place: str, t: Buffer) -> bool:
        """Whether both have elements that are words, or both have words of several."""
        return (self._layouts[place].each == 1) == (self.of(t).each == 1)

    def _layout(self, t: Buffer, dtype: DType) -> Layout:
        plain = tuple(range(len(t.shape)))
        if dtype.bits < 32 and t.init is None:
            for fastest in reversed(plain):
                for rest in permutations([a for a in plain if a != fastest]):
                    layout = Layout((*rest, fastest), dtype)
                    if self._suits(t, layout):
                        return layout
        return Layout(plain, i32)

    def _suits(self, t: Buffer, layout: Layout) -> bool:
        """Whether words are stored whole, and read at places that are known."""
        for stage in self._kernel.stages:
            for n in _loads(stage, t):
                if n.args or not self._known(t, layout, n.index):
                    return False
            stored: dict[tuple[tuple[str, int], ...], set[int]] = {}
            for s in stage.stores:
                if s.buffer == t.name:
                    if s.mask is not None or s.combine or not self._known(t, layout, s.index):
                        return False
                    at = _flat(t, layout.axes, s.index)
                    stored.setdefault(tuple(sorted(at.terms)), set()).add(at.const)
            for places in stored.values():
                words = {p // layout.each for p in places}
                if len(places) != len(words) * layout.each:
                    return False
        return True

    @staticmethod
    def _known(t: Buffer, layout: Layout, index: Index) -> bool:
        return all(c % layout.each == 0 for _, c in _flat(t, layout.axes, index).terms)


def _touched(stage: Stage) -> set[str]:
    """The buffers that a stage reads or writes."""
    read = {n.attr[0] for n in stage.nodes() if n.op is Op.LOAD}
    return read | {s.buffer for s in stage.stores}


def _loads(stage: Stage, t: Buffer) -> Iterator[Node]:
    return (n for n in stage.nodes() if n.op is Op.LOAD and n.attr[0] == t.name)


def _flat(t: Buffer, axes: tuple[int, ...], index: Index) -> Affine:
    """The number of an element where the axes follow each other in this order."""
    const, terms = 0, dict[str, int]()
    for axis in axes:
        extent = t.extents[axis]
        const = const * extent + index[axis].const
        terms = {lane: c * extent for lane, c in terms.items()}
        for lane, c in index[axis].terms:
            terms[lane] = terms.get(lane, 0) + c
    return Affine(const, tuple(terms.items()))
