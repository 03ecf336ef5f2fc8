# SPDX-License-Identifier: BSD-2-Clause
"""What a stage reads and writes of buffers: elements, or words of which they are fields."""

from collections.abc import Iterator, Sequence

from daedalus.dsl.ir import Buffer, DType, Kernel, Node, Stage, Store
from daedalus.generator.targets.gpu.plan import Field, Run, Unit
from daedalus.generator.targets.gpu.windows import elements
from daedalus.generator.targets.qpu.apart import alike, disjoint, loads, stages_of
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, both
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.fields import field_of, word_of
from daedalus.generator.targets.qpu.item import Items
from daedalus.generator.targets.qpu.limits import PlaceLimits
from daedalus.generator.targets.qpu.lines import Lines, shared
from daedalus.generator.targets.qpu.places import Pointers
from daedalus.generator.targets.qpu.plan import QpuPlan, words_around
from daedalus.generator.targets.qpu.values import Values
from daedalus.generator.targets.qpu.virtual import Value

# Vectors need no more alignment than words.
_TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "vec2", 12: "vec3", 16: "vec4"}


class StageMemory:
    """The buffers of a stage, as it is planned.

    lined    neighbouring elements read blocks that are only read in words together
    live     that the item exists
    loading  what must hold for a load to be made, if anything
    storing  what must hold for a store to be made
    limits   of places that are known at run time
    """

    def __init__(
        self, kernel: Kernel, stage: Stage, items: Items, lanes: dict[str, Value], e: Emitter, *,
        words: bool, shifted: bool, lined: bool, live: Condition, limits: PlaceLimits,
    ) -> None:  # fmt: skip
        self._kernel, self._stage, self._limits, self._e = kernel, stage, limits, e
        self.loading, self.storing = list[Condition](), [live]
        self._pointers = Pointers(items, lanes, e)
        self._single = items.mapping.elements == 1
        self.soon = False  # whether stores are made as soon as their values are there
        self._kept = dict[tuple[str, bool], bool]()  # of a buffer and `soon`: _apart()
        self.plan = QpuPlan(
            kernel, stage, limits.hostile, words=words, shifted=shifted, single=self._single
        )
        self._words: dict[Run, Sequence[Value]] = {}  # of what is read
        # Stores that wait: note, address, type, data, space, conditions.
        self._queue: list[tuple[str, Value, str, list[Value], str, list[Condition]]] = []
        self.align: dict[str, int] = {}
        self.paired: dict[tuple[Store | None, ...], Value] = {}  # words that are there
        for walk, _, row, byte in self.plan.wanted():
            self._pointers.want(walk, row, byte)
        together = {b: shared(kernel, stage, b, items.mapping.elements) for b in kernel.buffers}
        self._lines = {
            b.name: Lines(b, how, items, e)
            for b, how in together.items()
            if lined and words and how
        }
        self._unit_of = {s: u for u in self.plan.units for _, s in u.own}
        self._left = {u: {s for _, s in u.own} for u in self.plan.units}

    # ------------------------------------------------------------------ loads

    def read(self, n: Node, values: Values) -> Argument:
        """A LOAD from a buffer."""
        found = self.plan.field(n)
        if found.whole and not found.type.signed:
            return self._read(found.run, values)[0]
        return self._element(found, values)

    def word(self, f: Field, values: Values) -> Value:
        """The word that an element is read in."""
        return self._read(f.run, values)[f.word]

    def _element(self, f: Field, values: Values) -> Value:
        return field_of(self.word(f, values), f.type, f.bit, self._e)

    def _read(self, run: Run, values: Values) -> Sequence[Value]:
        """The words of what is read together."""
        if run not in self._words:
            b = self._kernel.buffer(run.walk.buffer)
            if run.window:
                self._words[run] = self._window(b, run, values)
            elif b.name in self._lines:
                self._aligned(b, 4)
                at = range(run.begin, run.begin + run.size, 4)
                lines = self._lines[b.name]
                self._words[run] = [lines.word((run.walk, x), values.flags) for x in at]
            elif b.kind == "block" and self._single and run.load is None:
                # All of them, in their order: then each address is the one before and a step.
                for one in dict.fromkeys((*self.plan.runs(run.walk, run.row), run)):
                    self._words[one] = self._unit(b, one, values)
            else:
                self._words[run] = self._unit(b, run, values)
        return self._words[run]

    def _unit(self, b: Buffer, run: Run, values: Values) -> Sequence[Value]:
        self._aligned(b, run.size)
        space = b.name if run.load else self._space(b, run)
        return self._load(self._address(b, run, values), run.size, space, values)

    def _address(self, b: Buffer, run: Run, values: Values) -> Value:
        """Where something that is read begins."""
        if run.load is None:
            return self._pointers.at(b, run.walk, run.row, run.begin)
        args = run.load.args
        return self._pointers.moved(b, run.index(b), args, self._limits.args(run.load, values))

    def _window(self, b: Buffer, run: Run, values: Values) -> list[Value]:
        """A window's bytes as words: of each two words of memory the bytes that are one. No word
        is read that holds none of them, or none that the item may read."""
        e, length = self._e, run.size
        begin = self._address(b, run, values)
        first = e.op("and", begin, -4)
        count, sure = words_around(length), (length - 1) // 4 + 1  # that are touched in any case
        if run.load is not None:
            self._aligned(b, 4)
            return self._joined(self._load(first, 4 * count, b.name, values), begin, length)
        raw: list[Value] = []
        while len(raw) < sure:
            unit = 4 * min(4, sure - len(raw))
            raw += self._load(e.plus(first, 4 * len(raw)), unit, b.name, values)
        if count > sure:
            last = e.op("and", e.plus(begin, length - 1), -4)
            raw += self._load(last, 4, b.name, values)
        return self._joined(raw, begin, length)

    def _joined(self, raw: Sequence[Value], begin: Value, length: int) -> list[Value]:
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

    def _load(self, place: Value, size: int, space: str, values: Values) -> Sequence[Value]:
        flag = values.flags.flag(both(*self.loading)) if self.loading else None
        return self._e.b.load(place, _TYPES[size], space=space, when=flag)

    def _aligned(self, b: Buffer, size: int) -> None:
        """Notes that the buffer's places are multiples of so many bytes, or of a word."""
        self.align[b.name] = max(self.align.get(b.name, 1), min(size, 4))

    def _space(self, b: Buffer, at: Run | Unit) -> str:
        """Lookups in different spaces do not meet: where one element does an item, those of places
        of its own."""
        return f"{b.name} {at.row} {at.begin} {at.size}" if self._apart(b) else b.name

    def _apart(self, b: Buffer) -> bool:
        """Whether lookups of different places of the buffer never meet, and each place is read and
        written in one and the same unit: then what is in the way of a store is a load of its own
        place alone."""
        if (b.name, self.soon) not in self._kept:
            self._kept[b.name, self.soon] = self._never_meet(b)
        return self._kept[b.name, self.soon]

    def _never_meet(self, b: Buffer) -> bool:
        """The same, found anew."""
        units = {u for w, u in self.plan.read.items() if w.buffer == b.name}
        units |= {u.size for u in self.plan.units if u.buffer is b}
        if len(units) != 1:
            return False
        if self._single and len(stages_of(self._kernel.stages, b)) == 1:
            return True
        return self.soon and alike(self._stage, b) and disjoint(self._kernel.stages, b)

    # ------------------------------------------------------------------ stores

    def store(self, s: Store, values: Values) -> None:
        """Says that a store's value is there; a unit is stored once all of its are."""
        u = self._unit_of[s]
        left, t = self._left[u], u.buffer.dtype
        left.discard(s)
        assert t is not None
        if not self._pairs(u) and t.bytes == 1 and u.size >= 4:
            at = u.stores.index(s) & ~1
            two = [x for x in u.stores[at : at + 2] if x is not None and x not in left]
            if len(two) == 2:
                # Two bytes of a word as soon as they are there: one value instead of two.
                word_of([values.argument(x.value) for x in two], t, self._e)
        if not left:
            self._whole(u, values)

    def units(self) -> Iterator[list[tuple[Buffer, tuple[Store, ...]]]]:
        """Units of words that are stored under one condition: of each word its stores."""
        for u in self.plan.units:
            if u.size >= 4 and len(u.stores) > u.size // 4 and None not in u.stores and u.alike:
                yield [(u.buffer, tuple(s for s in word if s)) for word in u.words]

    def end(self, values: Values) -> None:
        """Makes the stores that had to wait for the stage's loads."""
        for note, place, type_, data, space, when in self._queue:
            with self._e.note(note):
                flag = values.flags.flag(both(*when)) if when else None
                self._e.b.store(place, data, type_, space=space, when=flag)
        self._queue = []

    def _whole(self, u: Unit, values: Values) -> None:
        b, t = u.buffer, u.buffer.dtype
        assert t is not None
        data, parts = self._pairs(u), list[Argument]()
        if not data:
            parts = [
                self._element(self.plan.before(u, k), values)
                if s is None
                else values.argument(s.value)
                for k, s in enumerate(u.stores)
            ]
            each = len(u.words[0])
            data = (
                [self._small(parts, t)]
                if u.size < 4 or len(parts) == 1
                else [word_of(parts[k : k + each], t, self._e) for k in range(0, len(parts), each)]
            )
        if self._apart(b) and self.plan.reads_of(u):
            self._read(self.plan.at(u.walk, u.row, u.begin).run, values)  # before it is gone
        space, mask = self._space(b, u), (u.masks or (None,))[0]
        when = self._when(mask, values)
        self._put(b, self._stored_at(u, u.begin), u.size, data, space, when, values)
        if mask is None or not parts:
            return
        for byte, s, part in zip(elements(b, u.size, u.begin), u.stores, parts, strict=True):
            if s is not None and s.mask is not mask:
                # Where not all are stored, each by itself.
                alone = [*self._when(s.mask, values), ~values.condition(mask)]
                place = self._stored_at(u, byte)
                self._put(b, place, t.bytes, [self._e.value(part)], space, alone, values)

    def _pairs(self, u: Unit) -> list[Value]:
        """The words of a unit that were made of pairs, else none."""
        if not self.paired or u.size < 4 or None in u.stores or u.words[0] not in self.paired:
            return []
        return [self.paired[x] for x in u.words]

    def _when(self, mask: Node | None, values: Values) -> list[Condition]:
        return [*self.storing, *([] if mask is None else [values.condition(mask)])]

    def _stored_at(self, u: Unit, byte: int) -> Value:
        return self._pointers.at(u.buffer, u.walk, u.row, byte, write=True)

    def _put(
        self, b: Buffer, place: Value, size: int, data: list[Value], space: str,
        when: list[Condition], values: Values,
    ) -> None:  # fmt: skip
        """Stores now, or with those that wait for the stage's loads."""
        self._aligned(b, size)
        if self._apart(b) or not self.reads(b):
            flag = values.flags.flag(both(*when)) if when else None
            self._e.b.store(place, data, _TYPES[size], space=space, when=flag)
        else:
            self._queue.append((self._e.b.noted, place, _TYPES[size], data, space, when))

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
        return any(True for _ in loads(self._stage, b)) or any(
            None in u.stores for u in self.plan.units if u.buffer is b
        )
