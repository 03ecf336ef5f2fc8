# SPDX-License-Identifier: BSD-2-Clause
"""The arithmetic that passes and the builder rely on, proven: the pass itself runs on a stage of
symbols, and what the stage leaves in memory before and after is shown to be equal for all values,
whatever the ranges are.

Constants that a pass looks at must be integers: these are the ends of all types and their
neighbours, so that every order of them and of the (symbolic) ranges occurs. The moves of values
between stages and lanes (specialise, forward, unroll) stand on no arithmetic: test_meaning.py.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import z3
from pass_proofs import (
    TAPS,
    Maker,
    as_text,
    assert_follows,
    assert_kept,
    below,
    constant_symbols,
    effect,
    kernel_of,
    meaning,
    stage_of,
)

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import DTYPES, Kernel, Node, Op, Stage, evaluate
from daedalus.dsl.ranges import BOOL, Interval, _arithmetic
from daedalus.generator.passes import (
    bias,
    centre,
    compare,
    decide,
    expand_dot,
    guard,
    max_tree,
    scale_products,
    split_clips,
)
from daedalus.generator.passes import split_products as products
from daedalus.generator.verify.proofs.symbolic import Number, number, paths

ENDS = sorted({e + d for t in DTYPES if t.bits < 32 for e in (t.lo, t.hi) for d in (-1, 0, 1)})


# ------------------------------------------------------------------ passes


@pytest.mark.parametrize("lo", [-32769, -32768, -129, -128, -5, 0, 1], ids=str)
def test_split_clips(monkeypatch: pytest.MonkeyPatch, lo: int) -> None:
    changed = 0
    for hi in (lo, 126, 127, 255, 32767):
        k = Maker()
        stage = stage_of((k(Op.CLIP, k.leaf("x"), attr=(lo, hi)), None))
        changed += assert_kept(monkeypatch, split_clips, split_clips.split_clips, stage)
    assert changed


@pytest.mark.parametrize("op", [Op.ADD, Op.SUB])
def test_split_products(monkeypatch: pytest.MonkeyPatch, op: Op) -> None:
    changed = 0
    for c in (-32768, -1, 0, 1, 2, 11585):
        for parts in (("x", "y"), ("x", "x"), (0, "y"), ("x", 5)):
            k = Maker()
            leaves = {n: k.leaf(n) for n in "xy"}
            a, b = (leaves[p] if isinstance(p, str) else k.const(p) for p in parts)
            stage = stage_of((k(Op.MUL, k(op, a, b), k.const(c)), None))
            changed += assert_kept(monkeypatch, products, products.split_products, stage)
    assert changed


@pytest.mark.parametrize("op", [Op.SHR, Op.RSHR])
@pytest.mark.parametrize("n", [1, 2, 7, 14])
def test_scale_products(monkeypatch: pytest.MonkeyPatch, op: Op, n: int) -> None:
    largest = 32767 >> (15 - n)
    kept = []
    for c in (-largest - 2, -largest - 1, -1, largest, largest + 1):
        k = Maker()
        stage = stage_of((k(op, k(Op.MUL, k.leaf("x"), k.const(c)), attr=(n,)), None))
        change = partial(scale_products.scale_products, most=16)
        kept.append(assert_kept(monkeypatch, scale_products, change, stage))
    assert [bool(changed) for changed in kept] == [False, True, True, True, False]


@pytest.mark.parametrize("op", [Op.SHR, Op.RSHR])
def test_scale_products_of_64_bits(monkeypatch: pytest.MonkeyPatch, op: Op) -> None:
    change = partial(scale_products.scale_products, most=32)
    largest = (2**31 - 1) >> 17
    kept = []
    for c in (-largest - 2, largest, largest + 1):
        k = Maker()
        stage = stage_of((k(op, k(Op.MUL, k.leaf("x"), k.const(c)), attr=(14,)), None))
        kept.append(assert_kept(monkeypatch, scale_products, change, stage))
    assert [bool(changed) for changed in kept] == [False, True, False]


def _trees(k: Maker) -> Iterator[Node]:
    """Conditions of three comparisons, in every mixture of operations, values and limits."""
    names = ("x", "y", "limit", "other")
    x, y, limit, other = (k.leaf(n) for n in names)
    pool = [k(op, v, c) for op in (Op.LE, Op.GT) for v, c in
            ((x, limit), (y, limit), (x, other), (limit, y))]  # fmt: skip
    for a, b, c in itertools.product(pool, repeat=3):
        for outer, inner in itertools.product((Op.AND, Op.OR), repeat=2):
            yield k(outer, k(inner, a, b), c)


def test_max_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    k = Maker()
    trees = list(_trees(k))
    one, zero = k.const(1), k.const(0)
    stage = stage_of(*((k(Op.SELECT, t, one, zero), None) for t in trees))
    assert assert_kept(monkeypatch, max_tree, max_tree.merge_limits, stage)


@pytest.mark.parametrize("op", [Op.LE, Op.GT])
def test_decide(monkeypatch: pytest.MonkeyPatch, op: Op) -> None:
    k = Maker()
    condition = k(op, k.leaf("x"), k.leaf("y"))
    stage = stage_of(
        (k(Op.SELECT, condition, k.leaf("a"), k.leaf("b")), None), (k.leaf("a"), condition),
        (k.leaf("a"), k(Op.NOT, condition)), (k.leaf("a"), k(Op.AND, condition, k.flag("m"))),
        (k.leaf("a"), None),
    )  # fmt: skip
    monkeypatch.setattr(decide, "_single", lambda *args: None)
    assert assert_kept(monkeypatch, decide, decide.decide_comparisons, stage)


def test_single_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has one value only becomes a constant."""
    constant_symbols(monkeypatch)
    k = Maker()
    stage = stage_of((k.leaf("x"), None), (k.leaf("y"), None))
    assert assert_kept(monkeypatch, decide, decide.decide_comparisons, stage, results=True) == 3


