# SPDX-License-Identifier: BSD-2-Clause
"""What a stage reads and writes of temps in shared memory, as text."""

from daedalus.dsl.ir import Affine, Buffer, Kernel, Node, Stage, Store
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.glsl.fields import field_of, packed, summed, under
from daedalus.generator.targets.glsl.values import Values
from daedalus.generator.targets.gpu.temps import Layout, TempLayouts


class StageTemps:
    """The temps of a stage."""

    def __init__(self, kernel: Kernel, stage: Stage, temps: TempLayouts, names: Names) -> None:
        self._kernel, self._stage, self._temps, self._names = kernel, stage, temps, names
        self._words: dict[str, str] = {}  # word -> the local that holds it

    def read(self, t: Buffer, n: Node, values: Values) -> str:
        """An element of a temp."""
        at, number = self._temps.place(t, n.index)
        layout, text = self._temps.of(t), self._word(t, at)
        for k, a in enumerate(n.args):
            text = text.replace(f"#{k}", values.operand(a, "int"))
        if layout.each == 1:
            lo, hi = values.hostile.of(n).lo, values.hostile.of(n).hi
            if values.decides_place(n) and hi - lo < (1 << 32) - 1:
                # A word holds more than the element's type, which places were shown to be in.
                return f"clamp({text}, {lo}, {hi})"
            return text
        if text not in self._words:
            self._words[text] = self._names.fresh(f"{t.name}_word")
            values.lines.append(f"const uint {self._words[text]} = {text};")
        word = self._words[text]
        if _carries(layout):
            low = f"{word}_low"
            if low not in self._words:
                self._words[low] = self._names.fresh(low)
                values.lines.append(f"const int {self._words[low]} = int({word} << 16) >> 16;")
            low = self._words[low]
            return f"((int({word}) - {low}) >> 16)" if number else low
        return field_of(word, layout.dtype, layout.dtype.bits * number, values.kind(n))

    def _word(self, t: Buffer, at: Affine) -> str:
        """A word of a temp."""
        place = self._temps.places[t.name]
        return f"{place}[{place}_at + {at}]".replace("+ -", "- ").replace(" + 0]", "]")

    def stores(self, values: Values, conditions: list[str]) -> list[str]:
        """The stores into temps: of elements, or of words that are made of several."""
        lines: list[str] = []
        words: dict[tuple[str, str], dict[int, Store]] = {}
        for s in self._stage.stores:
            t = self._kernel.buffer(s.buffer)
            if t.kind != "temp":
                continue
            at, number = self._temps.place(t, s.index)
            word = self._word(t, at)
            if self._temps.of(t).each > 1:
                words.setdefault((t.name, word), {})[number] = s
                continue
            mask = [] if s.mask is None else [values.condition(s.mask)]
            value = values.operand(s.value, "int")
            atomic = f"atomic{s.combine.capitalize()}({word}, {value});"
            line = atomic if s.combine else f"{word} = {value};"
            lines += under([*conditions, *mask], [line])
        for (name, word), stores in words.items():
            layout = self._temps.of(self._kernel.buffer(name))
            bits, last = layout.dtype.bits, layout.each - 1
            parts = [
                packed(
                    stores[k].value, layout.dtype, bits * k, values,
                    last=k == last or _carries(layout),
                )
                for k in sorted(stores)
            ]  # fmt: skip
            lines += under(conditions, [f"{word} = {summed(parts)};"])
        return lines


def _carries(layout: Layout) -> bool:
    """Whether a word is low + 2**16 * high: the lower element's sign is taken from the upper one,
    and given back when they are told apart. Cheaper than to cut the sign off."""
    return layout.each == 2 and layout.dtype.signed
