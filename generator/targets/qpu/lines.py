# SPDX-License-Identifier: BSD-2-Clause
"""Blocks that neighbouring elements read together.

What an element needs of a block lies in several lines of memory, and a lookup in which every
element reads a line of its own takes the TMU longer than its words do. So elements read a block's
vectors side by side, and words move to those who want them (exchange.py). Where one element does an
item, two neighbours read the items of both, one after the other.
"""

from dataclasses import dataclass

from daedalus.dsl.ir import Affine, Buffer, Kernel, Stage
from daedalus.generator.targets.gpu.walks import Walk
from daedalus.generator.targets.gpu.windows import load_unit, places
from daedalus.generator.targets.qpu.apart import loads
from daedalus.generator.targets.qpu.conditions import Flags
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.exchange import Place, Places, components, plan
from daedalus.generator.targets.qpu.item import Items
from daedalus.generator.targets.qpu.lanes import point
from daedalus.generator.targets.qpu.moves import emit, moved
from daedalus.generator.targets.qpu.virtual import Value

_VECTORS = {4: "vec4", 2: "vec2", 1: "u32"}
_FEWEST = 2  # elements that read together: 32 bytes, so that 16 elements touch 8 lines

Word = tuple[Walk, int]  # of a stage's walk, the byte where a word begins


@dataclass(frozen=True)
class Shared:
    """How a group of elements reads the items that it does.

    first   byte of an item that is read first
    vector  words that an element reads at once
    group   elements that read together
    items   that they do
    wanted  where the words that elements want are read: number of the word among those that an
            element reads, and the element
    """

    first: int
    vector: int
    group: int
    items: int
    wanted: dict[Word, Places]


def shared(kernel: Kernel, stage: Stage, b: Buffer, elements: int) -> Shared | None:
    """How a stage's elements, so many an item, read a block together; None where they cannot, or
    do so by themselves.

    It has to be a block that is only read, in words of which none is left out, and whatever the
    item's parameters are."""
    if b.kind != "block" or b.access != "in" or stage.given is not None or stage.limits:
        return None
    if any(n.args for n in loads(stage, b)):
        return None
    walks = {w: rows[0] for w, rows in places(kernel, stage).items() if w.buffer == b.name}
    if not walks or any(load_unit(b, w, {0: bytes_}) < 4 for w, bytes_ in walks.items()):
        return None
    group = max(elements, _FEWEST)
    wanted = [(w, at) for w, bytes_ in walks.items() for at in sorted({x // 4 * 4 for x in bytes_})]
    points = [point(stage, lane % elements) for lane in range(group)]
    found = {(w, at): [at + int(Affine(0, w.cols).at(p)) for p in points] for w, at in wanted}
    read = sorted({byte for bytes_ in found.values() for byte in bytes_})
    first, count = read[0], len(read)
    vector = next((v for v in (4, 2, 1) if count % (v * group) == 0), 0)
    if not vector or read[-1] - first != 4 * (count - 1):
        return None
    items = group // elements

    def place(item: int, byte: int) -> Place:
        number, word = divmod((byte - first) // 4, vector)
        lookup, lane = divmod(number, group)
        return (lookup * items + item) * vector + word, lane

    made: dict[Word, Places] = {
        w: tuple(place(lane // elements, byte) for lane, byte in enumerate(bytes_))
        for w, bytes_ in found.items()
    }
    moves = any(p[1] != lane for own in made.values() for lane, p in enumerate(own) if p)
    return Shared(first, vector, group, items, made) if moves else None


class Lines:
    """A block's words as a stage's elements want them."""

    def __init__(self, b: Buffer, how: Shared, items: Items, e: Emitter) -> None:
        self._b, self._how, self._items, self._e = b, how, items, e
        self._read: dict[int, Value] = {}  # by number among what an element reads
        self._at: dict[int, tuple[int, Value]] = {}  # the last address of an item of the group
        self._words: dict[Word, Value] = {}

    def word(self, w: Word, flags: Flags) -> Value:
        """A word that is wanted, moved to where it is."""
        if w not in self._words:
            wanted, wants = list(self._how.wanted), list(self._how.wanted.values())
            own = wanted.index(w)
            together = next(c for c in components(wants) if own in c)
            some = [wants[n] for n in together]
            for number in sorted({p[0] for x in some for p in x if p is not None}):
                self._load(number)
            made = emit(plan(some), self._read, self._e, flags)
            self._words.update(zip((wanted[n] for n in together), made, strict=True))
        return self._words[w]

    def _load(self, number: int) -> None:
        """Reads a word, with the others of its lookup."""
        if number in self._read:
            return
        vector = self._how.vector
        lookup, item = divmod(number // vector, self._how.items)
        address = self._address(item, lookup)
        words = self._e.b.load(address, _VECTORS[vector], space=self._b.name)
        first = number // vector * vector
        self._read.update(enumerate(words, first))

    def _address(self, item: int, lookup: int) -> Value:
        """Where an element reads of an item of the group: the place before, and a step."""
        e, how = self._e, self._how
        if item not in self._at:
            lane = e.op("and", e.element(), how.group - 1)
            own = e.plus(e.times(lane, 4 * how.vector), how.first)
            if how.items == 1:
                begin = self._items.base(self._b, e.op("add", e.uniform(self._b.name), own))
            else:
                base = self._items.base(self._b, e.uniform(self._b.name))
                there = [item * (how.group // how.items)] * how.group
                begin = e.op("add", moved(base, there, e), own)
            self._at[item] = 0, begin
        before, value = self._at[item]
        if lookup != before:
            value = e.b.op("add", value, 4 * how.vector * how.group * (lookup - before))
            self._at[item] = lookup, value
        return value
