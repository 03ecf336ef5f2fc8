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
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import z3

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import DTYPES, Affine, Kernel, Node, Op, Stage, Store, Table, evaluate, walk
from daedalus.dsl.ranges import BOOL, Interval, _arithmetic
from daedalus.generator.passes import (
    bias,
    compare,
    decide,
    expand_dot,
    guard,
    max_tree,
    split_clips,
)
from daedalus.generator.passes import split_products as products
from daedalus.generator.symbolic import Number, Truth, counterexample, number, paths, reduced

AT = Loc("identities", 1)
ENDS = sorted({e + d for t in DTYPES if t.bits < 32 for e in (t.lo, t.hi) for d in (-1, 0, 1)})
TAPS = Table("taps", DTYPES[1], ((3, -1, 0), (127, 64, -128), (0, 0, 5)), AT)


class Constant(Node):
    """A constant that is a symbol."""

    @property
    def value(self) -> Any:
        return self.attr[0]


class Maker:
    """Nodes as they are written here, without the builder's simplifications."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, op: Op, *args: Node, attr: tuple[Any, ...] = ()) -> Node:
        self.count += 1
        return Node(op, args, attr, AT, self.count)

    def leaf(self, name: str) -> Node:
        return self(Op.PARAM, attr=(name,))

    def const(self, value: int) -> Node:
        return self(Op.CONST, attr=(value,))

    def flag(self, name: str) -> Node:
        return self(Op.LE, self.leaf(f"{name}l"), self.leaf(f"{name}r"))


def meaning(node: Node) -> Any:
    """A node's value, in symbols named like the parameters and elements it reads."""
    args = tuple(meaning(a) for a in node.args)
    match node.op:
        case Op.CONST:
            constant = node.value
            return constant if isinstance(constant, Number) else Number(z3.BitVecVal(constant, 80))
        case Op.PARAM:
            return number(node.attr[0])
        case Op.LOAD:
            return number(f"old {node.attr[0]} {node.index}")
        case Op.TABLE | Op.DOT:
            return _looked_up(node, args)
    return evaluate(node.op, node.attr, args)


def _looked_up(node: Node, args: tuple[Any, ...]) -> Any:
    def row(values: tuple[int, ...]) -> Any:
        if node.op is Op.TABLE:
            return values[int(args[1].term.as_signed_long())]
        return sum((t * x for t, x in zip(values, args[1:], strict=True)), start=Number(_zero()))

    found = row(TAPS.rows[0])
    for n, values in enumerate(TAPS.rows[1:], 1):
        found = np.where(args[0] >= n, row(values), found)
    return found


def _zero() -> z3.BitVecRef:
    return z3.BitVecVal(0, 80)


def stage_of(*stores: tuple[Node, Node | None]) -> Stage:
    """A stage that stores values under masks, each to its own element."""
    made = [Store("out", (Affine(n),), value, mask, AT) for n, (value, mask) in enumerate(stores)]
    return Stage((("i", 1),), tuple(made), AT)


def kernel_of(stage: Stage) -> Kernel:
    return Kernel("k", "k", "", "", AT, (), (), (TAPS,), (), (), (), (stage,))


def effect(stage: Stage | None, count: int) -> list[z3.BitVecRef]:
    """What stands in each element afterwards."""
    found = {n: number(f"old out {(Affine(n),)}") for n in range(count)}
    for s in stage.stores if stage else ():
        place = int(s.index[0].const)
        new = np.where(True if s.mask is None else meaning(s.mask), meaning(s.value), found[place])
        found[place] = Number(new.term)
    return [found[n].term for n in range(count)]


class Bounds:
    """Stands for `Ranges`: of every node, some interval that contains its value."""

    def __init__(self, stage: Stage, results: bool) -> None:
        self.known: list[Any] = []
        self.found: dict[Node, Interval] = {}
        # Of what is only stored, most passes do not ask the range.
        roots = set() if results else {s.value for s in stage.stores}
        for n in stage.nodes():
            if n in roots and n.args:
                continue
            if n.is_bool or n.op is Op.CONST:
                self.found[n] = BOOL if n.is_bool else Interval(n.value, n.value)
                continue
            lo, hi = number(f"lo {n.seq}"), number(f"hi {n.seq}")
            self.known += [lo <= meaning(n), meaning(n) <= hi]
            self.found[n] = Interval(lo, hi)  # type: ignore[arg-type]

    def of(self, node: Node) -> Interval:
        return self.found[node]


