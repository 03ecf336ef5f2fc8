# SPDX-License-Identifier: BSD-2-Clause
"""The builder's canonical forms: few, and none that changes a value."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from daedalus.dsl.build import Builder, fix_lanes, rewrite_stage
from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import (
    BITWISE,
    Affine,
    DType,
    Node,
    Op,
    Stage,
    Store,
    Table,
    evaluate,
    i8,
    u8,
    walk,
)  # fmt: skip

AT = Loc("spec.py", 1)
TABLES = {
    "vec": Table("vec", u8, ((5,), (6,), (7,)), AT, vector=True),
    "taps": Table("taps", i8, ((0, 1, 0), (2, -3, 4)), AT),
}


class Build:
    """A builder with short names, and two values to build on."""

    def __init__(self) -> None:
        self.b = Builder(TABLES)
        self.x, self.y = self.leaf("x"), self.leaf("y")

    def leaf(self, name: str) -> Node:
        return self.b.make(Op.PARAM, (), (name,), AT, name)

    def c(self, value: int) -> Node:
        return self.b.const(value, AT)

    def __call__(self, op: Op, *args: Node, attr: tuple = ()) -> Node:
        return self.b.make(op, args, attr, AT)


@pytest.fixture
def build() -> Build:
    return Build()


def test_equal_values_are_one_node(build: Build) -> None:
    assert build(Op.ADD, build.x, build.y) is build(Op.ADD, build.x, build.y)
    assert build.c(3) is build.c(3)
    assert build(Op.SHR, build.x, attr=(1,)) is not build(Op.SHR, build.x, attr=(2,))
    assert build(Op.SUB, build.x, build.y) is not build(Op.SUB, build.y, build.x)


@pytest.mark.parametrize("op", [Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.ABSDIFF, *BITWISE])
def test_constants_stand_right(op: Op, build: Build) -> None:
    node = build(op, build.c(9), build.x)
    assert node.args == (build.x, build.c(9)) and node is build(op, build.x, build.c(9))


def test_constants_stay_left_where_order_matters(build: Build) -> None:
    assert build(Op.SUB, build.c(9), build.x).args == (build.c(9), build.x)


def _identities(build: Build) -> Iterator[tuple[Node, Node]]:
    x, zero = build.x, build.c(0)
    mask = build(Op.LE, x, build.y)
    yield build(Op.ADD, x, zero), x
    yield build(Op.ADD, zero, x), x
    yield build(Op.SUB, x, zero), x
    yield build(Op.SUB, x, x), zero
    yield build(Op.MUL, x, zero), zero
    yield build(Op.MUL, zero, x), zero
    yield build(Op.MUL, x, build.c(1)), x
    yield build(Op.SHR, x, attr=(0,)), x
    yield build(Op.MIN, x, x), x
    yield build(Op.MAX, x, x), x
    yield build(Op.ABSDIFF, x, x), zero
    yield build(Op.SHLV, x, build.c(3)), build(Op.MUL, x, build.c(8))
    yield build(Op.SHLV, x, build.c(-1)), x
    yield build(Op.SHLV, x, build.c(40)), build(Op.MUL, x, build.c(1 << 31))
    yield build(Op.BITAND, x, x), x
    yield build(Op.BITAND, x, zero), zero
    yield build(Op.BITAND, build.c(-1), x), x
    yield build(Op.BITAND, x, build.c(0x7F)), build(Op.WRAP, x, attr=(DType("u7", 7, False),))
    yield build(Op.BITAND, x, build.c(255)), build(Op.WRAP, x, attr=(u8,))
    yield build(Op.BITOR, x, x), x
    yield build(Op.BITOR, x, zero), x
    yield build(Op.BITOR, x, build.c(-1)), build.c(-1)
    yield build(Op.BITXOR, x, x), zero
    yield build(Op.BITXOR, x, zero), x
    yield build(Op.BITXOR, x, build.c(-1)), build(Op.SUB, build.c(-1), x)
    yield build(Op.SELECT, mask, x, x), x
    yield build(Op.AND, mask, mask), mask
    yield build(Op.OR, mask, mask), mask
    yield build(Op.NOT, mask), build(Op.GT, x, build.y)
    yield build(Op.NOT, build(Op.GT, x, build.y)), mask
    both = build(Op.AND, mask, build(Op.LE, x, zero))
    yield build(Op.NOT, build(Op.NOT, both)), both
    assumed = build(Op.ASSUME, x, attr=("t", 0, 1))
    yield build(Op.ASSUME, assumed, attr=("t", 0, 1)), assumed
    yield build(Op.ASSUME, zero, attr=("t", 0, 1)), zero


def test_trivial_forms_disappear(build: Build) -> None:
    for got, want in _identities(build):
        assert got is want


def test_nearly_trivial_forms_stay(build: Build) -> None:
    x = build.x
    assert build(Op.SUB, build.c(0), x).op is Op.SUB
    assert build(Op.SHR, x, attr=(1,)).op is Op.SHR
    assert build(Op.MUL, x, build.c(-1)).op is Op.MUL
    assert build(Op.BITAND, x, build.c(6)).op is Op.BITAND
    assert build(Op.BITAND, x, build.c((1 << 33) - 1)).op is Op.BITAND
    assert build(Op.BITOR, x, build.c(7)).op is Op.BITOR
    outer = build(Op.ASSUME, build(Op.ASSUME, x, attr=("t", 0, 1)), attr=("t", 0, 2))
    assert outer.op is Op.ASSUME and outer.attr == ("t", 0, 2)
    both = build(Op.AND, build(Op.LE, x, build.y), build(Op.LE, build.y, x))
    assert build(Op.NOT, both).op is Op.NOT


ATTRS = {Op.SHR: (2,), Op.RSHR: (2,), Op.CLIP: (-2, 2), Op.WRAP: (i8,)}
FOLDED = (
    [(op, 2) for op in (Op.ADD, Op.SUB, Op.MUL, Op.MIN, Op.MAX, Op.ABSDIFF, *BITWISE)]
    + [(Op.SHRV, 2), (Op.SHLV, 2)]
    + [(op, 1) for op in (Op.SHR, Op.RSHR, Op.ABS, Op.CLIP, Op.WRAP)]
)  # fmt: skip


@pytest.mark.parametrize(("op", "arity"), FOLDED)
def test_constants_fold_to_what_the_semantics_say(op: Op, arity: int, build: Build) -> None:
    for values in itertools.product((-200, -3, -1, 0, 1, 2, 7, 200), repeat=arity):
        node = build(op, *(build.c(v) for v in values), attr=ATTRS.get(op, ()))
        assert node.op is Op.CONST
        assert node.value == evaluate(op, ATTRS.get(op, ()), values)


def test_known_lookups_fold_and_clamp(build: Build) -> None:
    look = lambda *at: build(Op.TABLE, *(build.c(v) for v in at), attr=(name,))  # noqa: E731
    name = "vec"
    assert [look(v).value for v in (-1, 0, 2, 3)] == [5, 5, 7, 7]
    name = "taps"
    assert look(1, 1).value == -3 and look(9, 9).value == 4 and look(0, -5).value == 0
    assert build(Op.TABLE, build.c(1), build.x, attr=("taps",)).op is Op.TABLE
    assert build(Op.TABLE, build.x, attr=("vec",)).op is Op.TABLE


def test_dot_with_a_known_row_is_its_sum(build: Build) -> None:
    z = build.leaf("z")
    values = {"x": 10, "y": 100, "z": 1000}
    assert build(Op.DOT, build.c(0), build.x, build.y, z, attr=("taps",)) is build.y
    assert build(Op.DOT, build.x, build.x, build.y, z, attr=("taps",)).op is Op.DOT
    node = build(Op.DOT, build.c(1), build.x, build.y, z, attr=("taps",))
    got: dict[Node, int] = {}
    for n in walk([node]):
        if n.op is Op.PARAM:
            got[n] = values[n.attr[0]]
        elif n.op is Op.CONST:
            got[n] = n.value
        else:
            got[n] = evaluate(n.op, n.attr, tuple(got[a] for a in n.args))
    assert got[node] == 2 * 10 - 3 * 100 + 4 * 1000


def test_creation_order_is_kept(build: Build) -> None:
    a = build(Op.ADD, build.x, build.y)
    b = build(Op.SUB, a, build.x)
    assert build.x.seq < build.y.seq < a.seq < b.seq


def test_a_stage_builds_on_what_is_shared(build: Build) -> None:
    inner = Builder(TABLES, build.b)
    assert inner.make(Op.PARAM, (), ("x",), AT) is build.x
    fresh = inner.make(Op.ADD, (build.x, build.y), (), AT)
    assert fresh is not build(Op.ADD, build.x, build.y)


def test_rewrite_keeps_or_changes(build: Build) -> None:
    total = build(Op.ADD, build.x, build.c(4))
    mask = build(Op.LE, build.x, build.y)
    stage = Stage((("i", 2),), (Store("b", (Affine(0, (("i", 1),)),), total, mask, AT),), AT, mask)
    same = rewrite_stage(stage, Builder(TABLES), lambda n, a: None)
    assert [n.op for n in same.nodes()] == [n.op for n in stage.nodes()]
    assert same.guard is same.stores[0].mask and not set(same.nodes()) & set(stage.nodes())
    b = Builder(TABLES)
    zeroed = rewrite_stage(stage, b, lambda n, a: b.const(0, AT) if n.op is Op.PARAM else None)
    assert zeroed.stores[0].value.value == 4


def test_fix_lanes() -> None:
    index = (Affine(1, (("y", 3), ("x", 1))), Affine(0, (("x", 2),)))
    assert fix_lanes(index, {"y": 5}) == (Affine(16, (("x", 1),)), Affine(0, (("x", 2),)))
    assert fix_lanes(index, {"y": 0, "x": 1}) == (Affine(2), Affine(2))


def test_stage_grid_runs_last_axis_fastest() -> None:
    stage = Stage((("y", 2), ("x", 3)), (), AT)
    assert stage.lanes == 6
    assert np.array_equal(stage.grid()["y"], [0, 0, 0, 1, 1, 1])
    assert np.array_equal(stage.grid()["x"], [0, 1, 2, 0, 1, 2])
