# SPDX-License-Identifier: BSD-2-Clause
"""Names of variants: a function of the choices, and read back by the parser."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daedalus.generator.registry import load
from daedalus.generator.schedule import (
    GPU_FLAGS,
    ITEMS,
    POINTS,
    QPU,
    QPU_FLAGS,
    ROWS,
    TARGETS,
    Schedule,
    parse_variant,
    variant_name,
)

words = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True)
kernel_ids = st.lists(words, min_size=2, max_size=5).map("_".join)
plain = st.from_regex(r"[A-Za-z0-9]{1,8}", fullmatch=True)


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Any schedule that is possible."""
    target, class_name = draw(st.sampled_from(TARGETS)), draw(plain)
    assume = tuple(sorted(draw(st.sets(plain, max_size=3))))
    if target == "c":
        return Schedule("c", class_name, assume=assume)
    if target == "glsl":
        flags = {flag: draw(st.booleans()) for flag in GPU_FLAGS}
        points = draw(st.sampled_from(POINTS))
        early = draw(st.booleans())
        return Schedule("glsl", class_name, assume=assume, early_out=early, points=points, **flags)
    if target == QPU:
        flags = {flag: draw(st.booleans()) for flag in QPU_FLAGS}
        points = draw(st.sampled_from(POINTS))
        return Schedule(QPU, class_name, assume=assume, points=points, **flags)
    items, rows = draw(st.sampled_from(ITEMS)), draw(st.sampled_from(ROWS))
    dot = target == "neon" and draw(st.booleans())
    return Schedule(target, class_name, items, rows, assume, dot, draw(st.booleans()))


@given(kernel_ids, schedules())
def test_names_are_read_back(kernel_id: str, schedule: Schedule) -> None:
    name = variant_name(kernel_id, schedule)
    assert parse_variant(name) == (kernel_id, schedule)
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)  # a function in C, and a file


@given(kernel_ids, schedules(), kernel_ids, schedules())
def test_different_choices_have_different_names(
    a: str, first: Schedule, b: str, second: Schedule
) -> None:
    same = variant_name(a, first) == variant_name(b, second)
    assert same == ((a, first) == (b, second))


def test_the_documented_example() -> None:
    schedule = Schedule("neon", "full", 2, 1, ("sum16",), early_out=True)
    assert schedule.name == "neon_full_x2_givensum16_early"
    assert variant_name("vp9_lpf4_v", schedule) == (
        "daedalus_vp9_lpf4_v__neon_full_x2_givensum16_early"
    )


def test_all_variants_of_the_specs_are_read_back() -> None:
    for e in load():
        for schedule, _ in e.schedules:
            assert parse_variant(variant_name(e.kernel.id, schedule)) == (e.kernel.id, schedule)


