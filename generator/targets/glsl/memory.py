# SPDX-License-Identifier: BSD-2-Clause
"""What a stage reads and writes, as text: elements, fields of words, windows that lie anywhere."""

from daedalus.dsl.ir import Buffer, Kernel, Node, Op, Stage, Store, u8
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.glsl.fields import field_of, packed, summed, under
from daedalus.generator.targets.glsl.pointers import Bases, Pointers
from daedalus.generator.targets.glsl.shared import StageTemps
from daedalus.generator.targets.glsl.shifted import Windows
from daedalus.generator.targets.glsl.values import Values
from daedalus.generator.targets.glsl.views import Views, word_of
from daedalus.generator.targets.gpu.plan import Field, Run, StagePlan, Unit
from daedalus.generator.targets.gpu.temps import TempLayouts


class StageMemory:
    """The memory of a stage, as it is planned."""

    def __init__(
        self, kernel: Kernel, stage: Stage, views: Views, bases: Bases, temps: TempLayouts,
        names: Names, *, words: bool, shifted: bool,
    ) -> None:  # fmt: skip
        self._kernel, self._views, self._names = kernel, views, names
        self._pointers = Pointers(bases, names)
        self._plan = StagePlan(kernel, stage, words=words, shifted=shifted)
        self._words: dict[Run, list[str]] = {}  # of what is read: the locals that hold it
        self._shared = StageTemps(kernel, stage, temps, names)
        self._mid: dict[tuple[str, str], str] = {}
        for walk, unit, row, _ in self._plan.wanted():
            self._pointers.want(walk, unit, row)

    # ------------------------------------------------------------------ loads

    def read(self, n: Node, values: Values) -> str:
        """The expression of a LOAD; what it needs is declared before."""
        b = self._kernel.buffer(n.attr[0])
        if b.kind == "temp":
            return self._shared.read(b, n, values)
        found, kind = self._plan.field(n), values.kind(n)
        if found.whole:
            size = found.run.size
            place = self._place(b, found.run, size, values)
            return f"{kind}({self._views.of(b, size).name}[{place}])"
        word, bit = self._word(b, found, values)
        return field_of(word, found.type, bit, kind)

    def _word(self, b: Buffer, f: Field, values: Values) -> tuple[str, int]:
        """The word, or half, that holds an element, and at which bit."""
        if f.run not in self._words:
            read = self._window if f.run.window else self._unit
            self._words[f.run] = read(b, f.run, values)
        return self._words[f.run][f.word], f.bit

    def is_pair(self, n: Node) -> bool:
        """Whether a value is a byte and, 16 bits higher, the second one behind it, in words."""
        if n.op is not Op.ADD or n.args[1].op is not Op.MUL:
            return False
        low, (high, by) = n.args[0], n.args[1].args
        if by.op is not Op.CONST or by.value != 1 << 16:
            return False
        x, y = self._plan.in_words(low), self._plan.in_words(high)
        if x is None or y is None or x.type != u8 or low.args or high.args:
            return False
        there = (x.run.walk, x.run.row, x.byte + 2)
        return (y.run.walk, y.run.row, y.byte) == there

    def read_pair(self, n: Node, values: Values) -> str:
        """Such a value."""
        low, high = (self._plan.field(x) for x in (n.args[0], n.args[1].args[0]))
        b = self._kernel.buffer(low.run.walk.buffer)
        word, shift = self._word(b, low, values)
        if shift >= 16:
            after, _ = self._word(b, high, values)
            word, shift = self._between(b, word, after, values), shift - 16
        return f"int({f'{word} >> {shift}' if shift else word} & 0xff00ffu)"

    def _between(self, b: Buffer, word: str, after: str, values: Values) -> str:
        """A local that holds the last half of a word and the first of the next."""
        if (word, after) not in self._mid:
            name = self._names.fresh(f"{b.name}_between")
            values.lines.append(f"const uint {name} = {word} >> 16 | {after} << 16;")
            self._mid[word, after] = name
        return self._mid[word, after]

    def _unit(self, b: Buffer, run: Run, values: Values) -> list[str]:
        """The words of a local that holds a unit."""
        unit = run.size
        self._views.need(b, unit)
        view = self._views.of(b, unit)
        place = self._place(b, run, unit, values)
        type_ = view.type if unit >= 4 else "uint"
        text = f"{view.name}[{place}]"
        name = self._names.fresh(f"{b.name}_word" if unit >= 4 else f"{b.name}_half")
        values.lines.append(
            f"const {type_} {name} = {text if type_ == view.type else f'uint({text})'};"
        )
        return [word_of(unit, name, k) for k in range(max(unit // 4, 1))]

    def _window(self, b: Buffer, run: Run, values: Values) -> list[str]:
        """Locals that hold a window."""
        assert b.dtype is not None
        place = self._place(b, run, b.dtype.bytes, values)
        return Windows(self._views, self._names, values.lines).read(b, place, run.size)

    def _place(self, b: Buffer, at: Run | Unit, unit: int, values: Values) -> str:
        """Where something begins, counted in units; declares the pointers that are new."""
        if isinstance(at, Run) and at.load is not None:
            place = self._pointers.moved(b, at.index(b), at.load.args, unit, values)
        else:
            place = self._pointers.at(b, at.walk, unit, at.row, at.begin)
        values.lines += self._pointers.lines
        self._pointers.lines = []
        return place

    # ------------------------------------------------------------------ stores

    def stores(self, values: Values, conditions: list[str]) -> list[str]:
        """All stores, those into buffers under conditions of which the first is that there is an
        item at all."""
        lines = self._shared.stores(values, conditions[1:])
        values.lines, kept = [], values.lines
        merged: dict[str, list[str]] = {}
        for u in self._plan.units:
            condition, body = self._stored(u, values)
            merged.setdefault(condition, []).extend(body)
        lines += values.lines
        values.lines = kept
        for condition, body in merged.items():
            lines += under([*conditions, *([condition] if condition else [])], body)
        return lines

    def _stored(self, u: Unit, values: Values) -> tuple[str, list[str]]:
        """Condition and statements of a unit that is stored."""
        b, (_, first) = u.buffer, u.own[0]
        assert b.dtype is not None
        if len(u.stores) == 1:
            return self._mask(first, values), [self._element(u, u.begin, first, values)]
        place = self._place(b, u, u.size, values)
        self._views.need(b, u.size)
        view = self._views.of(b, u.size, write=True)
        words = [self._made(u, n, values) for n in range(len(u.words))]
        text = words[0] if u.size <= 4 else f"{view.type}({', '.join(words)})"
        whole = f"{view.name}[{place}] = {text if u.size >= 4 else f'{view.type}({text})'};"
        if u.alike:
            return self._mask(first, values), [whole]
        needed = [values.condition(m) for m in u.masks]
        single = []
        for byte, s in u.own:  # a unit under several conditions is stored whole
            element = self._element(u, byte, s, values)
            single += under([m] if (m := self._mask(s, values)) else [], [element])
        return "", [f"if ({' && '.join(needed)}) {{", whole, "} else {", *single, "}"]

    @staticmethod
    def _mask(s: Store, values: Values) -> str:
        return "" if s.mask is None else values.condition(s.mask)

    def _element(self, u: Unit, byte: int, s: Store, values: Values) -> str:
        b = u.buffer
        assert b.dtype is not None
        size = b.dtype.bytes
        place = self._place(b, Run(u.walk, u.row, byte, size), size, values)
        view = self._views.of(b, size, write=True)
        return f"{view.name}[{place}] = {view.type}({values.text(s.value)});"

    def _made(self, u: Unit, number: int, values: Values) -> str:
        """A word of a unit, made of the elements stored and, for the others, what was there.

        What a hostile item computes may not fit its element: it does not reach those above that
        are kept.
        """
        t, stores = u.buffer.dtype, u.words[number]
        assert t is not None
        parts, kept, less = list[str](), 0, 0
        last_kept = max((n for n, s in enumerate(stores) if s is None), default=-1)
        for n, s in enumerate(stores):
            shift = t.bits * n
            if s is None:
                kept |= ((1 << t.bits) - 1) << shift
            elif n < last_kept and not values.certain(s.value):
                text = f"uint({values.text(s.value)}) & {(1 << t.bits) - 1}u"
                parts.append(f"({text}) << {shift}" if shift else text)
            elif _lifted(s.value) and t.bits < 32 and not t.signed:
                x, k = s.value.args
                less += k.value << shift
                text = f"uint({values.text(x)})"
                parts.append(f"{text} << {shift}" if shift else text)
            else:
                parts.append(packed(s.value, t, shift, values, last=n == len(stores) - 1))
        if kept:
            old, _ = self._word(u.buffer, self._plan.before(u, number * len(stores)), values)
            parts.insert(0, old if not parts else f"{old} & 0x{kept:x}u")
        return summed(parts, less)


def _lifted(value: Node) -> bool:
    """Whether a value is another one less a number."""
    return value.op is Op.SUB and value.args[1].op is Op.CONST
