# SPDX-License-Identifier: BSD-2-Clause
"""Programs selected for the QPU, on the interpreter of virtual instructions and, scheduled, on the
simulator, against the reference
interpreter: every kind of items, rows that run downwards and upwards, records in any order."""

from pathlib import Path

import pytest
from spec_support import kernel_of, spec_text

from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import Options, options_of, parse_variant
from daedalus.generator.targets.qpu.best import compile_quick
from daedalus.generator.verify.qpu_trial import Run, Scheduled, interpreted, selected, trials

MAPPINGS = (
    "vp9_idct8__qpu_full_p8_word_keep",  # one element, one block
    "vp9_idct8__qpu_full_p8_word",
    "vp9_idct8__qpu_full",  # 8 elements, temps in memory
    "vp9_idct8__qpu_full_p2_word",
    "vp9_idct8__qpu_full_shuffle",  # 8 elements, temps move between them
    "vp9_idct8__qpu_full_p2_word_shuffle_jointreads",
    # coefficients of two items, read by two elements
    "vp9_idct8__qpu_full_p8_word_keep_jointreads",
    "vp9_idct8__qpu_eob12_p4_word_shuffle",
    "vp9_idct8__qpu_dc_p8_word",
    "vp9_idct8__qpu_eob12_p8_word_keep",
    "vp9_lpf4_v__qpu_full_p4_word",
    "vp9_lpf4_v__qpu_full",
    "vp9_lpf4_h__qpu_full_p4_word",
    "vp9_lpf4_h__qpu_full",
    "vp9_lpf8_v__qpu_full_p4_word",
    "vp9_lpf8_v__qpu_full",
    "vp9_lpf8_h__qpu_full_p4_word",
    "vp9_mc_8h__qpu_full_p8",
    "vp9_mc_8h__qpu_sub8_p8_word",
    "vp9_mc_8h__qpu_sub8_p16_word_unaligned_dot",
    "vp9_mc_8h_avg__qpu_full_p8",
    "vp9_mc_8h_avg__qpu_sub8_p16_word_unaligned_dot",
    "av1_cdef8__qpu_inside_p4_word",
    "av1_cdef8__qpu_full_p4",  # a tile in memory, parts of it conditional
    "av1_cdef8__qpu_inside_p4_word_pair",
    "h264_idct4__qpu_full_p4_word",
    "h264_idct4__qpu_full_p4_word_pair",
    "h264_idct4__qpu_full_p4_keep",
    "h264_idct4__qpu_full_p4_word_jointreads",
    "h264_idct4__qpu_full_p2_shuffle",
    "h264_idct4__qpu_full",
    "h264_idct8__qpu_full_p8_word_keep",
    "h264_deblock_luma_v__qpu_full_p4_word",
    "h264_deblock_luma_v__qpu_full",
    "h264_qpel_mc20__qpu_full_p16_word_unaligned_dot",
    "h264_qpel_mc20__qpu_full_p8_unaligned_dot",
    "h264_qpel_mc20__qpu_full_p8_word",
    "h264_qpel_mc20__qpu_full_p8",
    "sand128_nv12__qpu_full_p16_word",
    "sand128_nv12__qpu_full_p16",
    "sand128_p010__qpu_full_p4_word",
    "sand128_p010__qpu_full_p4_word_recordonce",
    "av1_cdef8__qpu_inside_p4_word_recordonce",
    "h264_deblock_luma_v__qpu_full_recordonce",  # an element of an array by a lookup
    "av1_sgr8__qpu_full_p2",  # stages under opposite conditions, one behind the other
)
# Scheduled as well, by a short search: the bars of what is emitted are test_emitted.py's, every
# other mapping is `./daedalus v3d mappings`'.
ON_SIMULATOR = (
    "vp9_idct8__qpu_full_p8_word_keep",
    "vp9_lpf4_v__qpu_full_p4_word",
    "vp9_mc_8h__qpu_sub8_p16_word_unaligned_dot",
    "av1_cdef8__qpu_inside_p8_word",
    "av1_cdef8__qpu_inpri_p8_word_pair",
    "h264_qpel_mc20__qpu_full_p8_unaligned_dot",
    "vp9_idct8__qpu_full",
    "vp9_idct8__qpu_full_shuffle",
    "h264_idct8__qpu_full_p4_word_shuffle_jointreads",
    "vp9_lpf4_h__qpu_full_p4_word",
    "vp9_mc_8h__qpu_full_p8",
    "sand128_nv12__qpu_full_p16_word",
    "sand128_p010__qpu_full_p4_word",
    "sand128_nv12__qpu_full_p16_word_recordonce",
    "h264_deblock_luma_v__qpu_full_recordonce",
)


def _parsed(variant: str) -> tuple[Kernel, Options]:
    kernel_id, options = parse_variant(f"daedalus_{variant}")
    entry = find(load(), kernel_id)
    assert entry is not None
    return entry.kernel, options


def _compare(variant: str, count: int, run: Run) -> None:
    kernel, options = _parsed(variant)
    compared = 0
    for kind, outcome in trials(kernel, options, count, run=run):
        assert not outcome.mismatches, f"{kind} items: {outcome.first}"
        assert not outcome.strayed, f"{kind} items: {outcome.first}"
        compared += outcome.conformant
    assert compared >= count // len(kernel.class_names)  # each gets as many


@pytest.mark.parametrize("variant", MAPPINGS)
def test_programs_do_what_the_reference_does(variant: str) -> None:
    _compare(variant, 60, interpreted)


@pytest.mark.parametrize("variant", ON_SIMULATOR)
def test_scheduled_programs_do_so_on_the_simulator(variant: str) -> None:
    """Strictly."""
    run = Scheduled(2, compile_quick)
    _compare(variant, 60, run)
    (code,) = run.code.values()
    assert code.bound <= code.trip <= 2 * code.bound


def test_a_trip_is_as_many_items_as_there_is_room_for() -> None:
    entry = find(load(), "vp9_lpf4_v")
    assert entry is not None
    for points, items in ((1, 2), (4, 8), (8, 16)):
        assert selected(entry.kernel, options_of("qpu", points=points)).items == items


def test_a_program_that_does_nothing_is_told() -> None:
    """The comparison finds what stores nothing."""
    entry = find(load(), "h264_idct4")
    assert entry is not None
    options = options_of("qpu", points=4, word=True)

    def nothing(*_: object) -> int:
        return 0

    outcomes = trials(entry.kernel, options, 30, run=nothing)
    assert any(o.mismatches for _, o in outcomes)


OPPOSITE = """
f = k.temp("f", (8, 8))
some = k.table("some", u16, (0, 5, 0, 7, 3, 0, 0, 9))[p & 7]
with k.stage(y=8, x=8, given=some > 0) as (y, x):
    f[y, x] = px[y, x] >> 1
with k.stage(y=8, x=8, given=some <= 0) as (y, x):
    f[y, x] = px[y, 7 - x]
with k.stage(y=8, x=8) as (y, x):
    px[y, x] = f[y, x]
"""


@pytest.mark.parametrize("points", [2, 4, 8])
def test_a_stages_condition_is_looked_up_whatever_the_stage_before_did(
    points: int, tmp_path: Path
) -> None:
    """Else, where that one is left out, nothing would be known of it."""
    kernel = kernel_of(tmp_path, spec_text(OPPOSITE))
    for kind, outcome in trials(kernel, options_of("qpu", points=points), 60):
        assert not outcome.mismatches, f"{kind} items: {outcome.first}"