def test_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    k = Maker()
    x, y, one, zero = k.leaf("x"), k.leaf("y"), k.const(1), k.const(0)
    difference = k(Op.SUB, x, y)
    conditions = [
        k(op, *args)
        for op in (Op.LE, Op.GT)
        for other in (zero, one, k.leaf("z"))
        for args in ((difference, other), (other, difference))
    ]
    stage = stage_of(*((k(Op.SELECT, c, one, zero), None) for c in conditions))
    assert assert_kept(monkeypatch, compare, compare.compare_operands, stage) == 1
    after = compare.compare_operands(kernel_of(stage)).stages[0]
    kept = [n for n in after.nodes() if n.is_bool and difference.op in (a.op for a in n.args)]
    assert len(kept) == len(conditions) - 4


@pytest.mark.parametrize("op", [Op.SHR, Op.RSHR])
@pytest.mark.parametrize("form", ["sum", "difference", "three", "assumed"])
def test_bias(monkeypatch: pytest.MonkeyPatch, op: Op, form: str) -> None:
    k = Maker()
    x, y, z = (k.leaf(n) for n in "xyz")
    value = {
        "sum": lambda: k(Op.ADD, x, y), "difference": lambda: k(Op.SUB, x, y),
        "three": lambda: k(Op.SUB, k(Op.ADD, x, y), z),
        "assumed": lambda: k(Op.ASSUME, k(Op.ADD, x, y), attr=("", -100, 40000)),
    }[form]()  # fmt: skip
    constant_symbols(monkeypatch)
    stage = stage_of((k(op, value, attr=(7,)), None))
    assert assert_kept(monkeypatch, bias, bias.bias_sums, stage)


@pytest.mark.parametrize("rows", [(-1, 0, 1, 2, 7), (0, 2), (1,)], ids=str)
def test_expand_dot(monkeypatch: pytest.MonkeyPatch, rows: tuple[int, ...]) -> None:
    k = Maker()
    row, *xs = (k.leaf(n) for n in ("row", "x", "y", "z"))
    stage = stage_of((k(Op.DOT, row, *xs, attr=("taps",)), None))
    reached = tuple(TAPS.rows[min(max(n, 0), len(TAPS.rows) - 1)] for n in rows)
    found = SimpleNamespace(of=lambda node: BOOL, rows=lambda node: reached)
    monkeypatch.setattr(expand_dot, "Ranges", lambda kernel: found)
    after = expand_dot.expand_dot(kernel_of(stage)).stages[0]
    assert not any(n.op is Op.DOT for n in after.nodes())
    claim = effect(stage, 1)[0] == effect(after, 1)[0]
    for n in rows:
        at = number("row").term == n
        assert_follows([at], z3.substitute(claim, (z3.BitVec("row", 36), z3.BitVecVal(n, 36))))


