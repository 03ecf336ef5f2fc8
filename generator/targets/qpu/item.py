# SPDX-License-Identifier: BSD-2-Clause
"""Which items a trip does, their records, their parameters and where their buffers begin.

The record of an item (daedalus_gpu_code) is read in lookups of one, two or four words, or by unifa
where a trip is one item. Elements whose item does not exist read the last one there is, and store
nothing.
"""

from contextlib import nullcontext

from daedalus.dsl.ir import Affine, Buffer, Kernel, Param
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.gpu.record import INDEX, Record, record
from daedalus.generator.targets.qpu.builder import Argument, LoopBuilder
from daedalus.generator.targets.qpu.conditions import Condition, Test
from daedalus.generator.targets.qpu.emitter import Emitter, amount
from daedalus.generator.targets.qpu.fields import field_of, variable_field
from daedalus.generator.targets.qpu.lanes import Mapping
from daedalus.generator.targets.qpu.virtual import Value
from daedalus.generator.targets.shell import meta_fields

RECORDS = "records"  # the space of the records, and the uniform that says where they begin
_VECTORS = {1: "u32", 2: "vec2", 3: "vec3", 4: "vec4"}


class Items:
    """What a trip knows of its items.

    The runtime passes `records`, the address of the first record; `items`, how many there are;
    `threads`, how many threads there are; and of every buffer its address and, of a plane, its
    stride in bytes. Addresses of records past the last by one trip of each thread must not wrap.

    early  a trip reads the records of the next one: what they are the address of can be looked up
           sooner, and they take registers
    unifa  records are read by unifa. Raises NotLowerable where a trip has several
    """

    def __init__(
        self, kernel: Kernel, m: Mapping, e: Emitter, *, early: bool, unifa: bool = False
    ) -> None:
        if unifa and m.items > 1:
            raise NotLowerable(
                "qpu", f"unifa reads one record for all elements, and a trip has {m.items} items",
                kernel.loc, kernel.id,
                hint="give each element fewer points, so that 16 do an item, or leave unifa out",
            )  # fmt: skip
        self.kernel, self.mapping, self.e, self._early = kernel, m, e, early
        self._unifa = unifa
        self.record: Record = record(kernel)
        self._offsets = {f.name: f.offset for f in meta_fields(kernel)[0]}
        self._words: dict[int, Value] = {}
        self._params: dict[tuple[str, int], Argument] = {}
        size = 4 * len(self.record.words)
        element = e.element()
        self.lane: Value | None = e.op("and", element, m.elements - 1) if m.shift else None
        if m.elements == 16:
            self.lane = element
        self.workgroup = e.workgroup()
        slot = e.op("shr", element, amount(m.shift)) if m.shift else element
        number = self.workgroup
        if m.items > 1:
            number = e.op("shl", number, 4 - m.shift)
            number = e.op("add", number, slot)
        records = e.uniform(RECORDS)
        self._first = e.op("add", records, e.times(number, size))
        count = e.op("sub", e.uniform("items"), 1)
        self._last = e.op("add", records, e.times(count, size))
        self._step = e.times(e.uniform("threads"), size * m.items)
        self._number: Value | None = None
        self._after: Value | None = None
        self._record: Value | None = None

    # ------------------------------------------------------------------ the loop

    def begin(self, loop: LoopBuilder) -> None:
        """Opens a trip: its records."""
        e = self.e
        self._number = loop.carried(self._first, "record")
        self._record = e.op("umin", self._number, self._last)
        self._after = e.op("add", self._number, self._step)
        loop.next(self._number, self._after)
        if not self._early:
            self._words = dict(enumerate(self._read(self._record)))
            return
        ready = self._read(e.op("umin", self._first, self._last))
        own = [loop.carried(word, "record") for word in ready]
        self._words = dict(enumerate(own))
        following = self._read(e.op("umin", self._after, self._last))
        for word, after in zip(own, following, strict=True):
            loop.next(word, after)

    def _read(self, at: Value) -> list[Value]:
        """The words of the record at an address."""
        vector, e = self.record.vector, self.e
        words: list[Value] = []
        with e.b.before_loop() if e.fixed(at) else nullcontext():
            wanted = len(dict.fromkeys(self.record.words))  # the rest fills the record up
            if self._unifa:
                return [*e.b.load_unifa(at, wanted, space=RECORDS)]
            for n in range(0, wanted, vector):
                type_ = _VECTORS[min(vector, wanted - n)]
                words += e.b.load(e.plus(at, 4 * n), type_, space=RECORDS)
        return words

    @property
    def live(self) -> Condition:
        """Whether the item exists."""
        assert self._number is not None
        return ~Condition(Test("sub", (self._last, self._number), "c"))

    def end(self, loop: LoopBuilder) -> None:
        """Closes a trip: another one if any element has an item then."""
        assert self._after is not None
        loop.repeat(~self.e.b.flag("pushc", "sub", self._last, self._after), "anya")

    # ------------------------------------------------------------------ what it has

    def _word(self, number: int) -> Value:
        """A word of the meta, or the item's index."""
        return self._words[self.record.words.index(number)]

    def base(self, b: Buffer, fixed: Value) -> Value:
        """Where an item begins, counted from an address that is the same for all."""
        assert b.dtype is not None
        if b.kind == "plane":
            return self.e.op("add", fixed, self._word(self._offsets[f"{b.name}_off"] // 4))
        index = self.e.times(self._word(INDEX), b.size * b.dtype.bytes)
        return self.e.op("add", fixed, index)

    def stride(self, b: Buffer, rows: int = 1) -> Value:
        """So many rows, in bytes."""
        one = self.e.uniform(f"{b.name}_stride")
        if rows == 1:
            return one
        return self.e.times(one, rows) if rows > 0 and rows & (rows - 1) == 0 else self.e.op(
            "smul24", one, rows
        )  # fmt: skip

    def parameter(self, p: Param, index: Affine | None, lanes: dict[str, Value]) -> Argument:
        """A parameter; of an array, the element at an index."""
        at, e = self._offsets[p.name], self.e
        if index is not None:
            at += index.const * p.dtype.bytes
        if index is None or not index.terms:
            key = (p.name, at)
            if key not in self._params:
                self._params[key] = field_of(
                    self._word(at // 4), p.dtype, 8 * (at % 4), e, p.any_class.hi
                )
            return self._params[key]
        number = weighted(index, p.dtype.bytes, lanes, e)
        start = self._offsets[p.name]
        end = start + p.dtype.bytes * p.count - 1
        if start // 4 == end // 4 and p.dtype.bits < 32:
            bit = e.op("shl", e.plus(number, at % 4), 3)
            return variable_field(self._word(at // 4), p.dtype, bit, e)
        assert self._record is not None
        place = e.op("add", self._record, e.plus(number, at - start))
        first = 4 * self.record.words.index(start // 4) + start % 4
        (word,) = e.b.load(e.plus(place, first), f"u{p.dtype.bits}", space=RECORDS)
        return field_of(word, p.dtype, 0, e) if p.dtype.signed else word


def weighted(a: Affine, size: int, lanes: dict[str, Value], e: Emitter) -> Value:
    """The lanes' part of an index, in bytes, of lanes that have values."""
    total: Value | None = None
    for lane, c in a.terms:
        if lane not in lanes:
            continue
        term = e.times(lanes[lane], c * size)
        total = term if total is None else e.op("add", total, term)
    return e.value(0) if total is None else total
