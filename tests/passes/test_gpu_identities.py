# SPDX-License-Identifier: BSD-2-Clause
"""The arithmetic of the passes for GPUs, proven as in test_identities.py."""

import itertools

import pytest
from pass_proofs import Maker, assert_kept, stage_of

from daedalus.dsl.ir import Node, Op
from daedalus.generator.passes import late_bias, masked_terms, signed_limits


def _signed(k: Maker, compare: Op, swapped: bool, minus_first: bool, limit: Node) -> Node:
    p, q = k.leaf("p"), k.leaf("q")
    magnitude = k(Op.MIN, k(Op.ABSDIFF, p, q), limit)
    minus = k(Op.SUB, k.const(0), magnitude)
    condition = k(compare, *((q, p) if swapped else (p, q)))
    return k(Op.SELECT, condition, *((minus, magnitude) if minus_first else (magnitude, minus)))


@pytest.mark.parametrize("compare", [Op.LE, Op.GT])
def test_signed_limits(monkeypatch: pytest.MonkeyPatch, compare: Op) -> None:
    """Either sign for either order is a difference; where the limit may be negative, none is."""
    for swapped, minus_first in itertools.product((False, True), repeat=2):
        k = Maker()
        value = _signed(k, compare, swapped, minus_first, k.leaf("l"))
        step = signed_limits.limit_differences
        assert assert_kept(monkeypatch, signed_limits, step, stage_of((value, None))) == 1


def test_masked_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    k = Maker()
    mask, x, d = k.flag("m"), k.leaf("x"), k.leaf("d")
    terms = [k(Op.ADD, x, d), k(Op.ADD, d, x), k(Op.SUB, x, d), k(Op.SUB, d, x)]
    values = [k(Op.SELECT, mask, t, x) for t in terms]
    values += [k(Op.SELECT, mask, k(Op.CLIP, t, attr=(0, 255)), x) for t in terms[:3]]
    stage = stage_of(*((v, None) for v in values))
    assert assert_kept(monkeypatch, masked_terms, masked_terms.choose_terms, stage)


@pytest.mark.parametrize("bias", [-300, -1, 0, 1, 108])
def test_late_bias(monkeypatch: pytest.MonkeyPatch, bias: int) -> None:
    k = Maker()
    value = k(Op.CLIP, k(Op.SUB, k.leaf("x"), k.const(bias)), attr=(0, 255))
    assert assert_kept(monkeypatch, late_bias, late_bias.subtract_late, stage_of((value, None)))
