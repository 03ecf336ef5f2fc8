# SPDX-License-Identifier: BSD-2-Clause
"""VP9's transforms of 16 and 32 points against the standard's own wording."""

from pathlib import Path

import numpy as np
import pytest
from spec_support import kernel_of
from vp9_small import inverse

from daedalus.dsl import interp
from daedalus.dsl.interp import Items

SPEC = '''# SPDX-License-Identifier: BSD-2-Clause
"""A transform of both passes."""

from daedalus.dsl.kernels.vp9.large import inverse_adst16, inverse_dct
from daedalus.dsl.lang import KernelBuilder, clip_u8, i16, kernel, round_shift, u8


@kernel(clause="8.7")
def test_it(k: KernelBuilder) -> None:
    dst = k.plane("dst", u8, rows=(0, SIZE), cols=(0, SIZE), access="inout")
    coeffs = k.block("coeffs", i16, (SIZE, SIZE))
    fits = k.assumption("t16", i16.lo, i16.hi, why="8.7.1.1")
    rows = k.temp("rows", (SIZE, SIZE))
    with k.stage(v=SIZE) as v:
        rows[v, :] = FIRST(fits, lambda x: x)(coeffs[:, v])
    with k.stage(x=SIZE) as x:
        for y, residual in enumerate(SECOND(fits, lambda x: x)(rows[:, x])):
            dst[y, x] = clip_u8(dst[y, x] + round_shift(residual, 6))
'''
NAMES = {"idct": "inverse_dct", "iadst": "inverse_adst16"}


@pytest.mark.parametrize(
    "name", ["idct16", "iadst16", "idct16_iadst16", "iadst16_idct16", "idct32"]
)
@pytest.mark.parametrize("largest", [60, 8000, 32767])
def test_large_transforms_are_the_standards(tmp_path: Path, name: str, largest: int) -> None:
    """Bit-exact for every input, and conformant exactly where the standard's bounds hold."""
    size = int(name[-2:])
    first, second = (NAMES[name.split("_")[n].removesuffix(str(size))] for n in (0, -1))
    text = SPEC.replace("SIZE", str(size)).replace("FIRST", first).replace("SECOND", second)
    kernel = kernel_of(tmp_path, text)
    rng = np.random.default_rng(largest)
    shape = (100, size, size)
    coeffs = rng.integers(-largest - 1, largest + 1, shape) * (rng.random(shape) < 0.06)
    items = Items({"dst": rng.integers(0, 256, shape), "coeffs": coeffs}, {})
    got = interp.run(kernel, items)
    want, overflow = inverse(name, coeffs, items.buffers["dst"])
    assert (got.buffers["dst"] == want).all()
    assert (got.broken["t16"] == overflow).all()
    assert overflow.any() == (largest > 60)
