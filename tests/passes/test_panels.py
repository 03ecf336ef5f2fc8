# SPDX-License-Identifier: BSD-2-Clause
"""Which items are cut into panels, and that panels compute the same."""

import textwrap
from collections.abc import Callable

import numpy as np
import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import options_of
from daedalus.generator.passes.panels import cut_panels, lanes_at_once
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.neon.emit import emit
from daedalus.generator.targets.neon.target import NEON, Target
from daedalus.generator.targets.vector.target import VECTOR

Make = Callable[[str], Kernel]

PLANES = """
src = k.plane("src", u8, rows=(0, 4), cols=(-2, {read}))
dst = k.plane("dst", u8, rows=(0, 4), cols=(0, {width}), access="inout")
p = k.param("p", u8, 0, 100)
"""
# More values than a row of 64 or 32 may have.
HEAVY = "sum(src[y, x + n] * (3 + n) for n in range(-2, 3)) * 5"


@pytest.fixture
def spec(tmp_path) -> Make:
    """A kernel with a source 4 columns wider than its destination."""

    def make(body: str, width: int = 48) -> Kernel:
        planes = PLANES.format(width=width, read=width + 2)
        return kernel_of(tmp_path, HEAD + textwrap.indent(planes + body, "    "))

    return make


def find_member(name: str) -> Kernel:
    entry = find(load(), name)
    assert entry is not None
    return entry.kernel


def one_stage(value: str, width: int = 48) -> str:
    return (
        f"with k.stage(y=4, x={width}) as (y, x):\n    dst[y, x] = clip_u8(round_shift({value}, 6))"
    )


def two_stages(read: str, *, wide: str = "mid[y, x] = " + HEAVY) -> str:
    return f"""
mid = k.temp("mid", (4, 48))
with k.stage(y=4, x=48) as (y, x):
    {wide}
with k.stage(y=4, x=48) as (y, x):
    dst[y, x] = clip_u8(round_shift({read}, 8))
"""


def assert_same(before: Kernel, after: Kernel) -> None:
    for kind in ("conformant", "boundary"):
        items = vectors.make_items(before, 200, 1, kind)
        want, got = interp.run(before, items), interp.run(after, items)
        for name, values in want.buffers.items():
            assert np.array_equal(values, got.buffers[name]), name
            assert np.array_equal(want.written[name], got.written[name]), name
        assert np.array_equal(want.in_range, got.in_range)


@pytest.mark.parametrize(
    "body",
    [
        one_stage(HEAVY),
        one_stage(f"{HEAVY} + dst[y, x]"),
        two_stages("mid[y, x] * p"),
    ],
    ids=["reads beside itself", "reads what it writes", "a temp"],
)
def test_panels_compute_the_same(spec: Make, body: str) -> None:
    kernel = spec(body)
    cut = cut_panels(kernel)
    assert cut.panels is not None and (cut.panels.count, cut.panels.lanes) == (3, 16)
    assert [n for s in cut.stages for _, n in s.dims[-1:]] == [16] * len(cut.stages)
    assert cut.buffer("dst").shape[-1] == (0, 16) and cut.buffer("src").shape[-1] == (-2, 18)
    assert_same(kernel, cut)


@pytest.mark.parametrize(
    "body",
    [
        one_stage(f"{HEAVY} + k.lane(x)"),
        one_stage(f"{HEAVY} + src[y, -1]"),
        two_stages("mid[y, x] + mid[y, 0]"),
        two_stages("mid[y, 47 - x]"),
        two_stages("mid[y, x]", wide=f"mid[y, x] = {HEAVY}\n    dst[y, 47 - x] = 3"),
        one_stage(HEAVY).replace("x=48", "x=k.upto(p, 48)"),
        one_stage(HEAVY).replace("x=48", "x=40"),
        "with k.stage(x=48, y=4) as (x, y):\n    dst[y, x] = clip_u8(src[y, x] + p)",
    ],
    ids=["the lane's number", "a plane that moves and stays", "another panel's temp", "mirrored",
         "stores mirrored", "a limit", "no multiple", "another axis inside"],
)  # fmt: skip
def test_what_panels_share_or_tell_apart_is_not_cut(spec: Make, body: str) -> None:
    kernel = spec(body)
    assert cut_panels(kernel) is kernel


@pytest.mark.parametrize(("value", "lanes"), [("src[y, x]", 64), (HEAVY, 16)])
def test_few_values_make_wide_rows(spec: Make, value: str, lanes: int) -> None:
    kernel = spec(one_stage(value))
    assert lanes_at_once(kernel.stages[0]) == lanes
    assert (cut_panels(kernel) is kernel) == (lanes == 64)


def test_items_as_wide_as_a_panel_stay_as_they_are(spec: Make) -> None:
    """And those side by side, of which a vector holds several."""
    wide, narrow = spec(one_stage(HEAVY)), find_member("vp9_mc_16v")
    assert lower(wide, options_of("neon", "full")).panels is not None
    assert lower(wide, options_of("neon", "full", items=2)).panels is None
    assert lower(wide, options_of("c", "full")).panels is None
    assert lower(narrow, options_of("neon", "sub8")).panels is None


@pytest.mark.parametrize("target", [NEON, VECTOR], ids=["neon", "vector"])
def test_a_panel_is_a_function_that_the_item_calls_in_a_loop(spec: Make, target: Target) -> None:
    kernel = lower(spec(one_stage(HEAVY)), options_of(target.name, "full"))
    (body,) = emit(kernel, target=target)
    assert body.panel is not None and body.panel.name == "one_panel"
    assert body.lines == (
        "for (int n_panel = 0; n_panel < 3; n_panel++) {",
        "one_panel(src, src_stride, dst, dst_stride);",
        "src += 16;",
        "dst += 16;",
        "}",
    )
    assert "x = 0..15" in "\n".join(body.panel.lines)