REFUSED = {
    "": "is not the name of a variant",
    "vp9_idct8__c_full": "is not the name of a variant",
    "daedalus_vp9_idct8_c_full": "is not the name of a variant",
    "daedalus_VP9_idct8__c_full": "is not the name of a variant",
    "daedalus_vp9_idct8__": "is not the name of a variant",
    "daedalus_vp9_idct8__c-full": "is not the name of a variant",
    "daedalus_vp9_idct8__c": "begins with a target (c, vector, neon, glsl, qpu) and a class",
    "daedalus_vp9_idct8__sse_full": "the schedule begins with a target",
    "daedalus_vp9_idct8___c_full": "the schedule begins with a target",
    "daedalus_vp9__idct8__c_full": "the schedule begins with a target",
    "daedalus_vp9_idct8__neon_full_": "unknown choice ''",
    "daedalus_vp9_idct8__neon_full_fast": "unknown choice 'fast'",
    "daedalus_vp9_idct8__neon_full_given": "unknown choice 'given'",
    "daedalus_vp9_idct8__neon_full_x0": "unknown choice 'x0'",
    "daedalus_vp9_idct8__neon_full_x02": "unknown choice 'x02'",
    "daedalus_vp9_idct8__neon_full_x1": "write 'neon_full'",
    "daedalus_vp9_idct8__neon_full_x3": "3 items side by side; possible are (2, 4, 8)",
    "daedalus_vp9_idct8__neon_full_x16": "16 items side by side",
    "daedalus_vp9_idct8__neon_full_r3": "3 rows side by side; possible are (2, 4, 8)",
    "daedalus_vp9_idct8__neon_full_r2_x2": "write 'neon_full_x2_r2'",
    "daedalus_vp9_idct8__neon_full_x2_x2": "write 'neon_full_x2'",
    "daedalus_vp9_idct8__neon_full_early_early": "write 'neon_full_early'",
    "daedalus_vp9_idct8__neon_full_early_x2": "write 'neon_full_x2_early'",
    "daedalus_vp9_idct8__neon_full_givena_x2": "write 'neon_full_x2_givena'",
    "daedalus_vp9_idct8__neon_full_givenb_givena": "write 'neon_full_givena_givenb'",
    "daedalus_vp9_idct8__neon_full_givena_givena": "write 'neon_full_givena'",
    "daedalus_vp9_idct8__c_full_x2": "portable C has one lane at a time and no early-out",
    "daedalus_vp9_idct8__c_full_r2": "portable C has one lane at a time and no early-out",
    "daedalus_vp9_idct8__glsl_full_pair": "pair the QPU's",
    "daedalus_vp9_idct8__neon_full_pair": "pair the QPU's",
    "daedalus_vp9_idct8__c_full_pair": "portable C has one lane at a time and no early-out",
    "daedalus_vp9_idct8__qpu_full_pair_word": "write 'qpu_full_word_pair'",
    "daedalus_vp9_idct8__glsl_full_p3": "3 points an invocation; possible are (2, 4, 8, 16)",
    "daedalus_vp9_idct8__glsl_full_p1": "write 'glsl_full'",
    "daedalus_vp9_idct8__glsl_full_p4_shuffle": "x, r, dot and branch are for vectors",
    "daedalus_vp9_idct8__neon_full_line": "x, r, dot and branch are for vectors",
    "daedalus_vp9_idct8__qpu_full_p4_line_shuffle": "write 'qpu_full_p4_shuffle_line'",
    "daedalus_vp9_idct8__glsl_full_mask_word": "write 'glsl_full_word_mask'",
    "daedalus_vp9_idct8__glsl_full_x2": "x, r, dot and branch are for vectors, p, word",
    "daedalus_vp9_idct8__glsl_full_dot": "x, r, dot and branch are for vectors, p, word",
    "daedalus_vp9_idct8__neon_full_p2": "x, r, dot and branch are for vectors, p, word",
    "daedalus_vp9_idct8__neon_full_word": "x, r, dot and branch are for vectors, p, word",
    "daedalus_vp9_idct8__qpu_full_x2": "the QPU has p, word, shift, pack, dot, pair",
    "daedalus_vp9_idct8__qpu_full_word_mask": "the QPU has p, word, shift, pack, dot, pair",
    "daedalus_vp9_idct8__qpu_full_unifa_pack": "write 'qpu_full_pack_unifa'",
    "daedalus_vp9_idct8__qpu_full_t4_word": "write 'qpu_full_word_t4'",
    "daedalus_vp9_idct8__qpu_full_t2": "unknown choice 't2'",
    "daedalus_vp9_idct8__glsl_full_t4": "x, r, dot and branch are for vectors, p, word",
    "daedalus_vp9_idct8__neon_full_t4": "x, r, dot and branch are for vectors, p, word",
    "daedalus_vp9_idct8__c_full_t4": "portable C has one lane at a time and no early-out",
    "daedalus_vp9_idct8__glsl_full_unifa": "x, r, dot and branch are for vectors, p, word",
    "daedalus_vp9_idct8__neon_full_unifa": "x, r, dot and branch are for vectors, p, word",
    "daedalus_vp9_idct8__c_full_p2": "portable C has one lane at a time and no early-out",
    "daedalus_vp9_idct8__c_full_early": "portable C has one lane at a time and no early-out",
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_texts_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=re.escape(REFUSED[name])) as caught:
        parse_variant(name)
    assert repr(name) in str(caught.value)
