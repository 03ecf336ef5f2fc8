# SPDX-License-Identifier: BSD-2-Clause
"""What a stage reads and writes, as text: elements, fields of words, windows that lie anywhere."""

from collections.abc import Hashable
from dataclasses import replace

from daedalus.dsl.ir import Buffer, Kernel, Node, Op, Stage, Store, u8
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.glsl.fields import field_of, packed, summed, under
from daedalus.generator.targets.glsl.pointers import Bases, Pointers, moved_place
from daedalus.generator.targets.glsl.shared import StageTemps
from daedalus.generator.targets.glsl.shifted import Windows
from daedalus.generator.targets.glsl.values import Values
from daedalus.generator.targets.glsl.views import Views, word_of
from daedalus.generator.targets.gpu.temps import TempLayouts
from daedalus.generator.targets.gpu.walks import Walk, walk_of
from daedalus.generator.targets.gpu.windows import Writes, elements, load_unit, places, writes


class StageMemory:
    """The memory of a stage.

    words    units larger than elements are used, where they are whole and aligned
    shifted  planes that are only read are read in words all the same, and these shifted
    """

    def __init__(
        self, kernel: Kernel, stage: Stage, views: Views, bases: Bases, temps: TempLayouts,
        names: Names, *, words: bool, shifted: bool,
    ) -> None:  # fmt: skip
        self._kernel, self._stage, self._views = kernel, stage, views
        self._names, self._words, self._shifted = names, words, shifted
        self._pointers = Pointers(bases, names)
        self._places = places(kernel, stage)
        self._writes = writes(kernel, stage)
        self._units: dict[Walk, int] = {}
        self._loaded: dict[tuple[Walk, int, int], str] = {}  # by row and where the unit begins
        self._shared = StageTemps(kernel, stage, temps, names)
        self._mid: dict[tuple[str, str], str] = {}
        for walk, rows in self._places.items():
            b = kernel.buffer(walk.buffer)
            self._units[walk] = self._unit(b, walk, rows)
            for row in rows:
                self._pointers.want(walk, self._units[walk], row)
        self._windows = Windows(views, names)
        self._want_windows()
        self._write_units = {w.walk: self._write_unit(w) for w in self._writes}
        for w in self._writes:
            for row in w.stores:
                self._pointers.want(w.walk, self._write_units[w.walk], row)

    def _want_windows(self) -> None:
        """Says which windows of rows are read."""
        for n in self._stage.nodes():
            if n.op is not Op.LOAD or not self._in_windows(b := self._kernel.buffer(n.attr[0])):
                continue
            assert b.dtype is not None
            if n.args:
                key, byte = moved_place(b, n)
                self._windows.want(key, byte, b.dtype.bytes)
            else:
                walk, row, byte = walk_of(b, n.index)
                self._windows.want((walk, row), byte, b.dtype.bytes)

    # ------------------------------------------------------------------ units

    def _anywhere(self, b: Buffer) -> bool:
        """Whether a plane is read in words although its items lie at any place."""
        return self._shifted and b.kind == "plane" and b.access == "in"

    def _in_windows(self, b: Buffer) -> bool:
        """Whether rows of a plane are read as windows of words."""
        return self._anywhere(b) and self._words and b.dtype is not None and b.dtype.bytes < 4

    def _unit(self, b: Buffer, walk: Walk, rows: dict[int, set[int]]) -> int:
        assert b.dtype is not None
        if not self._words or self._anywhere(b):
            return b.dtype.bytes
        return load_unit(b, walk, rows)

    def _write_unit(self, w: Writes) -> int:
        assert w.buffer.dtype is not None
        return w.unit(self._stage) if self._words else w.buffer.dtype.bytes

    # ------------------------------------------------------------------ loads

    def read(self, n: Node, values: Values) -> str:
        """The expression of a LOAD; what it needs is declared before."""
        b = self._kernel.buffer(n.attr[0])
        if b.kind == "temp":
            return self._shared.read(b, n, values)
        assert b.dtype is not None
        kind, size = values.kind(n), b.dtype.bytes
        if n.args and self._in_windows(b):
            word, shift = self._moved_word(b, n, values)
            return field_of(word, b.dtype, shift, kind)
        if n.args:
            place = self._pointers.moved(b, n.index, n.args, size, values)
            self._flush(values)
            return f"{kind}({self._views.of(b, size).name}[{place}])"
        walk, row, byte = walk_of(b, n.index)
        if not self._in_words(b, walk) and self._units[walk] == size:
            place = self._pointers.at(b, walk, size, row, byte)
            self._flush(values)
            return f"{kind}({self._views.of(b, size).name}[{place}])"
        word, shift = self._word_at(b, walk, row, byte, values)
        return field_of(word, b.dtype, shift, kind)

    def _in_words(self, b: Buffer, walk: Walk) -> bool:
        """Whether a walk reads words, of which elements are fields."""
        assert b.dtype is not None
        return b.dtype.bytes < 4 and (self._in_windows(b) or self._units[walk] >= 4)

    def _word_at(
        self, b: Buffer, walk: Walk, row: int, byte: int, values: Values
    ) -> tuple[str, int]:
        """The word, or half, that holds a byte, and at which bit."""
        if self._in_windows(b):
            return self._window_word(b, walk, row, byte, values)
        unit = self._units[walk]
        start = byte // unit * unit
        name = self._load(b, walk, row, start, unit, values)
        at = byte - start
        return word_of(unit, name, at // 4), 8 * (at % 4)

    def is_pair(self, n: Node) -> bool:
        """Whether a value is a byte and, 16 bits higher, the second one behind it, in words."""
        if n.op is not Op.ADD or n.args[1].op is not Op.MUL:
            return False
        low, (high, by) = n.args[0], n.args[1].args
        if by.op is not Op.CONST or by.value != 1 << 16:
            return False
        if low.op is not Op.LOAD or high.op is not Op.LOAD or low.args or high.args:
            return False
        b = self._kernel.buffer(low.attr[0])
        if high.attr[0] != b.name or b.kind == "temp" or b.dtype != u8:
            return False
        (walk, row, byte), other = walk_of(b, low.index), walk_of(b, high.index)
        return other == (walk, row, byte + 2) and self._in_words(b, walk)

    def read_pair(self, n: Node, values: Values) -> str:
        """Such a value."""
        b = self._kernel.buffer(n.args[0].attr[0])
        walk, row, byte = walk_of(b, n.args[0].index)
        word, shift = self._word_at(b, walk, row, byte, values)
        if shift >= 16:
            after, _ = self._word_at(b, walk, row, byte + 2, values)
            word, shift = self._between(b, word, after, values), shift - 16
        return f"int({f'{word} >> {shift}' if shift else word} & 0xff00ffu)"

    def _between(self, b: Buffer, word: str, after: str, values: Values) -> str:
        """A local that holds the last half of a word and the first of the next."""
        if (word, after) not in self._mid:
            name = self._names.fresh(f"{b.name}_between")
            values.lines.append(f"const uint {name} = {word} >> 16 | {after} << 16;")
            self._mid[word, after] = name
        return self._mid[word, after]

    def _load(self, b: Buffer, walk: Walk, row: int, start: int, unit: int, values: Values) -> str:
        """A local that holds a unit."""
        key = (walk, row, start)
        if key not in self._loaded:
            self._views.need(b, unit)
            view = self._views.of(b, unit)
            place = self._pointers.at(b, walk, unit, row, start)
            self._flush(values)
            type_ = view.type if unit >= 4 else "uint"
            text = f"{view.name}[{place}]"
            name = self._names.fresh(f"{b.name}_word" if unit >= 4 else f"{b.name}_half")
            values.lines.append(
                f"const {type_} {name} = {text if type_ == view.type else f'uint({text})'};"
            )
            self._loaded[key] = name
        return self._loaded[key]

    def _window_word(
        self, b: Buffer, walk: Walk, row: int, byte: int, values: Values
    ) -> tuple[str, int]:
        """A local that holds a byte of a row's window, which begins anywhere, and at which bit."""
        assert b.dtype is not None
        key, size = (walk, row), b.dtype.bytes
        if not self._windows.is_read(key):
            low = self._windows.low(key)
            place = self._pointers.at(b, walk, size, row, low)
            self._read_window(b, key, place, values)
        return self._windows.word(key, byte)

    def _moved_word(self, b: Buffer, n: Node, values: Values) -> tuple[str, int]:
        """The same of a window at a place known only at run time."""
        assert b.dtype is not None
        key, byte = moved_place(b, n)
        size = b.dtype.bytes
        if not self._windows.is_read(key):
            *rows, col = n.index
            first = replace(col, const=self._windows.low(key) // size)
            place = self._pointers.moved(b, (*rows, first), n.args, size, values)
            self._read_window(b, key, place, values)
        return self._windows.word(key, byte)

    def _read_window(self, b: Buffer, key: Hashable, place: str, values: Values) -> None:
        self._flush(values)
        self._windows.read(b, key, place)
        values.lines += self._windows.lines
        self._windows.lines = []

    def _flush(self, values: Values) -> None:
        """Declares the pointers that are new."""
        values.lines += self._pointers.lines
        self._pointers.lines = []

    # ------------------------------------------------------------------ stores

    def stores(self, values: Values, conditions: list[str]) -> list[str]:
        """All stores, those into buffers under conditions of which the first is that there is an
        item at all."""
        lines = self._shared.stores(values, conditions[1:])
        pieces: list[tuple[str, list[str]]] = []
        values.lines, kept = [], values.lines
        for w in self._writes:
            pieces += self._written(w, values)
        lines += values.lines
        values.lines = kept
        merged: dict[str, list[str]] = {}
        for condition, body in pieces:
            merged.setdefault(condition, []).extend(body)
        for condition, body in merged.items():
            lines += under([*conditions, *([condition] if condition else [])], body)
        return lines

    def _written(self, w: Writes, values: Values) -> list[tuple[str, list[str]]]:
        """Condition and statements of what is stored on a walk."""
        found = []
        unit = self._write_units[w.walk]
        for row in sorted(w.stores):
            for at in w.units(row, unit):
                found += self._unit_written(w, row, at, unit, values)
        return found

    def _unit_written(
        self, w: Writes, row: int, at: int, unit: int, values: Values
    ) -> list[tuple[str, list[str]]]:
        b, own = w.buffer, w.stores[row]
        assert b.dtype is not None
        size = b.dtype.bytes
        if unit == size:
            one = own[at]
            return [(self._mask(one, values), [self._element(b, w.walk, row, at, one, values)])]
        stores = [own.get(byte) for byte in elements(b, unit, at)]
        place = self._pointers.at(b, w.walk, unit, row, at)
        self._flush(values)
        self._views.need(b, unit)
        view = self._views.of(b, unit, write=True)
        words = [
            self._word(w, row, at, unit, n, stores[n * 4 // size : (n + 1) * 4 // size], values)
            for n in range(max(unit // 4, 1))
        ]
        text = words[0] if unit <= 4 else f"{view.type}({', '.join(words)})"
        whole = f"{view.name}[{place}] = {text if unit >= 4 else f'{view.type}({text})'};"
        masks = list(dict.fromkeys(s.mask for s in stores if s is not None))
        if len(masks) == 1:
            return [("" if masks[0] is None else values.condition(masks[0]), [whole])]
        needed = [values.condition(m) for m in strongest([m for m in masks if m is not None])]
        single = []
        for byte, s in zip(elements(b, unit, at), stores, strict=True):
            assert s is not None  # a unit under several conditions is stored whole
            element = self._element(b, w.walk, row, byte, s, values)
            single += under([m] if (m := self._mask(s, values)) else [], [element])
        return [("", [f"if ({' && '.join(needed)}) {{", whole, "} else {",
                      *single, "}"])]  # fmt: skip

    @staticmethod
    def _mask(s: Store, values: Values) -> str:
        return "" if s.mask is None else values.condition(s.mask)

    def _element(self, b: Buffer, walk: Walk, row: int, byte: int, s: Store, values: Values) -> str:
        assert b.dtype is not None
        place = self._pointers.at(b, walk, b.dtype.bytes, row, byte)
        self._flush(values)
        view = self._views.of(b, b.dtype.bytes, write=True)
        return f"{view.name}[{place}] = {view.type}({values.text(s.value)});"

    def _word(
        self, w: Writes, row: int, at: int, unit: int, number: int, stores: list[Store | None],
        values: Values,
    ) -> str:  # fmt: skip
        """A word of a unit, made of the elements stored and, for the others, what was there."""
        b = w.buffer
        assert b.dtype is not None
        parts, kept, less = list[str](), 0, 0
        for n, s in enumerate(stores):
            shift = 8 * n * b.dtype.bytes
            if s is None:
                kept |= ((1 << b.dtype.bits) - 1) << shift
            elif _lifted(s.value) and b.dtype.bits < 32 and not b.dtype.signed:
                x, k = s.value.args
                less += k.value << shift
                text = f"uint({values.text(x)})"
                parts.append(f"{text} << {shift}" if shift else text)
            else:
                parts.append(packed(s.value, b.dtype, shift, values, last=n == len(stores) - 1))
        if kept:
            old = self._old(b, w.walk, row, at, unit, number, values)
            parts.insert(0, old if not parts else f"{old} & 0x{kept:x}u")
        return summed(parts, less)

    def _old(
        self, b: Buffer, walk: Walk, row: int, at: int, unit: int, number: int, values: Values
    ) -> str:
        """What a word that is stored held before."""
        by = self._units.get(walk, unit)
        if by < 4:
            by = unit
        byte = at + 4 * number
        start = byte // by * by
        name = self._load(b, walk, row, start, by, values)
        return word_of(by, name, (byte - start) // 4)


def _lifted(value: Node) -> bool:
    """Whether a value is another one less a number."""
    return value.op is Op.SUB and value.args[1].op is Op.CONST


def strongest(masks: list[Node]) -> list[Node]:
    """Conditions that hold only if all of them do: of a > x + 1 and a > x + 2, the latter."""
    found: dict[object, tuple[int, Node]] = {}
    for m in masks:
        key: object = m
        more = 0
        if m.op is Op.GT:
            x = m.args[1]
            if x.op is Op.ADD and x.args[1].op is Op.CONST:
                x, more = x.args[0], x.args[1].value
            key = (m.args[0], x)
        if key not in found or found[key][0] < more:
            found[key] = (more, m)
    return [m for _, m in found.values()]
