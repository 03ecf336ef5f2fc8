# SPDX-License-Identifier: BSD-2-Clause
"""Which coefficients H.264 8.5.12 calls conformant at 8 bits: the ends of what it bounds."""

import numpy as np
import pytest

from daedalus.dsl import interp
from daedalus.dsl.interp import Items
from daedalus.generator.compile.registry import find, load

# (h, v) -> coefficient, and whether the item is conformant
CASES = {
    "the last pass ends at 2**15 - 33": ({(0, 0): 32735}, True),
    "and not beyond": ({(0, 0): 32736}, False),
    "the first pass ends at 2**15 - 1": ({(0, 1): 32767, (0, 3): -100}, True),
    "both reach down to -2**15": ({(0, 0): -32768}, True),
}


@pytest.mark.parametrize("name", CASES)
def test_ends_of_what_is_conformant(name: str) -> None:
    coefficients, conformant = CASES[name]
    entry = find(load(), "h264_idct4")
    assert entry is not None
    kernel = entry.kernel
    coeffs = np.zeros((1, 4, 4), dtype=np.int64)
    for place, value in coefficients.items():
        coeffs[0][place] = value
    items = Items({"dst": np.zeros((1, 4, 4), dtype=np.int64), "coeffs": coeffs}, {})
    assert interp.run(kernel, items).conformant(kernel.defaults).tolist() == [conformant]
