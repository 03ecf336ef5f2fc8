# SPDX-License-Identifier: BSD-2-Clause
"""The VP9 specs against the standard's own wording and, for the transform, the cosine formula."""

from collections import Counter

import numpy as np
import pytest
from vp9_standard import cos64, edge_filter_16, narrow_filter, real_idct, reconstruct

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Kernel
from daedalus.dsl.kernels.vp9.cosines import COS64
from daedalus.generator.compile.registry import load

KERNELS = {e.kernel.id: e.kernel for e in load()}
IDCT = KERNELS["vp9_idct8"]


def _blocks(kind: str, count: int) -> Items:
    """Coefficients of a kind on random predictions; coeffs[h][v] is Dequant[v][h]."""
    rng = np.random.default_rng(len(kind))
    c = np.zeros((count, 8, 8), dtype=np.int64)
    match kind:
        case "single":  # one coefficient at a time, both signs
            for n in range(count):
                c[n, n // 8 % 8, n % 8] = (-1) ** (n // 64) * rng.integers(1, 8000)
        case "dense":
            c = rng.integers(-600, 601, (count, 8, 8))
        case "sparse":
            c = rng.integers(-8000, 8001, (count, 8, 8)) * (rng.random((count, 8, 8)) < 0.06)
        case "wide":  # many of them beyond what a conformant stream may hold
            c = rng.integers(-32768, 32768, (count, 8, 8)) * (rng.random((count, 8, 8)) < 0.2)
        case "extreme":
            c = rng.choice([-32768, 32767, 0, 1, -1], (count, 8, 8))
    dst = rng.integers(0, 256, (count, 8, 8))
    return Items({"dst": dst, "coeffs": c}, {"eob": np.full(count, 64)})


@pytest.mark.parametrize("kind", ["single", "dense", "sparse", "wide", "extreme"])
def test_inverse_dct_is_the_standards(kind: str) -> None:
    """Bit-exact for every input, and conformant exactly where the standard's bounds hold."""
    items = _blocks(kind, 128)
    got = interp.run(IDCT, items)
    t16, sum16 = [], []
    for n in range(items.count):
        dequant = items.buffers["coeffs"][n].T.tolist()
        want, process = reconstruct(dequant, items.buffers["dst"][n].tolist())
        assert got.buffers["dst"][n].tolist() == want
        t16.append(not all(-32768 <= x <= 32767 for x in process.stored))
        sum16.append(not all(-32768 <= x <= 32767 for x in process.sums))
    assert got.broken["t16"].tolist() == t16
    assert got.broken["sum16"].tolist() == sum16
    assert any(t16) == (kind in ("wide", "extreme"))


@pytest.mark.parametrize("kind", ["conformant", "typical", "boundary"])
def test_inverse_dct_in_10_bits_is_the_standards(kind: str) -> None:
    """The same process, with 18 bits in T. Sums of products then take 33: of typical items, where
    the sampler puts them."""
    kernel = KERNELS["vp9_idct8_10"]
    items = vectors.make_items(kernel, 128, 3, kind)
    got = interp.run(kernel, items)
    overflow = []
    for n in range(items.count):
        dequant = items.buffers["coeffs"][n].T.tolist()
        want, process = reconstruct(dequant, items.buffers["dst"][n].tolist(), depth=10)
        assert got.buffers["dst"][n].tolist() == want
        overflow.append(not all(-(2**17) <= x < 2**17 for x in process.stored))
    assert got.broken["t18"].tolist() == overflow
    assert any(overflow) == (kind == "boundary")
    c = items.buffers["coeffs"]
    below = ((c[:, 0] + c[:, 4]) * cos64(16) < -(2**31)).any(axis=1) & ~np.array(overflow)
    assert below.any() or kind != "typical"


def test_dc_alone() -> None:
    """Worked out by hand: 100 -> 71 -> 50 -> (50 + 16) >> 5 = 2."""
    c = np.zeros((1, 8, 8), dtype=np.int64)
    c[0, 0, 0] = 100
    items = Items({"dst": np.full((1, 8, 8), 7), "coeffs": c}, {"eob": np.array([1])})
    assert (interp.run(IDCT, items).buffers["dst"] == 9).all()


@pytest.mark.parametrize(("kind", "largest"), [("dense", 600 * 5.28**2), ("sparse", 8000 * 64 / 5)])
def test_inverse_dct_is_near_the_real_one(kind: str, largest: float) -> None:
    """The error of every output is within what the roundings can add up to.

    A rotation's output errs by b = 1/2 (rounding) + `largest` / 16384 (its two constants). A pass
    adds up to (2 + 2 * 2**0.5 + 1) * b; the second passes on the first's error times at most 5.28,
    the largest sum of a row of the transform's coefficients. Round2(x, 5) divides by 32 and adds
    1/2; adding the prediction and clipping adds nothing.
    """
    b = 0.5 + min(largest, 32768) / 16384
    bound = (5.28 + 1) * 5.83 * b / 32 + 0.5
    items = _blocks(kind, 40)
    got = interp.run(IDCT, items)
    assert got.conformant(IDCT.defaults).all()
    worst = 0.0
    for n in range(items.count):
        real = np.array(real_idct(items.buffers["coeffs"][n].T.tolist()))
        want = np.clip(items.buffers["dst"][n] + real, 0, 255)
        worst = max(worst, float(np.abs(got.buffers["dst"][n] - want).max()))
    assert 0.3 < worst <= bound  # rounding to integers alone gives 1/2


def test_the_specs_constants_are_the_standards() -> None:
    assert [cos64(n) for n in range(33)] == list(COS64)


def _lines(kernel: Kernel, values: np.ndarray) -> np.ndarray:
    """The pixels across the edge, p3..q3, per position along it."""
    return values if kernel.id.endswith("_h") else values.swapaxes(1, 2)


@pytest.mark.parametrize("orientation", ["v", "h"])
def test_narrow_loop_filter_is_the_standards(orientation: str) -> None:
    kernel = KERNELS[f"vp9_lpf4_{orientation}"]
    items = vectors.make_items(kernel, 600, 3)
    got = interp.run(kernel, items)
    before = _lines(kernel, items.buffers["dst"])
    after = _lines(kernel, got.buffers["dst"])
    changed = set()
    for n in range(items.count):
        limits = [int(items.params[p][n]) for p in ("blimit", "limit", "thresh")]
        for i in range(8):
            want = narrow_filter(before[n, i].tolist(), *limits)
            assert after[n, i].tolist() == want
            changed.add(tuple(a != b for a, b in zip(before[n, i], want, strict=True)))
    # all the ways there are: nothing, two pixels (high variance), four
    assert len(changed) >= 3 and {sum(c) for c in changed} >= {0, 2, 4}


@pytest.mark.parametrize("orientation", ["v", "h"])
@pytest.mark.parametrize("kind", ["conformant", "boundary"])
@pytest.mark.parametrize(("edge", "depth"), [("16", 8), ("16_10", 10)])
def test_wide_loop_filters_are_the_standards(
    edge: str, depth: int, orientation: str, kind: str
) -> None:
    kernel = KERNELS[f"vp9_lpf{edge}_{orientation}"]
    items = vectors.make_items(kernel, 400, 3, kind)
    before = _lines(kernel, items.buffers["dst"])
    after = _lines(kernel, interp.run(kernel, items).buffers["dst"])
    ran = Counter[str]()
    for n in range(items.count):
        limits = [int(items.params[p][n]) for p in ("blimit", "limit", "thresh")]
        for one, other in zip(before[n].tolist(), after[n].tolist(), strict=True):
            want, which = edge_filter_16(one, *limits, depth=depth)
            assert other == want
            ran[which] += 1
    assert set(ran) == {"none", "4", "8", "16"} and min(ran.values()) > 30


def test_the_orientations_are_transposes() -> None:
    items = vectors.make_items(KERNELS["vp9_lpf4_v"], 100, 5)
    turned = Items({"dst": items.buffers["dst"].swapaxes(1, 2)}, items.params)
    v = interp.run(KERNELS["vp9_lpf4_v"], items).buffers["dst"]
    h = interp.run(KERNELS["vp9_lpf4_h"], turned).buffers["dst"]
    assert np.array_equal(v, h.swapaxes(1, 2))
