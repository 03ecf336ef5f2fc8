# SPDX-License-Identifier: BSD-2-Clause
"""Elements as fields of words: taken out, and put together, by the rules."""

from collections.abc import Sequence

from daedalus.dsl.ir import DType
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.expressions import made
from daedalus.generator.targets.qpu.field_rules import Field, field_rule, pack_rule
from daedalus.generator.targets.qpu.virtual import Value


def field_of(word: Value, t: DType, bit: int, e: Emitter, most: int = 255) -> Value:
    """An element of type `t` that lies in a word from a bit on, a multiple of its size.

    most  the largest value of an unsigned byte
    """
    f = Field(t, bit, most, e.dot_mode)
    return e.value(made(field_rule(f).makes(f), {"a": word}.__getitem__, e))


def variable_field(word: Value, t: DType, bit: Value, e: Emitter) -> Value:
    """The same where the bit is a value."""
    f = Field(t, None, t.hi, e.dot_mode)
    return e.value(made(field_rule(f).makes(f), {"a": word, "b": bit}.__getitem__, e))


def word_of(parts: Sequence[Argument], t: DType, e: Emitter) -> Value:
    """A word of its elements, the first in the lowest bits: of each the low bits count. Of two
    bytes, what such a word is made of."""
    one = pack_rule(1 if t.bits == 32 else 2 if t.bits == 16 else len(parts), t.bits)
    return e.value(made(one.makes, dict(zip("abcd", parts, strict=False)).__getitem__, e))
