# SPDX-License-Identifier: BSD-2-Clause
"""What NEON does not do yet is refused at its line, never computed wrongly."""

import pytest
from spec_support import kernel_of, spec_text

from daedalus.generator.passes.pipeline import lower
from daedalus.generator.registry import find, load
from daedalus.generator.schedule import Schedule
from daedalus.generator.targets.neon.emit import emit
from daedalus.generator.targets.neon.select import NotLowerable


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("h264_deblock_luma_v", "an array parameter"),
        ("vp9_mc_8h", "an axis whose extent a parameter decides"),
        ("av1_cdef8", "a stage under a condition"),
        ("sand128_nv12", "an axis whose extent a parameter decides"),
    ],
)
def test_refused_at_its_line(name, what):
    entry = find(load(), name)
    assert entry is not None
    with pytest.raises(NotLowerable, match=f"{what} has no NEON form yet") as e:
        emit(lower(entry.kernel, Schedule("neon")))
    assert e.value.loc.file == entry.kernel.loc.file and e.value.loc.line > 0
    assert name in e.value.hint


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
    with pytest.raises(NotLowerable, match="accumulation has no NEON form yet"):
        emit(lower(kernel, Schedule("neon")))
