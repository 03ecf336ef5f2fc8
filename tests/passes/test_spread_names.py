# SPDX-License-Identifier: BSD-2-Clause
"""Axes that the pass makes have names that no lane of the spec has."""

from pathlib import Path

import numpy as np
import pytest
from spec_support import HEAD, load_text

from daedalus.dsl import interp, vectors
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower

# The lanes are called as the pass would call its axes.
PART = """
    c = k.block("c", u8, (4, 64))
    out = k.block("out", u32, (4,), access="out")
    s = k.temp("s", (4,), init=0)
    with k.stage(part=4, x=64) as (part, x):
        s.accumulate(part, c[part, x], "add")
    with k.stage(n=4) as n:
        out[n] = s[n]
"""
PLACE = """
    c = k.block("c", u8, (8, 8))
    p = k.param("p", u8, 1, 8)
    out = k.block("out", u32, (15,), access="out")
    s = k.temp("s", (15,), init=0)
    with k.stage(s_0=k.upto(p, 8), x=8) as (y, x):
        s.accumulate(y + x, c[y, x], "add")
    with k.stage(n=15) as n:
        out[n] = s[n]
"""


@pytest.mark.parametrize("body", [PART, PLACE], ids=["part", "place"])
@pytest.mark.parametrize("points", [1, 2])
def test_lanes_may_be_called_as_axes_of_the_pass(tmp_path: Path, body: str, points: int) -> None:
    (entry,) = load_text(tmp_path, HEAD + body)
    items = vectors.make_items(entry.kernel, 20, 1, "conformant")
    lowered = lower(entry.kernel, options_of("qpu", points=points))
    right, found = (interp.run(k, items) for k in (entry.kernel, lowered))
    assert np.array_equal(right.buffers["out"], found.buffers["out"])
