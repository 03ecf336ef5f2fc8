# SPDX-License-Identifier: BSD-2-Clause
"""The H.264 transforms against the standard's own wording, and against their basis functions."""

import numpy as np
import pytest
from h264_standard import EIGHT, FOUR, Residual, construct

from daedalus.dsl import interp
from daedalus.dsl.interp import Items
from daedalus.generator.compile.registry import load

KERNELS = {e.kernel.id: e.kernel for e in load()}


def _blocks(kind: str, n: int, count: int) -> Items:
    """Coefficients of a kind on random predictions; coeffs[h][v] is d[v][h]."""
    rng = np.random.default_rng(len(kind) + n)
    c = np.zeros((count, n, n), dtype=np.int64)
    match kind:
        case "single":  # one coefficient at a time, both signs
            for item in range(count):
                c[item, item // n % n, item % n] = (-1) ** (item // n**2) * rng.integers(1, 12000)
        case "small":
            c = rng.integers(-60, 61, (count, n, n))
        case "dense":
            c = rng.integers(-900, 901, (count, n, n))
        case "sparse":
            c = rng.integers(-3000, 3001, (count, n, n)) * (rng.random((count, n, n)) < 0.1)
        case "wide":  # many of them beyond what a conformant stream may hold
            c = rng.integers(-32768, 32768, (count, n, n)) * (rng.random((count, n, n)) < 0.2)
        case "extreme":
            c = rng.choice([-32768, 32767, 0, 1, -1], (count, n, n))
    return Items({"dst": rng.integers(0, 256, (count, n, n)), "coeffs": c}, {})


@pytest.mark.parametrize("n", [4, 8])
@pytest.mark.parametrize("kind", ["single", "small", "dense", "sparse", "wide", "extreme"])
def test_inverse_transform_is_the_standards(kind: str, n: int) -> None:
    """Bit-exact for every input; what the standard excludes is never taken for conformant."""
    kernel = KERNELS[f"h264_idct{n}"]
    items = _blocks(kind, n, 200)
    got = interp.run(kernel, items)
    excluded, conformant = [], got.conformant(kernel.defaults)
    for item in range(items.count):
        process = Residual()
        r = process.transform(items.buffers["coeffs"][item].T.tolist())
        want = construct(items.buffers["dst"][item].tolist(), r)
        assert got.buffers["dst"][item].tolist() == want
        excluded.append(not process.conformant)
    assert not (conformant & np.array(excluded)).any()
    assert any(excluded) == (kind in ("wide", "extreme"))
    assert conformant.all() == (kind not in ("wide", "extreme"))


@pytest.mark.parametrize(("n", "basis", "unit"), [(4, FOUR, 2), (8, EIGHT, 8)])
def test_inverse_transform_is_the_sum_of_its_basis_functions(
    n: int, basis: list[list[int]], unit: int
) -> None:
    """Where no shift loses a bit: coefficients that are multiples of unit**2."""
    rng = np.random.default_rng(n)
    d = rng.integers(-6, 7, (200, n, n)) * unit**2
    prediction = rng.integers(0, 256, (200, n, n))
    items = Items({"dst": prediction, "coeffs": d.swapaxes(1, 2)}, {})
    t = np.array(basis)
    h = np.einsum("vy,kvx,xz->kyz", t, d, t) // unit**2
    want = np.clip(prediction + ((h + 32) >> 6), 0, 255)
    assert np.array_equal(interp.run(KERNELS[f"h264_idct{n}"], items).buffers["dst"], want)


def test_dc_alone() -> None:
    """By hand: 100 in both passes; (100 + 32) >> 6 = 2."""
    for n in (4, 8):
        c = np.zeros((1, n, n), dtype=np.int64)
        c[0, 0, 0] = 100
        items = Items({"dst": np.full((1, n, n), 7), "coeffs": c}, {})
        assert (interp.run(KERNELS[f"h264_idct{n}"], items).buffers["dst"] == 9).all()
