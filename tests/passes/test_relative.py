# SPDX-License-Identifier: BSD-2-Clause
"""The arithmetic of values relative to others, proven as in test_identities.py."""

import itertools

import pytest
from pass_proofs import Maker, assert_kept, stage_of

from daedalus.dsl.ir import Node, Op, Stage, i8, u8, u16
from daedalus.generator.passes import relative


def _kept(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> int:
    """Proves that the pass keeps what a stage does; in how many ways it changed it."""
    return assert_kept(monkeypatch, relative, relative.relate_values, stage, results=True)


def test_a_limit_of_one_that_is_subtracted(monkeypatch: pytest.MonkeyPatch) -> None:
    k = Maker()
    q, p = k.leaf("q"), k.leaf("p")
    stage = stage_of((k(Op.SUB, p, q), None), (k(Op.MIN, q, p), None))
    assert _kept(monkeypatch, stage)


@pytest.mark.campaign
@pytest.mark.parametrize(("op", "first"), itertools.product((Op.MIN, Op.MAX), (False, True)))
def test_limits_of_what_is_subtracted(monkeypatch: pytest.MonkeyPatch, op: Op, first: bool) -> None:
    """min(q, p0, p1) where p0 - q and p1 - q are there; of p2 there is none."""
    k = Maker()
    q, *p = (k.leaf(x) for x in ("q", "p0", "p1", "p2"))
    chain: Node = k(op, *((q, p[0]) if first else (p[0], q)))
    chain = k(op, *((chain, p[1]) if first else (p[1], chain)))
    last = k(op, chain, p[2])
    differences = [k(Op.SUB, x, q) for x in p[:2]]
    stage = stage_of(*((v, None) for v in (*differences, chain, last)))
    assert _kept(monkeypatch, stage)


def test_distances_and_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    k = Maker()
    p, q, x = k.leaf("p"), k.leaf("q"), k.leaf("x")
    zero, one = k.const(0), k.const(1)
    signs = [
        k(Op.SELECT, k(Op.GT, zero, x), one, zero), k(Op.SELECT, k(Op.LE, zero, x), zero, one),
        k(Op.SELECT, k(Op.LE, zero, x), one, zero), k(Op.SELECT, k(Op.GT, x, zero), one, zero),
    ]  # fmt: skip
    values = [k(Op.SUB, p, q), k(Op.ABSDIFF, q, p), k(Op.ABSDIFF, p, x)]
    values += [*signs, *(k(Op.SUB, q, s) for s in signs)]
    assert _kept(monkeypatch, stage_of(*((v, None) for v in values)))


def test_members_of_types(monkeypatch: pytest.MonkeyPatch) -> None:
    k = Maker()
    values = [k(Op.WRAP, k.leaf("x"), attr=(t,)) for t in (u8, i8, u16)]
    assert _kept(monkeypatch, stage_of(*((v, None) for v in values)))


def test_without_differences_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Minima are what they were: a difference would be one more operation."""
    k = Maker()
    p, q = k.leaf("p"), k.leaf("q")
    stage = stage_of((k(Op.MIN, p, q), None), (k(Op.ABSDIFF, p, q), None))
    assert _kept(monkeypatch, stage) == 0
