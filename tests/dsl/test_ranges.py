# SPDX-License-Identifier: BSD-2-Clause
"""Intervals: every value that random conformant inputs lead to lies in its node's interval."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_programs import accepted_kernels, random_items
from spec_support import kernel_of, spec_text

from daedalus.dsl import interp, vectors
from daedalus.dsl.build import Builder
from daedalus.dsl.errors import Loc
from daedalus.dsl.interp import Items
from daedalus.dsl.ir import (
    BITWISE,
    DTYPES,
    Affine,
    Buffer,
    Kernel,
    Node,
    Op,
    Param,
    Stage,
    Store,
    evaluate,
    i32,
)  # fmt: skip
from daedalus.dsl.ranges import Interval, Ranges, _amounts, table_rows
from daedalus.generator.compile.registry import load

AT = Loc("spec.py", 1)
KERNELS = [e.kernel for e in load()]
RANDOM = accepted_kernels(30)


def values_of(kernel: Kernel, items: Items) -> dict[Node, np.ndarray]:
    """Every node's values on all items and lanes for which its stage runs."""
    seen: dict[Node, list[np.ndarray]] = {}
    original = interp.StageRun.__init__

    def watch(self: interp.StageRun, *args: object, brief: bool) -> None:
        original(self, *args)  # type: ignore[arg-type]
        on = self.active()
        for n, v in self.values.items():
            seen.setdefault(n, []).append(np.broadcast_to(v, on.shape)[on])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interp.StageRun, "__init__", watch)
        interp.run(kernel, items)
    return {n: np.concatenate(v) for n, v in seen.items()}


def check_inside(kernel: Kernel, items: Items, ranges: Ranges) -> None:
    """Fails for a value outside its interval."""
    seen = values_of(kernel, items)
    assert set(seen) == {n for s in kernel.stages for n in s.nodes()}
    for node, values in seen.items():
        r = ranges.of(node)
        inside = (r.lo <= values) & (values <= r.hi)
        assert inside.all(), f"{node.loc}: {node.op} outside {r}"


@pytest.mark.parametrize("kernel", RANDOM, ids=lambda k: k.id)
def test_random_programs_stay_in_their_intervals(kernel: Kernel) -> None:
    check_inside(kernel, random_items(kernel, 200, 1), Ranges(kernel))


@pytest.mark.of_many
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.id)
def test_builtin_kernels_stay_in_their_intervals(kernel: Kernel) -> None:
    items = vectors.make_items(kernel, 200, 7)
    assert interp.run(kernel, items).conformant(kernel.defaults).all()
    check_inside(kernel, items, Ranges(kernel))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.id)
def test_hostile_items_stay_in_the_hostile_intervals(kernel: Kernel) -> None:
    """Before anything wraps; where it may, the interval is the whole computing width."""
    items = vectors.make_items(kernel, 200, 7, "hostile")
    ranges = Ranges(kernel, hostile=True)
    params = {p.name: np.clip(items.params[p.name], p.lo, p.hi) for p in kernel.params}
    wrapped: set[Node] = set(ranges.wraps)
    for node, values in values_of(kernel, Items(items.buffers, params)).items():
        if node in wrapped or any(a in wrapped for a in node.args):
            wrapped.add(node)
            continue
        if node.op is Op.LOAD and kernel.buffer(node.attr[0]).kind == "temp":
            wrapped.add(node)  # what a temp's element type cuts off
            continue
        r = ranges.of(node)
        assert ((r.lo <= values) & (values <= r.hi)).all()


def test_assumptions_narrow_and_their_absence_widens() -> None:
    kernel = next(k for k in KERNELS if not all(a.default for a in k.assumptions))
    usual, strict, wide = (
        Ranges(kernel, names)
        for names in (None, kernel.defaults | {a.name for a in kernel.assumptions}, frozenset())
    )
    nodes = [n for s in kernel.stages for n in s.nodes() if not n.is_bool]
    for n in nodes:
        assert usual.of(n).within(wide.of(n).lo, wide.of(n).hi)
        assert strict.of(n).within(usual.of(n).lo, usual.of(n).hi)
    assert any(usual.of(n) != wide.of(n) for n in nodes)
    assert any(strict.of(n) != usual.of(n) for n in nodes)


# ------------------------------------------------------------------ operation by operation