@pytest.mark.parametrize("op", [Op.SHR, Op.RSHR])
def test_centre(monkeypatch: pytest.MonkeyPatch, op: Op) -> None:
    k = Maker()
    row, *xs = (k.leaf(n) for n in ("row", "x", "y", "z"))
    dot = k(Op.DOT, row, *xs, attr=("taps",))
    stage = stage_of((k(Op.CLIP, k(op, dot, attr=(7,)), attr=(-7, 255)), None))
    pixels = [z3.And(number(n).term >= 0, number(n).term <= 255) for n in "xyz"]

    def changed(n: int, *, keep: bool = False) -> Stage:
        """By taps of one row: all that are looked up."""
        found = SimpleNamespace(of=lambda node: Interval(0, 255), rows=lambda node: (TAPS.rows[n],))
        monkeypatch.setattr(centre, "Ranges", lambda kernel: found)
        return centre.centre_filters(kernel_of(stage), lambda *of: keep).stages[0]

    for n in (0, 2):
        after = changed(n)
        assert as_text(after) != as_text(stage)
        selected = number("row").term == n
        assert_follows([selected, *pixels], effect(stage, 1)[0] == effect(after, 1)[0])
    assert as_text(changed(1)) == as_text(stage), "its sums leave 16 bits"
    assert as_text(changed(0, keep=True)) == as_text(stage)


def _masked(k: Maker) -> Stage:
    a, b, c = (k.flag(n) for n in "abc")
    masks = [k(Op.AND, a, b), k(Op.AND, k(Op.AND, c, a), b), k(Op.AND, b, k(Op.OR, c, a))]
    return stage_of(*((k.leaf(f"x{n}"), m) for n, m in enumerate(masks)))


