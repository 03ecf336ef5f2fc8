# SPDX-License-Identifier: BSD-2-Clause
"""Filters that keep many rows are compiled in their own order; others as compilers like."""

import pytest

from daedalus.generator.compile import emit
from daedalus.generator.compile.registry import find, load
from daedalus.generator.compile.variants import make_variant
from daedalus.generator.options import options_of


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