def constant_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the builder make constants of symbols, as of the ends of ranges."""
    plain = Builder.const

    def const(builder: Builder, value: Any, loc: Loc) -> Node:
        if isinstance(value, Number):
            return Constant(Op.CONST, (), (value,), loc, 0)
        return plain(builder, value, loc)

    monkeypatch.setattr(Builder, "const", const)


def assumed(stage: Stage) -> list[z3.BoolRef]:
    """What the assumptions of a stage say."""
    found = []
    for node in stage.nodes():
        if node.op is Op.ASSUME:
            held = meaning(node.args[0])
            found.append(z3.And((held >= node.attr[1]).term, (held <= node.attr[2]).term))
    return found


def assert_kept(
    monkeypatch: pytest.MonkeyPatch, module: Any, step: Any, stage: Stage, *, results: bool = False
) -> int:
    """Proves that a pass keeps the effect of a stage, and that what it assumes holds; in how many
    ways it changed something. `results`: the pass asks for the range of what is stored, too.
    """
    # An item for which an assumption does not hold is not conformant.
    known_bounds: list[Any] = [Truth(fact) for fact in assumed(stage)]
    if hasattr(module, "Ranges"):
        bounds = Bounds(stage, results)
        known_bounds += bounds.known
        monkeypatch.setattr(module, "Ranges", lambda kernel, **options: bounds)
    count = len(stage.stores)
    before = effect(stage, count)
    changed = 0

    def run() -> Kernel:
        return step(kernel_of(stage))  # type: ignore[no-any-return]

    for known, kernel in paths(run, *known_bounds, prune=module is split_clips):
        assert len(kernel.stages) == 1
        after = effect(kernel.stages[0], count)
        for old, new in zip(before, after, strict=True):
            assert_follows(known, old == new)
        for fact in assumed(kernel.stages[0]):
            assert_follows(known, fact)
        changed += _text(kernel.stages[0]) != _text(stage)
    return changed


def _text(stage: Stage) -> str:
    """The operations of a stage, by which a change is seen."""
    return " ".join(f"{n.op} {n.attr}" for s in stage.stores for n in _below(s.value))


def assert_follows(known: list[z3.BoolRef], claim: z3.BoolRef) -> None:
    if z3.is_true(z3.simplify(claim)):
        return
    known, claim = reduced(known, claim)
    # As a sum of monomials first: what products are made of is then beside the point.
    if not z3.is_true(z3.simplify(claim, som=True)):
        assert counterexample(known, claim) is None


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


def test_expand_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    k = Maker()
    row, *xs = (k.leaf(n) for n in ("row", "x", "y", "z"))
    stage = stage_of((k(Op.DOT, row, *xs, attr=("taps",)), None))
    monkeypatch.setattr(expand_dot, "Ranges", lambda kernel: SimpleNamespace(of=lambda n: BOOL))
    after = expand_dot.expand_dot(kernel_of(stage)).stages[0]
    assert not any(n.op is Op.DOT for n in after.nodes())
    claim = effect(stage, 1)[0] == effect(after, 1)[0]
    for n in (-1, *range(len(TAPS.rows)), 7):
        at = number("row").term == n
        assert_follows([at], z3.substitute(claim, (z3.BitVec("row", 36), z3.BitVecVal(n, 36))))


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
        if _text(stage_of((old.value, None))) == _text(stage_of((new.value, None))):
            continue
        simpler += len(_below(new.value)) < len(_below(old.value))
        assert_follows([], meaning(old.value).term == meaning(new.value).term)
    assert simpler > 50


def _below(node: Node) -> list[Node]:
    return list(walk((node,)))


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
