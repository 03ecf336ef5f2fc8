# SPDX-License-Identifier: BSD-2-Clause
"""The inverse ADST against the standard's own wording and the sine formula."""

import numpy as np
import pytest
from vp9_adst import real_iadst, reconstruct

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Items
from daedalus.generator.compile.registry import load

IADST = next(e.kernel for e in load() if e.kernel.id == "vp9_iadst16")


def _blocks(kind: str, count: int) -> Items:
    """Coefficients of a kind on random predictions; coeffs[h][v] is Dequant[v][h]."""
    rng = np.random.default_rng(len(kind))
    shape = (count, 16, 16)
    c = np.zeros(shape, dtype=np.int64)
    match kind:
        case "single":  # one coefficient at a time, both signs
            n = np.arange(count)
            c[n, n // 16 % 16, n % 16] = (-1) ** (n // 256) * rng.integers(1, 8000, count)
        case "small":
            c = rng.integers(-60, 61, shape)
        case "dense":
            c = rng.integers(-600, 601, shape)
        case "wide":  # many of them beyond what a conformant stream may hold
            c = rng.integers(-32768, 32768, shape) * (rng.random(shape) < 0.06)
        case "extreme":
            c = rng.choice([-32768, 32767, 0, 1, -1], shape)
    return Items({"dst": rng.integers(0, 256, shape), "coeffs": c}, {})


def _check(items: Items) -> np.ndarray:
    """Bit-exact for every input, and conformant exactly where the standard's bounds hold."""
    got = interp.run(IADST, items)
    want, overflow = reconstruct(items.buffers["coeffs"].swapaxes(1, 2), items.buffers["dst"])
    assert np.array_equal(got.buffers["dst"], want)
    assert np.array_equal(got.broken["t16"], overflow)
    return overflow


@pytest.mark.parametrize("kind", ["single", "small", "dense", "wide", "extreme"])
def test_inverse_adst_is_the_standards(kind: str) -> None:
    assert _check(_blocks(kind, 1000)).any() == (kind in ("wide", "extreme"))


@pytest.mark.parametrize("kind", ["conformant", "typical", "boundary", "hostile"])
def test_inverse_adst_on_drawn_items(kind: str) -> None:
    items = vectors.make_items(IADST, 1000, 3, kind)
    assert _check(items).any() == (kind in ("boundary", "hostile"))


@pytest.mark.parametrize(
    ("kind", "largest"), [("single", 8000.0), ("small", 60 * 10.2**2)], ids=["single", "small"]
)
def test_inverse_adst_is_near_the_real_one(kind: str, largest: float) -> None:
    """The error of every output is within what the roundings can add up to.

    A rounded rotation's output errs by b = 1/2 (rounding) + `largest` / 16384 (its two constants).
    A pass has three layers of rotated sums, of which each passes on the error before it at most
    2 * 2**0.5 times, and a last rotation, 2**0.5 times. The second pass passes on the first's at
    most 10.2 times, the largest sum of a row of sines. Round2(x, 6) divides by 64 and adds 1/2.
    """
    b = 0.5 + largest / 16384
    a_pass = b * (1 + 2**0.5 * (1 + 8**0.5 * (1 + 8**0.5)))
    items = _blocks(kind, 1000)
    residual = real_iadst(items.buffers["coeffs"].swapaxes(1, 2))
    got = interp.run(IADST, items).buffers["dst"]
    worst = np.abs(got - np.clip(items.buffers["dst"] + residual, 0, 255)).max()
    assert 0.3 < worst <= (10.2 + 1) * a_pass / 64 + 0.5  # rounding to integers alone gives 1/2