ends = st.integers(-300, 300)
intervals = st.tuples(ends, ends).map(lambda p: Interval(min(p), max(p)))
ONE = {Op.SHR: st.tuples(st.integers(0, 12)), Op.RSHR: st.tuples(st.integers(1, 12)),
       Op.ABS: st.just(()), Op.CLIP: st.tuples(ends, ends).map(lambda p: (min(p), max(p))),
       Op.WRAP: st.tuples(st.sampled_from(DTYPES)),
       Op.ASSUME: st.tuples(ends, ends).map(lambda p: ("", min(p), max(p)))}  # fmt: skip
TWO = (Op.ADD, Op.SUB, Op.MUL, Op.MIN, Op.MAX, Op.ABSDIFF, Op.SHRV, Op.SHLV, *BITWISE)


def _range_of(op: Op, attr: tuple, inputs: list[Interval], *, twice: bool = False) -> Interval:
    """The interval of an operation on parameters of these ranges, or on one, twice."""
    build = Builder({})
    names = [f"p{n}" for n in range(len(inputs))]
    params = tuple(Param(n, i32, r.lo, r.hi, AT) for n, r in zip(names, inputs, strict=True))
    args = tuple(build.make(Op.PARAM, (), (n,), AT) for n in names)
    node = build._intern(op, args * 2 if twice else args, attr, AT, "")
    stage = Stage((("i", 1),), (Store("out", (Affine(0),), node, None, AT),), AT)
    out = Buffer("out", "block", i32, ((0, 1),), "out", AT, i32.lo, i32.hi)
    kernel = Kernel("a_b", "a", "c", "d", AT, (out,), params, (), (), (), (), (stage,))
    return Ranges(kernel).of(node)


@given(st.data())
def test_unary_intervals_hold(data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(sorted(ONE)))
    attr, x = data.draw(ONE[op]), data.draw(intervals)
    got = _range_of(op, attr, [x])
    values = np.arange(x.lo, x.hi + 1)
    if op is Op.ASSUME:  # holds for those that meet it
        values = values[(values >= attr[1]) & (values <= attr[2])]
    results = evaluate(op, attr, (values,))
    assert ((got.lo <= results) & (results <= got.hi)).all()
    if op not in (Op.WRAP, Op.ASSUME):  # and are as narrow as can be
        assert (results.min(), results.max()) == (got.lo, got.hi)


@given(st.sampled_from(TWO), intervals, intervals)
def test_binary_intervals_hold_and_are_tight(op: Op, a: Interval, b: Interval) -> None:
    got = _range_of(op, (), [a, b])
    lo, hi = _amounts(b) if op in (Op.SHRV, Op.SHLV) else (b.lo, b.hi)
    x, y = np.arange(a.lo, a.hi + 1), np.arange(lo, hi + 1)
    results = evaluate(op, (), (x[:, None], y[None, :]))
    assert (results.min(), results.max()) == (got.lo, got.hi)


def test_a_square_is_not_negative() -> None:
    x = Interval(-3, 2)
    assert _range_of(Op.MUL, (), [x], twice=True) == Interval(0, 9)
    assert _range_of(Op.MUL, (), [x, x]) == Interval(-6, 9)


def test_tables_are_evaluated_by_rows_that_exist() -> None:
    """The worst mixture of the entries would be [-9, 79] times the input."""
    taps = next(k for k in RANDOM).table("taps")
    assert table_rows(taps, Interval(-5, 0)) == taps.rows[:1]
    assert table_rows(taps, Interval(1, 1)) == taps.rows[1:2]
    assert table_rows(taps, Interval(1, 99)) == taps.rows[1:]
    assert table_rows(taps, Interval(50, 99)) == taps.rows[2:]


def test_rows_that_only_an_overflow_reaches_are_counted(tmp_path: Path) -> None:
    """A conformant index is at least 1; a hostile p ** 4 wraps in 32 bits, and can be anything."""
    text = """
    t = k.table("t", u8, [7, 8, 9])
    q = k.param("q", u8, 0, 7)
    with k.stage(x=8) as x:
        px[0, x] = t[q * q * q * q + 1]
    """
    kernel = kernel_of(tmp_path, spec_text(text))
    (node,) = (n for n in kernel.stages[0].nodes() if n.op is Op.TABLE)
    assert Ranges(kernel).of(node) == Interval(8, 9)
    assert Ranges(kernel, hostile=True).of(node) == Interval(7, 9)


def test_what_could_be_no_shift_amount_shifts_by_anything() -> None:
    """Targets bring such amounts into 0 to 31 each in its way: no end of the range says where."""
    assert _amounts(Interval(2, 4)) == (2, 4)
    assert _amounts(Interval(-8, 24)) == _amounts(Interval(2, 32)) == (0, 31)
