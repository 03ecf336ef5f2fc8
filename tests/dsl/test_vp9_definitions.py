# SPDX-License-Identifier: BSD-2-Clause
"""The VP9 specs against the standard's own wording and, for the transform, the cosine formula."""

from collections import Counter

import numpy as np
import pytest
import vp9_intra
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
def test_inverse_dct_of_more_bits_is_the_standards(kind: str) -> None:
    """The same process, with up to 20 bits in T."""
    kernel = KERNELS["vp9_idct8_high"]
    items = vectors.make_items(kernel, 128, 3, kind)
    got = interp.run(kernel, items)
    overflow = []
    for n in range(items.count):
        dequant, depth = items.buffers["coeffs"][n].T.tolist(), int(items.params["bits"][n])
        want, process = reconstruct(dequant, items.buffers["dst"][n].tolist(), depth=depth)
        assert got.buffers["dst"][n].tolist() == want
        overflow.append(not all(-(2**19) <= x < 2**19 for x in process.stored))
    assert got.broken["t20"].tolist() == overflow
    assert any(overflow) == (kind == "boundary")


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
@pytest.mark.parametrize("kind", ["conformant", "typical", "boundary"])
@pytest.mark.parametrize("edge", ["16", "16_high"])
def test_wide_loop_filters_are_the_standards(edge: str, orientation: str, kind: str) -> None:
    kernel = KERNELS[f"vp9_lpf{edge}_{orientation}"]
    items = vectors.make_items(kernel, 400, 3, kind)
    if "bits" in items.params:
        white = (1 << items.params["bits"]) - 1
        samples = items.buffers["dst"] & white[:, None, None]
        items = Items({"dst": samples}, items.params)
    before = _lines(kernel, items.buffers["dst"])
    after = _lines(kernel, interp.run(kernel, items).buffers["dst"])
    ran = Counter[str]()
    for n in range(items.count):
        limits = [int(items.params[p][n]) for p in ("blimit", "limit", "thresh")]
        depth = int(items.params["bits"][n]) if "bits" in items.params else 8
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


@pytest.mark.parametrize("high", ["", "_high"])
@pytest.mark.parametrize("size", [4, 8, 16, 32])
@pytest.mark.parametrize("mode", [*vp9_intra.MODES, "dc_edge", "dc_none"])
def test_intra_prediction_is_the_standards(mode: str, size: int, high: str) -> None:
    kernel = KERNELS[f"vp9_intra_{mode}{size}{high}"]
    items = vectors.make_items(kernel, 60, 3)
    got = interp.run(kernel, items).buffers["dst"]
    for n in range(items.count):
        given = {b: items.buffers[b][n, 0].tolist() for b in items.buffers if b != "dst"}
        depth = int(items.params["bits"][n]) if "bits" in items.params else 8
        if mode == "dc_none":
            more = int(items.params["more"][n])
            want = np.full((size, size), (1 << (depth - 1)) + more)
        elif mode == "dc_edge":
            want = np.full((size, size), (sum(given["edge"]) + size // 2) // size)
        else:
            want = vp9_intra.predict(mode, size, given, depth)
        assert np.array_equal(got[n], want)
