# SPDX-License-Identifier: BSD-2-Clause
"""The integer semantics, operation by operation, against values worked out by hand."""

import numpy as np
import pytest

from daedalus.dsl.ir import (
    BOOLEAN,
    DTYPES,
    Affine,
    DType,
    Op,
    evaluate,
    i8,
    i16,
    i32,
    smallest_dtype,
    u8,
    u16,
    u32,
)  # fmt: skip

BIG = 2**31 - 1
LOW = -(2**31)

# op, attributes, arguments, result
CASES = [
    (Op.ADD, (), (0, 0), 0), (Op.ADD, (), (-1, 1), 0), (Op.ADD, (), (BIG, 1), 2**31),
    (Op.ADD, (), (LOW, -1), -(2**31) - 1),
    (Op.SUB, (), (0, -1), 1), (Op.SUB, (), (LOW, BIG), -(2**32) + 1),
    (Op.MUL, (), (-1, LOW), 2**31), (Op.MUL, (), (0, BIG), 0), (Op.MUL, (), (BIG, BIG), BIG * BIG),
    (Op.SHR, (3,), (7,), 0), (Op.SHR, (3,), (8,), 1), (Op.SHR, (3,), (-1,), -1),
    (Op.SHR, (3,), (-8,), -1), (Op.SHR, (3,), (-9,), -2), (Op.SHR, (0,), (-5,), -5),
    (Op.SHR, (31,), (LOW,), -1), (Op.SHR, (31,), (BIG,), 0),
    # Rounding is half up, also below zero: -1/2 -> 0, -3/2 -> -1, 1/2 -> 1.
    (Op.RSHR, (1,), (1,), 1), (Op.RSHR, (1,), (-1,), 0), (Op.RSHR, (1,), (-2,), -1),
    (Op.RSHR, (1,), (-3,), -1), (Op.RSHR, (1,), (3,), 2), (Op.RSHR, (2,), (-6,), -1),
    (Op.RSHR, (2,), (-7,), -2), (Op.RSHR, (2,), (6,), 2), (Op.RSHR, (2,), (5,), 1),
    (Op.RSHR, (14,), (8191,), 0), (Op.RSHR, (14,), (8192,), 1), (Op.RSHR, (14,), (-8192,), 0),
    (Op.RSHR, (14,), (-8193,), -1), (Op.RSHR, (31,), (BIG,), 1), (Op.RSHR, (31,), (LOW,), -1),
    (Op.SHRV, (), (-9, 3), -2), (Op.SHRV, (), (9, 0), 9), (Op.SHRV, (), (LOW, 31), -1),
    (Op.SHRV, (), (9, -3), 9), (Op.SHRV, (), (LOW, 40), -1), (Op.SHRV, (), (BIG, 40), 0),
    (Op.SHLV, (), (-9, 3), -72), (Op.SHLV, (), (9, 0), 9), (Op.SHLV, (), (1, 31), 2**31),
    (Op.SHLV, (), (9, -3), 9), (Op.SHLV, (), (-1, 40), LOW), (Op.SHLV, (), (BIG, 2), BIG * 4),
    (Op.BITAND, (), (12, 10), 8), (Op.BITAND, (), (-4, 7), 4), (Op.BITAND, (), (-4, -6), -8),
    (Op.BITAND, (), (LOW, BIG), 0), (Op.BITAND, (), (2**32 - 1, -2), 2**32 - 2),
    (Op.BITOR, (), (12, 10), 14), (Op.BITOR, (), (-8, 3), -5), (Op.BITOR, (), (LOW, BIG), -1),
    (Op.BITXOR, (), (12, 10), 6), (Op.BITXOR, (), (-1, 5), -6), (Op.BITXOR, (), (-1, LOW), BIG),
    (Op.MIN, (), (-1, 0), -1), (Op.MIN, (), (LOW, BIG), LOW), (Op.MAX, (), (-1, 0), 0),
    (Op.MAX, (), (LOW, BIG), BIG), (Op.MIN, (), (3, 3), 3),
    (Op.ABS, (), (-1,), 1), (Op.ABS, (), (0,), 0), (Op.ABS, (), (LOW,), 2**31),
    (Op.ABSDIFF, (), (3, 5), 2), (Op.ABSDIFF, (), (5, 3), 2), (Op.ABSDIFF, (), (-128, 127), 255),
    (Op.ABSDIFF, (), (LOW, BIG), 2**32 - 1),
    (Op.CLIP, (0, 255), (-1,), 0), (Op.CLIP, (0, 255), (256,), 255), (Op.CLIP, (0, 255), (7,), 7),
    (Op.CLIP, (-128, 127), (-129,), -128), (Op.CLIP, (5, 5), (LOW,), 5),
    (Op.WRAP, (u8,), (256,), 0), (Op.WRAP, (u8,), (-1,), 255), (Op.WRAP, (u8,), (255,), 255),
    (Op.WRAP, (i8,), (128,), -128), (Op.WRAP, (i8,), (-129,), 127), (Op.WRAP, (i8,), (-128,), -128),
    (Op.WRAP, (i16,), (32768,), -32768), (Op.WRAP, (u16,), (-32768,), 32768),
    (Op.WRAP, (i32,), (2**31,), LOW), (Op.WRAP, (u32,), (-1,), 2**32 - 1),
    (Op.ASSUME, ("t", 0, 1), (7,), 7),
    (Op.SELECT, (), (True, 4, 5), 4), (Op.SELECT, (), (False, 4, 5), 5),
    (Op.LE, (), (-1, -1), True), (Op.LE, (), (0, -1), False), (Op.LE, (), (LOW, BIG), True),
    (Op.GT, (), (-1, -1), False), (Op.GT, (), (0, -1), True),
    (Op.AND, (), (True, False), False), (Op.AND, (), (True, True), True),
    (Op.OR, (), (False, False), False), (Op.OR, (), (True, False), True),
    (Op.NOT, (), (True,), False), (Op.NOT, (), (False,), True),
]  # fmt: skip
IN_CONTEXT = {Op.CONST, Op.PARAM, Op.LANE, Op.LOAD, Op.TABLE, Op.DOT}


