# SPDX-License-Identifier: BSD-2-Clause
"""Which values of a stage differ along its axes."""

import textwrap
from pathlib import Path

import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl.along import differing
from daedalus.dsl.ir import Op

BODY = """
src = k.plane("src", u8, rows=(0, 4), cols=(0, 8))
dst = k.plane("dst", i32, rows=(0, 4), cols=(0, 8), access="out")
a = k.params("a", u8, 4, 0, 9)
with k.stage(y=4, x=8) as (y, x):
    by_row = a[y] + 1
    by_column = k.lane(x) * 3
    first = src[0, 0] + 2
    both = by_row * by_column
    dst[y, x] = both + src[y, x] + first
"""


@pytest.mark.parametrize(
    ("axes", "others", "wanted"),
    [
        ("y", (), {"by_row", "both"}),
        ("x", (), {"by_column", "both"}),
        ("yx", (), {"by_row", "by_column", "both"}),
        ("", (), set()),
        ("y", (Op.LOAD,), {"by_row", "both", "first"}),
    ],
)
def test_values_follow_what_they_are_made_of(
    axes: str, others: tuple[Op, ...], wanted: set[str], tmp_path: Path
) -> None:
    (stage,) = kernel_of(tmp_path, HEAD + textwrap.indent(BODY, "    ")).stages
    found = differing(stage, axes, others)
    assert {n.name for n in found if n.name} == wanted
    assert (stage.stores[0].value in found) == bool(axes)
