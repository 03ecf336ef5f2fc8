# SPDX-License-Identifier: BSD-2-Clause
"""Temps between stages: in registers where one element does an item, else in scratch memory.

In registers a temp is what was stored last; where it is packed, words of several elements, put
together as soon as the last of them is there. In memory a thread has a part of its own, in which an
element of a temp takes a word; a thread waits for its stores before it loads.
"""

from daedalus.dsl.ir import Affine, Buffer, Kernel, Node, Op, Stage
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.c.emit import flat
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.gpu.temps import TempLayouts
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, both
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.fields import field_of, word_of
from daedalus.generator.targets.qpu.item import Items, weighted
from daedalus.generator.targets.qpu.limits import PlaceLimits
from daedalus.generator.targets.qpu.values import Values
from daedalus.generator.targets.qpu.virtual import Value

SPACE = "scratch"  # and the uniform that says where it begins


MERGES = {"add": ("add", "add"), "min": ("min", "umin"), "max": ("max", "umax")}  # signed or not


class RegisterTemps:
    """Temps of a kernel whose stages have a single point each."""

    scratch_bytes = 0

    def __init__(self, kernel: Kernel, ranges: Ranges, e: Emitter, *, packed: bool) -> None:
        self._kernel, self._ranges, self._e = kernel, ranges, e
        self._layouts = TempLayouts(kernel, ranges, packed=packed)
        self._elements: dict[tuple[str, int, int], Argument] = {}
        self._words: dict[tuple[str, int], Value] = {}
        self._stored: list[tuple[tuple[str, int, int], Argument]] = []

    def begin(self, stage: Stage, lanes: dict[str, Value], when: list[Condition]) -> None:
        """Opens a stage, of which only elements in which all of these hold matter."""

    def read(self, t: Buffer, n: Node, values: Values) -> Argument:
        """An element as it was before the stage."""
        at, number = self._layouts.place(t, n.index)
        return self._element(t, (t.name, at.const, number))

    def store(
        self, t: Buffer, index: tuple[Affine, ...], value: Argument, when: list[Condition],
        values: Values, combine: str = "",
    ) -> None:  # fmt: skip
        """Stores an element, or merges a value into it; seen from the next stage on."""
        at, number = self._layouts.place(t, index)
        key = (t.name, at.const, number)
        if combine:
            name = MERGES[combine][not self._ranges.dtype(t.name).signed]
            value = self._e.op(name, self._e.value(self._old(t, key)), value)
        if when:
            old = self._old(t, key)
            value = self._e.select(values.flags.flag(both(*when)), value, old)
        self._stored.append((key, value))
        each = self._layouts.of(t).each
        own = {k: v for k, v in self._stored if k[:2] == key[:2]}
        if each > 1 and len(own) == each:
            parts = [own[(*key[:2], k)] for k in range(each)]
            word = word_of(parts, self._layouts.of(t).dtype, self._e)
            self._stored = [(k, v) for k, v in self._stored if k[:2] != key[:2]]
            self._stored.append(((*key[:2], -1), word))

    def _element(self, t: Buffer, key: tuple[str, int, int]) -> Argument:
        """What was stored last, or what it held before."""
        word, layout = self._words.get(key[:2]), self._layouts.of(t)
        if word is not None:
            return field_of(word, layout.dtype, key[2] * layout.dtype.bits, self._e)
        return self._elements.get(key, 0 if t.init is None else t.init)

    def _old(self, t: Buffer, key: tuple[str, int, int]) -> Argument:
        """What an element holds that is stored under a condition."""
        before = [v for k, v in self._stored if k == key]
        return before[-1] if before else self._element(t, key)

    def end(self) -> None:
        """Closes a stage."""
        for (name, at, number), value in self._stored:
            if number == -1:
                assert isinstance(value, Value)
                self._words[name, at] = value
            else:
                self._elements[name, at, number] = value
        self._stored = []


