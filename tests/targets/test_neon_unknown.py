# SPDX-License-Identifier: BSD-2-Clause
"""What NEON does not do yet is refused at its line, never computed wrongly."""

import pytest
from spec_support import kernel_of, spec_text

from daedalus.generator.passes.pipeline import lower
from daedalus.generator.registry import find, load
from daedalus.generator.schedule import Schedule
from daedalus.generator.targets.neon.emit import emit
from daedalus.generator.targets.neon.select import NotLowerable


def test_items_of_different_extents_are_refused_at_the_stage():
    entry = find(load(), "vp9_mc_8h")
    assert entry is not None
    with pytest.raises(NotLowerable, match="cannot differ in extent") as e:
        emit(lower(entry.kernel, Schedule("neon", items=2)))
    assert e.value.loc.file == entry.kernel.loc.file and e.value.loc.line > 0
    assert "vp9_mc_8h" in e.value.hint


def test_items_side_by_side_on_an_axis_cut_into_strips_are_refused(tmp_path):
    kernel = kernel_of(
        tmp_path,
        spec_text(
            """
            far = k.block("far", u8, (40,), access="inout")
            with k.stage(x=40) as x:
                far[x] = 255 - far[x]
            with k.stage(x=8) as x:
                px[0, x] = far[x]
            """
        ),
    )
    assert emit(lower(kernel, Schedule("neon")))
    with pytest.raises(NotLowerable, match="side by side on an axis cut into strips"):
        emit(lower(kernel, Schedule("neon", items=2)))


def test_a_temp_with_a_first_value_is_refused(tmp_path):
    kernel = kernel_of(
        tmp_path,
        spec_text(
            """
            t = k.temp("t", (8, 8), init=0)
            with k.stage(y=8, x=8) as (y, x):
                with k.when(px[y, x] > 3):
                    t[y, x] = px[y, x]
            with k.stage(y=8, x=8) as (y, x):
                px[y, x] = t[y, x]
            """
        ),
    )
    with pytest.raises(NotLowerable, match="a temp with a first value has no NEON form"):
        emit(lower(kernel, Schedule("neon")))


def test_accumulation_over_two_axes_is_refused(tmp_path):
    """Into a temp that an earlier stage wrote: no pass may lose that the store accumulates."""
    kernel = kernel_of(
        tmp_path,
        spec_text(
            """
            t = k.temp("t", (16,))
            with k.stage(n=16) as n:
                t[n] = 0
            with k.stage(y=8, x=8) as (y, x):
                with k.when(px[y, x] > 3):
                    t.accumulate(y + x, px[y, x])
            with k.stage(x=8) as x:
                px[0, x] = clip_u8(t[x])
            """
        ),
    )
    with pytest.raises(NotLowerable, match="accumulation has no NEON form"):
        emit(lower(kernel, Schedule("neon")))
