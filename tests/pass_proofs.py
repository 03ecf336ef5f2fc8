# SPDX-License-Identifier: BSD-2-Clause
"""Proofs that a pass keeps what a stage does, for all values: it runs on a stage of symbols."""

from typing import Any

import numpy as np
import pytest
import z3

from daedalus.dsl.build import Builder
from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import DTYPES, Affine, Kernel, Node, Op, Stage, Store, Table, evaluate, walk
from daedalus.dsl.ranges import BOOL, Interval
from daedalus.generator.passes import split_clips
from daedalus.generator.verify.proofs.symbolic import (
    Number,
    Truth,
    counterexample,
    number,
    paths,
    reduced,
)

AT = Loc("identities", 1)
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
        changed += as_text(kernel.stages[0]) != as_text(stage)
    return changed


def as_text(stage: Stage) -> str:
    """The operations of a stage, by which a change is seen."""
    return " ".join(f"{n.op} {n.attr}" for s in stage.stores for n in below(s.value))


def assert_follows(known: list[z3.BoolRef], claim: z3.BoolRef) -> None:
    if z3.is_true(z3.simplify(claim)):
        return
    known, claim = reduced(known, claim)
    # As a sum of monomials first: what products are made of is then beside the point.
    if not z3.is_true(z3.simplify(claim, som=True)):
        assert counterexample(known, claim) is None


def below(node: Node) -> list[Node]:
    """A node and all that it is made of."""
    return list(walk((node,)))
