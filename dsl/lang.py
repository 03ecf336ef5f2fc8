# SPDX-License-Identifier: BSD-2-Clause
"""The vocabulary of specs beyond Python's operators; plain functions over traced values.

`min` and `max` deliberately replace Python's: on traced values the built-ins would need a truth
value while tracing.
"""

from collections.abc import Iterable, Sequence

from daedalus.dsl import hints
from daedalus.dsl.decoders import entry, part
from daedalus.dsl.errors import TraceError
from daedalus.dsl.ir import DType, Op, i8, i16, i32, u8, u16, u32
from daedalus.dsl.source import here
from daedalus.dsl.spec import kernel
from daedalus.dsl.trace import KernelBuilder
from daedalus.dsl.values import BufferRef, LaneIndex, Scalar, TableRef, Tracer, Value, is_integer

_PLAIN = "what is known while tracing is computed with Python's own (import builtins for min, max)"

__all__ = [
    "BufferRef", "KernelBuilder", "LaneIndex", "Value", "absdiff", "all_le", "any_gt", "bit",
    "clip", "clip_s8", "clip_u8", "dot", "entry",
    "i8", "i16", "i32", "kernel", "low_bits", "max", "min", "part", "rotate", "round_shift",
    "select", "u8", "u16", "u32", "wrap",
]  # fmt: skip


def _builder(*xs: object) -> Tracer | None:
    return next((x._k for x in xs if isinstance(x, Value)), None)


def _binary(op: Op, a: Scalar, b: Scalar) -> Value:
    k = _builder(a, b)
    if k is None:
        raise TraceError(
            "operand", f"{op} of {_kinds(a, b)}: none is a traced value", here(), hint=_PLAIN
        )
    return k._op(op, a, b)


def _traced(what: str, x: object) -> Value:
    if not isinstance(x, Value):
        raise TraceError(
            "operand", f"{what} takes a traced value, not {_kinds(x)}", here(), hint=_PLAIN
        )
    return x


def _kinds(*xs: object) -> str:
    return " and ".join(type(x).__name__ for x in xs)


def min(a: Scalar, b: Scalar) -> Value:
    """The smaller of two values."""
    return _binary(Op.MIN, a, b)


def max(a: Scalar, b: Scalar) -> Value:
    """The larger of two values."""
    return _binary(Op.MAX, a, b)


def absdiff(a: Scalar, b: Scalar) -> Value:
    """abs(a - b)."""
    return _binary(Op.ABSDIFF, a, b)


def clip(x: Value, lo: int, hi: int) -> Value:
    """x limited to [lo, hi]."""
    k = _traced("clip", x)._k
    if not (is_integer(lo) and is_integer(hi)):
        k._fail("operand", f"clip to {_kinds(lo, hi)}, not to integers", "use min(max(x, lo), hi)")
    if lo > hi:
        k._fail("operand", f"clip to [{lo}, {hi}], which is empty")
    return k._op(Op.CLIP, x, attr=(lo, hi))


def clip_u8(x: Value) -> Value:
    return clip(x, 0, 255)


def clip_s8(x: Value) -> Value:
    return clip(x, -128, 127)


def wrap(x: Value, dtype: DType) -> Value:
    """The member of dtype that is congruent to x modulo 2**bits."""
    k = _traced("wrap", x)._k
    k._element_type("wrap", dtype)
    return k._op(Op.WRAP, x, attr=(dtype,))


def low_bits(x: Value, n: int) -> Value:
    """The lowest n bits, as a number that is not negative: x modulo 2**n."""
    k = _traced("low_bits", x)._k
    if not is_integer(n) or not 1 <= n <= 32:
        k._fail("operand", f"low_bits takes 1 to 32 bits, not {n!r}", "a width is known here")
    return k._op(Op.WRAP, x, attr=(DType(f"u{n}", n, False),))


def bit(x: Value, n: Scalar) -> Value:
    """Bit n of x, 0 or 1; of a negative x that of its two's complement."""
    _traced("bit", x)
    return low_bits(x >> n, 1)


def round_shift(x: Value, n: int) -> Value:
    """(x + 2**(n-1)) >> n: division by 2**n, halves rounded up; x itself for n = 0."""
    k = _traced("round_shift", x)._k
    return k._op(Op.RSHR, x, attr=(n,)) if k._shift(n) else x


def select(mask: Value, a: Scalar, b: Scalar) -> Value:
    """a where mask holds, else b."""
    return _traced("select", mask)._k._op(Op.SELECT, mask, a, b)


def dot(table: TableRef, row: Scalar, xs: Sequence[Value]) -> Value:
    """The sum of table[row][k] * xs[k]."""
    if not isinstance(table, TableRef):
        raise TraceError("dot", f"{_kinds(table)} is not a table", here(), hint="use k.table(...)")
    k = table._k
    if table.decl.vector:
        k._fail("dot", f"table {table.decl.name} has no rows", "declare it as a list of lists")
    if len(xs) != len(table.decl.rows[0]):
        k._fail("dot", f"{len(xs)} values for rows of {len(table.decl.rows[0])}")
    return k._op(Op.DOT, row, *xs, attr=(table.decl.name,))


def rotate(a: Value, b: Value, cos: int, sin: int, bits: int) -> tuple[Value, Value]:
    """The plane rotation (a*cos - b*sin, a*sin + b*cos), both rounded by `bits`."""
    return (
        round_shift(a * cos - b * sin, bits),
        round_shift(a * sin + b * cos, bits),
    )


def all_le(xs: Iterable[Value], limit: Scalar) -> Value:
    """Every one of xs is at most limit."""
    masks = [x <= limit for x in xs]
    if not masks:
        raise TraceError("operand", "all_le of no values", here())
    out = masks[0]
    for m in masks[1:]:
        out = out & m
    return out


def any_gt(xs: Iterable[Value], limit: Scalar) -> Value:
    """At least one of xs exceeds limit."""
    masks = [x > limit for x in xs]
    if not masks:
        raise TraceError("operand", "any_gt of no values", here())
    out = masks[0]
    for m in masks[1:]:
        out = out | m
    return out


hints.learn({name: globals()[name] for name in __all__}, KernelBuilder)
