# SPDX-License-Identifier: BSD-2-Clause
"""Taps that are the same in all rows that a class can select are constants."""

import textwrap

import numpy as np
import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Op
from daedalus.generator.passes.expand_dot import expand_dot
from daedalus.generator.passes.specialise import specialise

# Four rows of a bank each: of the second one the ends are zero, and one tap is the same.
SPEC = """
dst = k.plane("dst", i16, rows=(0, 1), cols=(0, 8), access="out")
src = k.plane("src", u8, rows=(0, 1), cols=(0, 12))
bank = k.param("bank", u8, 0, 1)
at = k.param("at", u8, 0, 3)
k.item_class("second", bank=(1, 1))
taps = k.table("taps", i16, [[n, n + 1, 2 * n, 7, -n] for n in range(4)] +
               [[0, n + 1, n, 5, 0] for n in range(4)])
with k.stage(x=8) as x:
    dst[0, x] = dot(taps, bank * 4 + at, [src[0, x + n] for n in range(5)])
"""


@pytest.mark.parametrize(("which", "entries", "loads"), [("full", 5, 5), ("second", 2, 3)])
def test_only_what_differs_is_looked_up(tmp_path, which: str, entries: int, loads: int) -> None:
    kernel = kernel_of(tmp_path, HEAD + textwrap.indent(SPEC, "    "))
    made = expand_dot(specialise(kernel, which))
    nodes = [n for s in made.stages for n in s.nodes()]
    assert sum(n.op is Op.TABLE for n in nodes) == entries
    assert sum(n.op is Op.LOAD for n in nodes) == loads
    items = vectors.make_items(kernel, 100, 1)
    if which != "full":
        items.params["bank"][:] = 1
    want, got = interp.run(kernel, items), interp.run(made, items)
    assert np.array_equal(want.buffers["dst"], got.buffers["dst"])