class ScratchTemps:
    """Temps of a kernel of which several elements do an item."""

    def __init__(self, kernel: Kernel, items: Items, limits: PlaceLimits, e: Emitter) -> None:
        for t in kernel.temps:
            if t.init is not None:
                raise NotLowerable(
                    "qpu", f"the temp {t.name} has a first value, and is in memory", t.loc,
                    kernel.id, hint="give each element all points of an item (p8, p16)",
                )  # fmt: skip
        self._kernel, self._limits, self._e = kernel, limits, e
        self._at: dict[str, int] = {}
        words = 0
        for t in kernel.temps:
            self._at[t.name] = words
            words += t.size
        self._item_bytes = 4 * words
        self.scratch_bytes = 4 * words * items.mapping.items
        self._base: Value | None = None
        if words:
            own = e.op("umul24", items.workgroup, self.scratch_bytes)
            base = e.op("add", e.uniform(SPACE), own)
            if items.mapping.items > 1:
                shift = items.mapping.shift
                slot = e.op("shr", e.element(), shift) if shift else e.element()
                base = e.op("add", base, e.times(slot, self._item_bytes))
            self._base = base
        self._lanes: dict[str, Value] = {}
        self._when: list[Condition] = []
        self._read: set[str] = set()  # the temps that the stage reads
        self.soon = False  # whether stores are made as soon as their values are there
        self._waiting: set[str] = set()
        # Stores that wait: note, space, address, value, conditions.
        self._queue: list[tuple[str, str, Value, Argument, list[Condition]]] = []
        self._names: set[str] = set()
        self._values: Values | None = None

    def begin(self, stage: Stage, lanes: dict[str, Value], when: list[Condition]) -> None:
        """Opens a stage, of which only elements in which all of these hold matter."""
        self._lanes, self._when = lanes, when
        self._read = {n.attr[0] for n in stage.nodes() if n.op is Op.LOAD}
        self.soon = False

    def _address(self, t: Buffer, index: tuple[Affine, ...], args: list[Value]) -> Value:
        e, at = self._e, flat(t, index)
        assert self._base is not None
        fixed = e.op("add", self._base, weighted(at, 4, self._lanes, e))
        for name, c in at.terms:
            if name.startswith("#"):
                term = e.op("smul24", args[int(name[1:])], 4 * c)
                fixed = e.op("add", fixed, term)
        return e.plus(fixed, 4 * (self._at[t.name] + at.const))

    def read(self, t: Buffer, n: Node, values: Values) -> Argument:
        """An element as it was before the stage."""
        if t.name in self._waiting:
            self._e.b.wait_stores()
            self._waiting.clear()
        address = self._address(
            t, n.index, [values.e.value(a) for a in self._limits.args(n, values)]
        )
        flag = values.flags.flag(both(*self._when)) if self._when else None
        return self._e.b.load(address, space=f"{SPACE} {t.name}", when=flag)[0]

    def store(
        self, t: Buffer, index: tuple[Affine, ...], value: Argument, when: list[Condition],
        values: Values,
    ) -> None:  # fmt: skip
        """Stores an element; seen from the next stage on."""
        address = self._address(t, index, [])
        self._names.add(t.name)
        self._values = values
        if self.soon and t.name not in self._read:
            flag = values.flags.flag(both(*when)) if when else None
            self._e.b.store(address, [self._e.value(value)], space=f"{SPACE} {t.name}", when=flag)
            return
        self._queue.append((self._e.b.noted, f"{SPACE} {t.name}", address, value, when))

    def end(self) -> None:
        """Closes a stage."""
        for note, space, address, value, when in self._queue:
            assert self._values is not None
            with self._e.note(note):
                flag = self._values.flags.flag(both(*when)) if when else None
                self._e.b.store(address, [self._e.value(value)], space=space, when=flag)
        self._waiting |= self._names
        self._queue, self._names = [], set()
