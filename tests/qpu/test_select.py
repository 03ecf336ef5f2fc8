# SPDX-License-Identifier: BSD-2-Clause
"""Programs selected for the QPU, on the interpreter of virtual instructions, against the reference
interpreter: every kind of items, rows that run downwards and upwards, records in any order."""

import pytest

from daedalus.generator.registry import find, load
from daedalus.generator.schedule import Schedule
from daedalus.generator.targets.qpu.trial import selected, trials

# kernel, class, points, word, pack
MAPPINGS = (
    ("vp9_idct8", "full", 8, True, True),  # one element, one block
    ("vp9_idct8", "full", 8, True, False),
    ("vp9_idct8", "full", 1, False, False),  # 8 elements, temps in memory
    ("vp9_idct8", "full", 2, True, False),
    ("vp9_idct8", "dc", 8, True, False),
    ("vp9_idct8", "eob12", 8, True, True),
    ("vp9_lpf4_v", "full", 4, True, False),
    ("vp9_lpf4_v", "full", 1, False, False),
    ("vp9_lpf4_h", "full", 4, True, False),
    ("vp9_lpf4_h", "full", 1, False, False),
    ("vp9_lpf8_v", "full", 4, True, False),
    ("vp9_lpf8_v", "full", 1, False, False),
    ("vp9_lpf8_h", "full", 4, True, False),
    ("vp9_mc_8h", "full", 8, False, False),
    ("vp9_mc_8h", "sub8", 8, True, False),
    ("vp9_mc_8h_avg", "full", 8, False, False),
    ("av1_cdef8", "inside", 4, True, False),
    ("av1_cdef8", "full", 4, False, False),  # a tile in memory, parts of it conditional
    ("h264_idct4", "full", 4, True, False),
    ("h264_idct4", "full", 4, False, True),
    ("h264_idct4", "full", 1, False, False),
    ("h264_idct8", "full", 8, True, True),
    ("h264_deblock_luma_v", "full", 4, True, False),
    ("h264_deblock_luma_v", "full", 1, False, False),
    ("h264_qpel_mc20", "full", 8, True, False),
    ("h264_qpel_mc20", "full", 8, False, False),
    ("sand128_nv12", "full", 16, True, False),
    ("sand128_nv12", "full", 16, False, False),
    ("sand128_p010", "full", 4, True, False),
)


@pytest.mark.parametrize(("kernel_id", "class_name", "points", "word", "pack"), MAPPINGS)
def test_programs_do_what_the_reference_does(
    kernel_id: str, class_name: str, points: int, word: bool, pack: bool
) -> None:
    entry = find(load(), kernel_id)
    assert entry is not None
    schedule = Schedule("qpu", class_name, points=points, word=word, pack=pack)
    compared = 0
    for kind, outcome in trials(entry.kernel, schedule, 60):
        assert not outcome.mismatches, f"{kind} items: {outcome.first}"
        assert not outcome.strayed, f"{kind} items: {outcome.first}"
        compared += outcome.conformant
    assert compared >= 20


def test_a_batch_is_as_many_items_as_there_is_room_for() -> None:
    entry = find(load(), "vp9_lpf4_v")
    assert entry is not None
    for points, items in ((1, 2), (4, 8), (8, 16)):
        assert selected(entry.kernel, Schedule("qpu", points=points)).items == items


def test_a_program_that_does_nothing_is_told() -> None:
    """The comparison finds what stores nothing."""
    entry = find(load(), "h264_idct4")
    assert entry is not None
    schedule = Schedule("qpu", points=4, word=True)

    def nothing(*_: object) -> int:
        return 0

    outcomes = trials(entry.kernel, schedule, 30, run=nothing)
    assert any(o.mismatches for _, o in outcomes)
