# SPDX-License-Identifier: BSD-2-Clause
"""Elements as fields of words, and statements under conditions."""

from daedalus.dsl.ir import DType, Node, Op
from daedalus.generator.targets.glsl.values import Values


def under(conditions: list[str], lines: list[str]) -> list[str]:
    """Statements where all of some conditions hold."""
    return [f"if ({' && '.join(conditions)}) {{", *lines, "}"] if conditions else lines


def summed(parts: list[str], less: int = 0) -> str:
    """A word of its parts, which do not overlap but for `less`, what is too much of them together.

    Sums, not unions: V3D has two units that add, and one that joins bits.
    """
    text = " + ".join(f"({p})" if " " in p else p for p in parts)
    return f"{text} - 0x{less & 0xFFFFFFFF:x}u" if less else text


def field_of(word: str, t: DType, shift: int, kind: str) -> str:
    """An element that lies in a word from a bit on."""
    if t.bits == 32:
        return f"{kind}({word})"
    left = 32 - t.bits - shift
    if t.signed:
        moved = f"int({word} << {left})" if left else f"int({word})"
        return f"({moved} >> {32 - t.bits})"
    if not left:
        return f"{kind}({word} >> {shift})"
    return f"{kind}({word} >> {shift} & {t.hi}u)" if shift else f"{kind}({word} & {t.hi}u)"


def packed(value: Node, t: DType, shift: int, values: Values, *, last: bool) -> str:
    """A value as bits of a word; the bits above it are its sign's, if it is the `last`."""
    if value.op is Op.CONST:
        bits = value.value if last else value.value & ((1 << t.bits) - 1)
        return f"0x{bits << shift & 0xFFFFFFFF:x}u"
    text = f"uint({values.text(value)})"
    if t.signed and not last and t.bits < 32:
        text = f"({text} & {(1 << t.bits) - 1}u)"
    return f"{text} << {shift}" if shift else text
