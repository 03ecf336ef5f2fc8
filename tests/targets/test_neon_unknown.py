# SPDX-License-Identifier: BSD-2-Clause
"""What NEON does not do yet is refused at its line, never computed wrongly."""

import pytest

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
