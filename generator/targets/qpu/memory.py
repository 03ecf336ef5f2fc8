# SPDX-License-Identifier: BSD-2-Clause
"""What a stage reads and writes of buffers: elements, or words of which they are fields."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from daedalus.dsl.ir import Buffer, DType, Index, Kernel, Node, Op, Stage, Store, u8
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.generator.targets.gpu.walks import byte_place
from daedalus.generator.targets.gpu.windows import Writes, elements, load_unit, places, writes
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, both
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.fields import field_of, word_of
from daedalus.generator.targets.qpu.item import Items
from daedalus.generator.targets.qpu.limits import strongest
from daedalus.generator.targets.qpu.lines import Lines, shared
from daedalus.generator.targets.qpu.places import Pointers, Walk, walk_of
from daedalus.generator.targets.qpu.values import Values
from daedalus.generator.targets.qpu.virtual import Value

# Vectors need no more alignment than words.
_TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "vec2", 12: "vec3", 16: "vec4"}


@dataclass
class _Moved:
    """A run of bytes at a place known at run time: where its first is, the bytes of the words that
    hold it, its length, and it, once it is read."""

    low: int
    size: int
    length: int
    words: list[Value] = field(default_factory=list)


class StageMemory:
    """The buffers of a stage.

    words    units larger than elements are used, where they are whole and aligned
    shifted  planes that are only read are read in words all the same, and these shifted
    lined    neighbouring elements read blocks that are only read in words together
    live     that the item exists
    loading  what must hold for a load to be made, if anything
    storing  what must hold for a store to be made
    ranges   what values reach, whatever the items hold
    """

    def __init__(
        self, kernel: Kernel, stage: Stage, items: Items, lanes: dict[str, Value], e: Emitter, *,
        words: bool, shifted: bool, lined: bool, live: Condition, ranges: Ranges,
    ) -> None:  # fmt: skip
        self._kernel, self._stage, self._items, self._e = kernel, stage, items, e
        self.loading, self.storing = list[Condition](), [live]
        self._pointers = Pointers(items, lanes, e)
        self._shifted = shifted
        self._windows: dict[tuple[Walk, int], list[Value]] = {}
        self._single = items.mapping.elements == 1
        self._loaded: dict[tuple[Walk, int, int], tuple[Value, ...]] = {}
        # Stores that wait: note, address, type, data, space, conditions.
        self._queue: list[tuple[str, Value, str, list[Value], str, list[Condition]]] = []
        self._places = places(kernel, stage)
        self._units: dict[Walk, int] = {}
        self._ranges = ranges
        self._moved: dict[tuple[object, ...], _Moved] = {}
        if words:
            self._find_moved(ranges)
        self.align: dict[str, int] = {}
        self.paired: dict[tuple[Store, ...], Value] = {}  # words that are there, by their stores
        for walk, rows in self._places.items():
            b = kernel.buffer(walk.buffer)
            assert b.dtype is not None
            if words and not self._anywhere(b):
                unit = min(load_unit(b, walk, rows), self._most(b))
            else:
                unit = b.dtype.bytes
            self._units[walk] = unit
            for row, bytes_ in rows.items():
                for byte in bytes_:
                    self._pointers.want(walk, row, byte // unit * unit)
        together = {b: shared(kernel, stage, b, items.mapping.elements) for b in kernel.buffers}
        self._lines = {
            b.name: Lines(b, how, items, e)
            for b, how in together.items()
            if lined and words and how
        }
        self._writes: dict[Walk, tuple[Writes, int]] = {}
        for w in writes(kernel, stage):
            assert w.buffer.dtype is not None
            unit = min(w.unit(stage), self._most(w.buffer)) if words else w.buffer.dtype.bytes
            if unit > w.buffer.dtype.bytes and not self._nested(w, unit):
                unit = w.buffer.dtype.bytes
            self._writes[w.walk] = (w, unit)
            for row in w.stores:
                for at in w.units(row, unit):
                    self._pointers.want(w.walk, row, at)
        self._left = {
            (walk, row, at): {b for b in elements(w.buffer, unit, at) if b in own}
            for walk, (w, unit) in self._writes.items()
            for row, own in w.stores.items()
            for at in w.units(row, unit)
        }

    def _most(self, b: Buffer) -> int:
        """The largest unit to use: where one element does an item, what it changes is kept in
        registers from the load to the store, so it is better done word by word. Items of a block
        begin with whole words, or are read by elements."""
        assert b.dtype is not None
        if b.kind == "block" and b.size * b.dtype.bytes % 4:
            return b.dtype.bytes
        return 4 if self._single and b.access == "inout" else 16

    def _nested(self, w: Writes, unit: int) -> bool:
        """Whether of every unit one element is stored only where all others are."""
        return all(
            self._strongest([own[b] for b in elements(w.buffer, unit, at) if b in own]) is not None
            for row, own in w.stores.items()
            for at in w.units(row, unit)
        )

    def _strongest(self, stores: list[Store]) -> tuple[Node | None] | None:
        return strongest([s.mask for s in stores], self._ranges)

    # ------------------------------------------------------------------ loads

    @staticmethod
    def _moved_key(b: Buffer, n: Node) -> tuple[object, ...]:
        """What loads at places known at run time share that are neighbours in a row."""
        row, col = byte_place(b, n.index)
        return b.name, row, col.terms, n.args

    def _find_moved(self, ranges: Ranges) -> None:
        """Runs of bytes at places known at run time that vectors of whole words can be read of:
        wherever they begin, each of these words holds a byte of the buffer's rectangle."""
        loads = [
            (n, b)
            for n in self._stage.nodes()
            if n.op is Op.LOAD and n.args
            for b in (self._kernel.buffer(n.attr[0]),)
            if b.kind == "plane" and b.access == "in" and b.dtype == u8
        ]
        found: dict[tuple[object, ...], set[int]] = {}
        for n, b in loads:
            found.setdefault(self._moved_key(b, n), set()).add(byte_place(b, n.index)[1].const)
        for n, b in loads:
            key = self._moved_key(b, n)
            if key in self._moved or len(found[key]) < 2:
                continue
            low, length = min(found[key]), max(found[key]) + 1 - min(found[key])
            count = (length + 2) // 4 + 1
            begin = Interval(low, low)
            for name, c in byte_place(b, n.index)[1].terms:
                if name.startswith("#"):
                    r = ranges.of(n.args[int(name[1:])])
                else:
                    r = Interval(0, self._stage.extents[name] - 1)
                begin = Interval(
                    begin.lo + min(c * r.lo, c * r.hi), begin.hi + max(c * r.lo, c * r.hi)
                )
            last = begin.hi // 4 * 4 + 4 * (count - 1)
            if count <= 4 and begin.lo >= b.shape[1][0] and last < b.shape[1][1]:
                self._moved[key] = _Moved(low, 4 * count, length)

    def _run(self, b: Buffer, n: Node, window: "_Moved", values: Values) -> list[Value]:
        """The words of such a run."""
        e = self._e
        if not window.words:
            index = (n.index[0], replace(n.index[1], const=window.low))
            begin = self._pointers.moved(b, index, n.args, [values.argument(a) for a in n.args])
            raw = self._load(e.op("and", begin, -4), b, window.size, b.name, values)
            self.align[b.name] = 4
            window.words = self._joined(list(raw), begin, window.length)
        return window.words

    def _moved_byte(self, b: Buffer, n: Node, window: "_Moved", values: Values) -> Argument:
        """An element of such a run."""
        at = byte_place(b, n.index)[1].const - window.low
        assert b.dtype is not None
        return field_of(self._run(b, n, window, values)[at // 4], b.dtype, 8 * (at % 4), self._e)

    def read(self, n: Node, values: Values) -> Argument:
        """A LOAD from a buffer."""
        b = self._kernel.buffer(n.attr[0])
        assert b.dtype is not None
        if n.args:
            window = self._moved.get(self._moved_key(b, n))
            if window is not None:
                return self._moved_byte(b, n, window, values)
            place = self._pointers.moved(b, n.index, n.args, [values.argument(a) for a in n.args])
            (word,) = self._load(place, b, b.dtype.bytes, b.name, values)
            return field_of(word, b.dtype, 0, self._e) if b.dtype.signed else word
        walk, row, byte = walk_of(b, n.index)
        if self._anywhere(b):
            word, begin = self.word(b, walk, row, byte, values)
            return field_of(word, b.dtype, 8 * (byte - begin), self._e)
        unit = self._units[walk]
        words = self._unit(b, walk, row, byte // unit * unit, unit, values)
        at = byte % unit
        if unit == b.dtype.bytes and not b.dtype.signed:
            return words[0]
        return field_of(words[at // 4], b.dtype, 8 * (at % 4), self._e)

    def _anywhere(self, b: Buffer) -> bool:
        """Whether a plane is read in words although its items lie at any place."""
        return self._shifted and b.kind == "plane" and b.access == "in" and b.dtype == u8

    def field(self, n: Node) -> tuple[tuple[object, ...], int, DType] | None:
        """Which word a LOAD's element is read in, if in one: what tells it from others, the bit
        that the element begins with, and its type."""
        b = self._kernel.buffer(n.attr[0])
        if b.kind == "temp" or b.dtype is None:
            return None
        if n.args:
            key = self._moved_key(b, n)
            if key not in self._moved:
                return None
            at = byte_place(b, n.index)[1].const - self._moved[key].low
            return (key, at // 4), 8 * (at % 4), b.dtype
        if not self.in_words(b, n.index):
            return None
        walk, row, byte = walk_of(b, n.index)
        begin = min(self._places[walk][row]) if self._anywhere(b) else 0
        at = byte - begin
        return (walk, row, at // 4), 8 * (at % 4), b.dtype

    def field_word(self, n: Node, values: Values) -> Value:
        """That word."""
        b = self._kernel.buffer(n.attr[0])
        if not n.args:
            return self.word(b, *walk_of(b, n.index), values)[0]
        window = self._moved[self._moved_key(b, n)]
        return self._run(b, n, window, values)[(byte_place(b, n.index)[1].const - window.low) // 4]

    def in_words(self, b: Buffer, index: Index) -> bool:
        """Whether an element is read as a field of a word."""
        return self._anywhere(b) or self._units[walk_of(b, index)[0]] >= 4

    def word(self, b: Buffer, walk: Walk, row: int, byte: int, values: Values) -> tuple[Value, int]:
        """The word that a byte is read in, and the byte that it begins with."""
        if not self._anywhere(b):
            unit = self._units[walk]
            start = byte // unit * unit
            words = self._unit(b, walk, row, start, unit, values)
            return words[(byte - start) // 4], byte // 4 * 4
        low = min(self._places[walk][row])
        if (walk, row) not in self._windows:
            self._windows[walk, row] = self._window(b, walk, row, low, values)
        number = (byte - low) // 4
        return self._windows[walk, row][number], low + 4 * number

    def _window(self, b: Buffer, walk: Walk, row: int, low: int, values: Values) -> list[Value]:
        """A row's bytes from the first that is wanted on, as words: of each two words of memory
        the bytes that are one. No word is read that holds none of them."""
        e = self._e
        length = max(self._places[walk][row]) + 1 - low
        begin = self._pointers.at(b, walk, row, low)
        first = e.op("and", begin, -4)
        sure = (length - 1) // 4 + 1  # words that are touched wherever it begins
        raw: list[Value] = []
        while len(raw) < sure:
            unit = 4 * min(4, sure - len(raw))
            raw += self._load(e.plus(first, 4 * len(raw)), b, unit, b.name, values)
        if (length + 2) // 4 + 1 > sure:
            last = e.op("and", e.plus(begin, length - 1), -4)
            raw += self._load(last, b, 4, b.name, values)
        return self._joined(raw, begin, length)

    def _joined(self, raw: list[Value], begin: Value, length: int) -> list[Value]:
        """So many bytes from an address on, of the words that hold them."""
        e = self._e
        by = e.op("shl", begin, 3)
        rest = e.op("not", by)  # 31 less by, of which shifts take 5 bits
        found: list[Value] = []
        for n in range(-(-length // 4)):
            word = e.op("shr", raw[n], by)
            if length - 4 * n > 1 and n + 1 < len(raw):
                twice = e.op("add", raw[n + 1], raw[n + 1])
                word = e.op("add", word, e.op("shl", twice, rest))
            found.append(word)
        return found

    def _unit(
        self, b: Buffer, walk: Walk, row: int, start: int, unit: int, values: Values
    ) -> tuple[Value, ...]:
        """The words of a unit."""
        key = (walk, row, start)
        if b.name in self._lines:
            self.align[b.name] = max(self.align.get(b.name, 1), 4)
            words = range(start, start + unit, 4)
            self._loaded[key] = tuple(
                self._lines[b.name].word((walk, at), values.flags) for at in words
            )
        if key not in self._loaded and b.kind == "block" and self._single:
            # All of them, in their order: then each address is the one before and a step.
            for at in sorted({x // unit * unit for x in self._places[walk][row]}):
                place = self._pointers.at(b, walk, row, at)
                space = self._space(b, row, at, unit)
                self._loaded[walk, row, at] = self._load(place, b, unit, space, values)
        if key not in self._loaded:
            place = self._pointers.at(b, walk, row, start)
            space = self._space(b, row, start, unit)
            self._loaded[key] = self._load(place, b, unit, space, values)
        return self._loaded[key]

    def _load(
        self, place: Value, b: Buffer, unit: int, space: str, values: Values
    ) -> tuple[Value, ...]:
        if not self._anywhere(b):
            self.align[b.name] = max(self.align.get(b.name, 1), min(unit, 4))
        flag = values.flags.flag(both(*self.loading)) if self.loading else None
        return self._e.b.load(place, _TYPES[unit], space=space, when=flag)

    def _space(self, b: Buffer, row: int, start: int, unit: int) -> str:
        """Lookups in different spaces do not meet: where one element does an item, those of places
        of its own."""
        return f"{b.name} {row} {start // unit * unit} {unit}" if self._apart(b) else b.name

    def _apart(self, b: Buffer) -> bool:
        """Whether each place is read and written by one stage, in one and the same unit."""
        stages = [
            s for s in self._kernel.stages
            if any(x.buffer == b.name for x in s.stores)
            or any(n.op is Op.LOAD and n.attr[0] == b.name for n in s.nodes())
        ]  # fmt: skip
        units = {u for w, u in self._units.items() if w.buffer == b.name}
        units |= {u for w, (_, u) in self._writes.items() if w.buffer == b.name}
        moved = any(n.op is Op.LOAD and n.args and n.attr[0] == b.name for n in self._stage.nodes())
        return self._single and len(units) == 1 and not moved and len(stages) == 1

    # ------------------------------------------------------------------ stores

    def store(self, s: Store, values: Values) -> None:
        """Says that a store's value is there; a unit is stored once all of its are."""
        b = self._kernel.buffer(s.buffer)
        walk, row, byte = walk_of(b, s.index)
        w, unit = self._writes[walk]
        at = byte // unit * unit
        left = self._left[walk, row, at]
        left.discard(byte)
        assert b.dtype is not None
        if self._pairs(w, row, at, unit):
            pass
        elif b.dtype.bytes == 1 and unit >= 4:
            pair = (byte & ~1, byte | 1)
            if all(p in w.stores[row] and p not in left for p in pair):
                # Two bytes of a word as soon as they are there: one value instead of two.
                word_of([values.argument(w.stores[row][p].value) for p in pair], b.dtype, self._e)
        if not left:
            self._whole(w, row, at, unit, values)

    def units(self) -> Iterator[list[tuple[Buffer, tuple[Store, ...]]]]:
        """Units of words that are stored under one condition: of each word its stores."""
        for w, unit in self._writes.values():
            size = unit if w.buffer.dtype is None else w.buffer.dtype.bytes
            for row, own in w.stores.items() if unit >= 4 > size else ():
                for at in w.units(row, unit):
                    stores = [own[x] for x in elements(w.buffer, unit, at) if x in own]
                    if len(stores) == unit // size and len({s.mask for s in stores}) == 1:
                        each = 4 // size
                        parts = range(0, len(stores), each)
                        yield [(w.buffer, tuple(stores[k : k + each])) for k in parts]

    def end(self, values: Values) -> None:
        """Makes the stores that had to wait for the stage's loads."""
        for note, place, type_, data, space, when in self._queue:
            with self._e.note(note):
                flag = values.flags.flag(both(*when)) if when else None
                self._e.b.store(place, data, type_, space=space, when=flag)
        self._queue = []

    def _whole(self, w: Writes, row: int, at: int, unit: int, values: Values) -> None:
        b, own = w.buffer, w.stores[row]
        assert b.dtype is not None
        size = b.dtype.bytes
        pairs = self._pairs(w, row, at, unit)
        parts: list[Argument] = []
        for byte in () if pairs else elements(b, unit, at):
            if byte in own:
                parts.append(values.argument(own[byte].value))
            else:
                parts.append(self._old(w, row, byte, values))
        stored = [own[x] for x in elements(b, unit, at) if x in own]
        found = self._strongest(stored)
        assert found is not None
        (mask,) = found
        if pairs:
            data = pairs
        elif unit <= size or unit < 4:
            data = [self._small(parts, b.dtype)]
        else:
            each, where = 4 // size, tuple(elements(b, unit, at))
            data = [
                self._copied([own[x] for x in where[k : k + each] if x in own], values)
                or word_of(parts[k : k + each], b.dtype, self._e)
                for k in range(0, len(parts), each)
            ]
        read = self._places.get(w.walk, {}).get(row, set())
        if self._apart(b) and any(at <= x < at + unit for x in read):
            self._unit(b, w.walk, row, at, unit, values)  # what was there, before it is gone
        space = self._space(b, row, at, unit)
        when = self._when(mask, values)
        self._put(b, self._pointers.at(b, w.walk, row, at, write=True), unit, data, space, when,
                  values)  # fmt: skip
        for byte, part in zip(() if pairs else elements(b, unit, at), parts, strict=True):
            if byte in own and own[byte].mask is not mask and mask is not None:
                # Where not all are stored, each by itself.
                alone = [*self._when(own[byte].mask, values), ~values.condition(mask)]
                place = self._pointers.at(b, w.walk, row, byte, write=True)
                self._put(b, place, size, [self._e.value(part)], space, alone, values)

    def _pairs(self, w: Writes, row: int, at: int, unit: int) -> list[Value]:
        """The words of a unit that were made of pairs, else none."""
        own, b = w.stores[row], w.buffer
        assert b.dtype is not None
        where = elements(b, unit, at)
        if not self.paired or unit < 4 or any(x not in own for x in where):
            return []
        each = 4 // b.dtype.bytes
        words = [tuple(own[x] for x in where[k : k + each]) for k in range(0, len(where), each)]
        return [self.paired[x] for x in words] if words[0] in self.paired else []

    def _when(self, mask: Node | None, values: Values) -> list[Condition]:
        return [*self.storing, *([] if mask is None else [values.condition(mask)])]

    def _put(
        self, b: Buffer, place: Value, unit: int, data: list[Value], space: str,
        when: list[Condition], values: Values,
    ) -> None:  # fmt: skip
        """Stores now, or with those that wait for the stage's loads."""
        self.align[b.name] = max(self.align.get(b.name, 1), min(unit, 4))
        if self._apart(b) or not self.reads(b):
            flag = values.flags.flag(both(*when)) if when else None
            self._e.b.store(place, data, _TYPES[unit], space=space, when=flag)
        else:
            self._queue.append((self._e.b.noted, place, _TYPES[unit], data, space, when))

    def _copied(self, stores: list[Store], values: Values) -> Value | None:
        """The word that is read where these, into one word, store just its elements."""
        if not stores:
            return None
        first = stores[0].value
        if first.op is not Op.LOAD or first.args or len({s.value.attr for s in stores}) > 1:
            return None
        b = self._kernel.buffer(first.attr[0])
        if b.kind == "temp" or b.dtype is None or self._anywhere(b):
            return None
        walk, row, byte = walk_of(b, first.index)
        size = b.dtype.bytes
        places = [(walk, row, byte + k * size) for k in range(4 // size)]
        if byte % 4 or self._units[walk] < 4 or len(stores) != len(places):
            return None
        if any(
            s.value.op is not Op.LOAD or s.value.args or walk_of(b, s.value.index) != p
            for s, p in zip(stores, places, strict=True)
        ):
            return None
        return self.word(b, walk, row, byte, values)[0]

    def _small(self, parts: list[Argument], t: DType) -> Value:
        """What a store of one element, or of two bytes, stores."""
        e = self._e
        if len(parts) == 1:
            return e.value(parts[0])
        low = e.value(parts[0])
        low = e.op("and", low, 255) if t.signed else low
        return e.op("add", low, e.op("shl", e.value(parts[1]), 8))

    def reads(self, b: Buffer) -> bool:
        """Whether the stage reads it, if only to write back what is there."""
        return any(n.op is Op.LOAD and n.attr[0] == b.name for n in self._stage.nodes()) or any(
            byte not in own
            for w, unit in self._writes.values()
            for row, own in w.stores.items()
            for at in w.units(row, unit)
            for byte in elements(b, unit, at)
            if w.buffer is b
        )

    def _old(self, w: Writes, row: int, byte: int, values: Values) -> Value:
        """An element that is written back."""
        b = w.buffer
        assert b.dtype is not None
        unit = self._units.get(w.walk)
        if unit is None:
            unit = self._units[w.walk] = self._writes[w.walk][1]
        words = self._unit(b, w.walk, row, byte // unit * unit, unit, values)
        return field_of(words[byte % unit // 4], b.dtype, 8 * (byte % unit % 4), self._e)
