# SPDX-License-Identifier: BSD-2-Clause
"""What an invocation reads of its item: words of the meta, gathered by the runtime, and its index.

The record is read in one lookup of one, two or four words, or several of four.
"""

from dataclasses import dataclass

from daedalus.dsl.ir import Kernel, Param
from daedalus.generator.targets.shell import meta_fields, used_buffers, used_params

INDEX = 0xFFFF  # DAEDALUS_RECORD_INDEX
_PARTS = ("x", "y", "z", "w")


@dataclass(frozen=True)
class Record:
    """The words of a record: numbers of words of the meta, or INDEX."""

    words: tuple[int, ...]

    @property
    def vector(self) -> int:
        """Words of a lookup: 1, 2 or 4."""
        return min(len(self.words), 4)

    @property
    def type(self) -> str:
        """What the buffer is an array of."""
        return {1: "uint", 2: "uvec2", 4: "uvec4"}[self.vector]

    def lines(self) -> list[str]:
        """Reads the record number `record`."""
        lookups = len(self.words) // self.vector
        if lookups == 1:
            return [f"const {self.type} r0 = records[record];"]
        return [
            f"const {self.type} r{n} = records[record * {lookups}u + {n}u];" for n in range(lookups)
        ]

    def word(self, number: int) -> str:
        """A word of the meta, or the index, as a uint."""
        lookup, part = divmod(self.words.index(number), self.vector)
        return f"r{lookup}" if self.vector == 1 else f"r{lookup}.{_PARTS[part]}"


def record(kernel: Kernel) -> Record:
    """The record that the program needs."""
    offsets = {f.name: f.offset for f in meta_fields(kernel)[0]}
    used = used_buffers(kernel)
    words = [offsets[f"{b.name}_off"] // 4 for b in used if b.kind == "plane"]
    for name in used_params(kernel):
        p = kernel.param(name)
        last = offsets[name] + p.dtype.bytes * p.count - 1
        words += range(offsets[name] // 4, last // 4 + 1)
    if any(b.kind == "block" for b in used):
        words.append(INDEX)
    words = list(dict.fromkeys(words)) or [0]
    size = len(words) if len(words) <= 2 else -(-len(words) // 4) * 4
    return Record((*words, *[words[-1]] * (size - len(words))))


def parameter(kernel: Kernel, p: Param, r: Record, element: int | str = 0) -> str:
    """A parameter as an int (a uint of 32 bits as a uint); of an array, an element.

    `element` is a number, or the text of an int within the array.
    """
    at = next(f.offset for f in meta_fields(kernel)[0] if f.name == p.name)
    if isinstance(element, int):
        at += element * p.dtype.bytes
        return _field(r.word(at // 4), p, 8 * (at % 4))
    size, bits = p.dtype.bytes, p.dtype.bits
    element = f"({element})" if " " in element else element
    if p.count * size <= 4:  # all of it fits one word, though it may lie in two
        word, down = r.word(at // 4), 8 * (at % 4)
        if at % 4 + p.count * size > 4:
            word = f"({word} >> {down} | {r.word(at // 4 + 1)} << {32 - down})"
        elif down:
            word = f"({word} >> {down})"
        by = f"{element} * {bits}"
    else:
        each = 4 // size  # elements a word
        last = at // 4 + (at % 4 + size * (p.count - 1)) // 4
        number = f"{element}" if at % 4 == 0 else f"({element} + {at % 4 // size})"
        word = r.word(at // 4)
        for n in range(at // 4 + 1, last + 1):
            word = f"({number} < {(n - at // 4) * each} ? {word} : {r.word(n)})"
        if bits == 32:
            return _field(word, p, 0)
        by = f"({number} & {each - 1}) * {bits}"
    if p.dtype.signed:
        return f"(int({word} << ({32 - bits} - {by})) >> {32 - bits})"
    return f"int({word} >> ({by}) & {p.dtype.hi}u)"


def _field(word: str, p: Param, shift: int) -> str:
    """Bits of a word from `shift` on."""
    t = p.dtype
    if t.bits == 32:
        return word if p.hi >= 2**31 else f"int({word})"
    left = 32 - t.bits - shift
    if t.signed:
        inner = f"(int({word}) << {left})" if left else f"int({word})"
        return f"({inner} >> {32 - t.bits})"
    if not left:
        return f"int({word} >> {shift})"
    return f"int({word} >> {shift} & {t.hi}u)" if shift else f"int({word} & {t.hi}u)"
