# SPDX-License-Identifier: BSD-2-Clause
"""Elements as fields of words: taken out, and put together."""

from collections.abc import Sequence

from daedalus.dsl.ir import DType
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.emitter import Emitter, amount
from daedalus.generator.targets.qpu.virtual import Value


def field_of(word: Value, t: DType, bit: int, e: Emitter, most: int = 255) -> Value:
    """An element of type `t` that lies in a word from a bit on, a multiple of its size.

    most  the largest value of an unsigned byte
    """
    if t.bits == 32:
        return word
    if t.bits == 16:
        return e.op("mov", word.unpacked(("i" if t.signed else "u") + ("h" if bit else "l")))
    if bit == 24 and not t.signed and e.dot_mode("uu"):
        return e.either(("shr", word, amount(24)), ("v8dot", word, 1 << 24))
    if bit == 24:
        return e.op("asr" if t.signed else "shr", word, amount(24))
    if t.signed:
        return e.op("asr", e.op("shl", word, amount(24 - bit)), amount(24))
    if not e.dot_mode("uu") and most > 127:
        return e.op("and", e.op("shr", word, bit) if bit else word, 255)
    pick = ("v8dot", word, 1 << bit)  # the other bytes times 0
    return e.either(("and", word, 255), pick) if bit == 0 else e.either(pick)


def variable_field(word: Value, t: DType, bit: Value, e: Emitter) -> Value:
    """The same where the bit is a value."""
    left = e.op("sub", e.value(32 - t.bits), bit)
    up = e.op("shl", word, left)
    return e.op("asr" if t.signed else "shr", up, amount(32 - t.bits))


def word_of(parts: Sequence[Argument], t: DType, e: Emitter) -> Value:
    """A word of its elements, the first in the lowest bits: of each the low bits count. Of two
    bytes, what such a word is made of."""
    if t.bits == 32:
        return e.value(parts[0])
    if t.bits == 16:
        return _packed("vpack", parts[0], parts[1], e)
    low = _packed("vpack", parts[0], parts[1], e)
    if len(parts) == 2:
        return low
    return _packed("v8pack", low, _packed("vpack", parts[2], parts[3], e), e)


def _packed(op: str, a: Argument, b: Argument, e: Emitter) -> Value:
    return e.op(op, e.value(a) if isinstance(b, int) else a, b)
