# SPDX-License-Identifier: BSD-2-Clause
"""Filters that keep many rows are compiled in their own order; others as compilers like."""

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from spec_support import HEAD, kernel_of

from daedalus.generator.compile import emit
from daedalus.generator.compile.registry import find, load
from daedalus.generator.compile.variants import make_variant
from daedalus.generator.options import options_of
from daedalus.generator.passes.loops import crowded


@pytest.mark.parametrize(
    ("kernel", "class_name", "in_order"),
    [
        ("vp9_mc_16v_high", "rows8", True),  # eight rows of two registers, and sums of four
        ("vp9_mc_16v", "sub8", False),  # the same of bytes
        ("vp9_mc_16h_high", "rows8", False),  # no row is read twice
        ("vp9_mc_8hv", "sub8", True),  # rows are carried on
    ],
)
def test_order_is_kept(kernel: str, class_name: str, in_order: bool) -> None:
    entry = find(load(), kernel)
    assert entry is not None
    made = make_variant(
        emit.environment(), entry.kernel, options_of("neon", class_name), prod=True, rank=0, spec=""
    )
    assert any("neon_order.h" in i for i in made.includes) == in_order


def test_rows_of_a_loop_are_not_alive_at_once(tmp_path: Path) -> None:
    """Eight rows of one register each, which a vector holds all or a loop does one by one."""
    body = """
src = k.plane("src", u16, rows=(0, 8), cols=(0, 11), hi=1023)
dst = k.plane("dst", u16, rows=(0, 8), cols=(0, 8), access="out")
with k.stage(y=8, x=8) as (y, x):
    near = [src[y, x + n] for n in range(4)]
    dst[y, x] = (max(near[0], near[3]) + max(near[1], near[2]) + 1) >> 1
"""
    kernel = kernel_of(tmp_path, HEAD + textwrap.indent(body, "    "))
    (stage,) = kernel.stages
    of = {n: crowded(replace(kernel, stages=(replace(stage, vector=n),))) for n in (1, 2)}
    assert of == {1: False, 2: True}