def test_select_old(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = _masked(Maker())
    after = guard.select_old(kernel_of(stage)).stages[0]
    assert all(s.mask is None for s in after.stores)
    assert_kept(monkeypatch, guard, guard.select_old, stage)


def test_guard() -> None:
    """Where the guard does not hold, the stage leaves everything as it is."""
    stage = _masked(Maker())
    found = guard.find_guard(kernel_of(stage)).stages[0]
    assert found.guard is not None
    off = z3.Not(meaning(found.guard).term)
    untouched = effect(None, len(stage.stores))
    for before, after in zip(untouched, effect(found, len(stage.stores)), strict=True):
        assert_follows([off], before == after)


# ------------------------------------------------------------------ builder and ranges


def _operations(k: Maker) -> Iterator[Node]:
    """Every operation on leaves and telling constants, as nobody simplified it."""
    x, y = k.leaf("x"), k.leaf("y")
    values = [x, y, *(k.const(c) for c in (-1, 0, 1, 2, 255))]
    flags = [k.flag("m"), k(Op.GT, x, y), k(Op.LE, k.const(0), k.const(1)),
             k(Op.GT, k.const(0), k.const(1))]  # fmt: skip
    flags += [k(Op.NOT, f) for f in flags]
    for op in (Op.ADD, Op.SUB, Op.MUL, Op.MIN, Op.MAX, Op.ABSDIFF, Op.LE, Op.GT):
        yield from (k(op, a, b) for a in values for b in values)
    for v in (*values, k(Op.ADD, x, y), k(Op.CLIP, x, attr=(0, 255))):
        yield k(Op.ABS, v)
        yield from (k(Op.SHR, v, attr=(n,)) for n in (0, 1, 7))
        yield from (k(Op.RSHR, v, attr=(n,)) for n in (1, 7))
        for n, c in ((1, 1), (7, 64), (7, 63), (7, 128), (1, 2)):  # rounding, and almost
            yield k(Op.SHR, k(Op.ADD, v, k.const(c)), attr=(n,))
        yield from (k(Op.CLIP, v, attr=a) for a in ((0, 255), (-128, 127), (3, 3)))
        yield from (k(Op.WRAP, v, attr=(t,)) for t in DTYPES)
    for op in (Op.AND, Op.OR):
        yield from (k(op, a, b) for a in flags for b in flags)
    yield from (k(Op.NOT, f) for f in flags)
    yield from (k(Op.SELECT, f, a, b) for f in flags for a in values for b in values)


def test_builder() -> None:
    """What the builder makes of an operation has the same value."""
    k = Maker()
    nodes = list(_operations(k))
    one, zero = k.const(1), k.const(0)
    stage = stage_of(*((k(Op.SELECT, n, one, zero) if n.is_bool else n, None) for n in nodes))
    after = rewrite_stage(stage, Builder({}), lambda node, args: None)
    simpler = 0
    for old, new in zip(stage.stores, after.stores, strict=True):
        if as_text(stage_of((old.value, None))) == as_text(stage_of((new.value, None))):
            continue
        simpler += len(below(new.value)) < len(below(old.value))
        assert_follows([], meaning(old.value).term == meaning(new.value).term)
    assert simpler > 50


ARITHMETIC = [Op.ADD, Op.SUB, Op.SHR, Op.RSHR, Op.MIN, Op.MAX, Op.ABS, Op.CLIP, Op.WRAP]


@pytest.mark.parametrize("op", ARITHMETIC)
def test_ranges_contain_the_value(op: Op) -> None:
    """`ranges._arithmetic`: an operation on members of intervals gives a member of its interval."""
    k = Maker()
    attrs: list[tuple[Any, ...]] = [()]
    if op in (Op.SHR, Op.RSHR):
        attrs = [(n,) for n in (1, 2, 7, 16, 31)]
    elif op is Op.CLIP:
        attrs = [(0, 255), (-128, 127), (5, 5)]
    elif op is Op.WRAP:
        attrs = [(t,) for t in DTYPES]
    names = ("x",) if op in (Op.SHR, Op.RSHR, Op.ABS, Op.CLIP, Op.WRAP) else ("x", "y")
    for attr in attrs:
        node = k(op, *(k.leaf(n) for n in names), attr=attr)
        given, spans = [], []
        for n in names:
            lo, hi, x = number(f"lo {n}"), number(f"hi {n}"), number(n)
            given += [lo <= x, x <= hi]
            spans.append(Interval(lo, hi))  # type: ignore[arg-type]
        for known, r in paths(lambda n=node, s=spans: _arithmetic(n, s), *given):
            value = meaning(node).term
            lo, hi = (x.term if isinstance(x, Number) else x for x in (r.lo, r.hi))
            assert_follows(known, z3.And(lo <= value, value <= hi))


@pytest.mark.parametrize("op", [Op.MUL, Op.SHRV, Op.ABSDIFF])
def test_small_ranges_contain_the_value(op: Op) -> None:
    """The same by trying all members of all small intervals: these are beyond the solver."""
    k = Maker()
    x, y = k.leaf("x"), k.leaf("y")
    spans = [Interval(lo, hi) for lo in range(-4, 5) for hi in range(lo, 5)]
    for a, b in itertools.product(spans, repeat=2):
        r = _arithmetic(k(op, x, y), [a, b])
        values = np.arange(a.lo, a.hi + 1)[:, None], np.arange(b.lo, b.hi + 1)[None, :]
        got = evaluate(op, (), values)
        assert r.lo <= got.min() and got.max() <= r.hi
    if op is Op.MUL:
        for a in spans:
            r = _arithmetic(k(op, x, x), [a, a])
            assert all(r.lo <= v * v <= r.hi for v in range(a.lo, a.hi + 1))


# ------------------------------------------------------------------ these proofs can fail

Change = Callable[[Builder, Node, tuple[Node, ...]], Node | None]


def _swapped(b: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    """A clip as the minimum before the maximum, which differs where the bounds cross: never."""
    if node.op is not Op.CLIP:
        return None
    lo, hi = (b.const(v, node.loc) for v in node.attr)
    return b.make(Op.MAX, (b.make(Op.MIN, (args[0], hi), (), node.loc), lo), (), node.loc)


def _one_less(b: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    """A clip whose upper bound is off by one."""
    if node.op is not Op.CLIP:
        return None
    return b.make(Op.CLIP, args, (node.attr[0], node.attr[1] - 1), node.loc)


def _any_limit(b: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    """Comparisons merged whatever their limits are."""
    if node.op is not Op.AND or any(a.op is not Op.LE for a in args):
        return None
    both = b.make(Op.MAX, (args[0].args[0], args[1].args[0]), (), node.loc)
    return b.make(Op.LE, (both, args[0].args[1]), (), node.loc)


@pytest.mark.parametrize(
    ("change", "right"), [(_swapped, True), (_one_less, False), (_any_limit, False)]
)
def test_a_wrong_pass_is_refuted(
    monkeypatch: pytest.MonkeyPatch, change: Change, right: bool
) -> None:
    def step(kernel: Kernel) -> Kernel:
        builder = Builder({})
        (stage,) = kernel.stages
        made = rewrite_stage(stage, builder, lambda n, a: change(builder, n, a))
        return kernel_of(made)

    k = Maker()
    x, y = k.leaf("x"), k.leaf("y")
    both = k(Op.AND, k(Op.LE, x, k.leaf("l")), k(Op.LE, y, k.leaf("m")))
    stage = stage_of((k(Op.CLIP, x, attr=(0, 255)), None), (k(Op.SELECT, both, x, y), None))
    if right:
        assert_kept(monkeypatch, None, step, stage)
    else:
        with pytest.raises(AssertionError):
            assert_kept(monkeypatch, None, step, stage)