@pytest.mark.parametrize(("op", "attr", "args", "want"), CASES)
def test_value(op: Op, attr: tuple, args: tuple, want: object) -> None:
    got = evaluate(op, attr, args)
    assert got == want
    assert isinstance(got, bool | np.bool_ | np.ndarray) == (op in BOOLEAN | {Op.SELECT})


@pytest.mark.parametrize(("op", "attr", "args", "want"), CASES)
def test_arrays_give_the_same(op: Op, attr: tuple, args: tuple, want: object) -> None:
    arrays = tuple(np.array([[a, a]]) for a in args)
    got = evaluate(op, attr, arrays)
    assert got.shape == (1, 2) and (got == want).all()


def test_every_operation_is_covered() -> None:
    assert {c[0] for c in CASES} == set(Op) - IN_CONTEXT


@pytest.mark.parametrize("op", sorted(IN_CONTEXT))
def test_operations_that_need_a_context(op: Op) -> None:
    with pytest.raises(AssertionError, match="needs its context"):
        evaluate(op, (), ())


def test_booleans_are_the_operations_that_give_them() -> None:
    assert {Op.LE, Op.GT, Op.AND, Op.OR, Op.NOT} == BOOLEAN


@pytest.mark.parametrize("t", DTYPES, ids=str)
def test_element_types(t: DType) -> None:
    assert t.hi - t.lo + 1 == 2**t.bits and (t.lo < 0) == t.signed
    assert t.bytes * 8 == t.bits == int(t.name[1:])
    assert t.c == f"{'' if t.signed else 'u'}int{t.bits}_t"
    assert smallest_dtype(t.lo, t.hi) == t
    assert smallest_dtype(t.lo - 1, t.hi + 1) not in (t, *(s for s in DTYPES if s.bits < t.bits))


@pytest.mark.parametrize(
    ("lo", "hi", "want"),
    [(0, 0, i8), (0, 127, i8), (0, 128, u8), (-1, 128, i16), (0, 65535, u16), (-1, 65535, i32),
     (0, 2**32 - 1, u32), (-1, 2**32 - 1, None), (0, 2**32, None)],
)  # fmt: skip
def test_smallest_type(lo: int, hi: int, want: DType | None) -> None:
    assert smallest_dtype(lo, hi) == want


def test_affine_indices() -> None:
    a = Affine(3, (("y", 8), ("x", -1)))
    assert a.at({"y": 2, "x": 5}) == 14
    assert a.bounds({"y": 4, "x": 8}) == (3 - 7, 3 + 24)
    assert (a.coefficient("x"), a.coefficient("z")) == (-1, 0)
    assert str(a) == "8*y - 1*x + 3"
    assert str(Affine(-2, (("x", 1),))) == "x - 2" and str(Affine(0)) == "0"
