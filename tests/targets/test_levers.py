# SPDX-License-Identifier: BSD-2-Clause
"""Levers of the lowering to NEON: each turns off what it says, and nothing else."""

import re
from functools import cache

import pytest

from daedalus.generator.cli.common import repo_root
from daedalus.generator.emit import environment
from daedalus.generator.levers import ALL, LEVERS, Lever, Levers, chosen
from daedalus.generator.registry import Entry, load
from daedalus.generator.schedule import Schedule, parse_variant
from daedalus.generator.variants import Variant, make_variant

# For each lever a variant that it changes; small ones, as each is lowered twice.
CHANGED = {
    "widths": "daedalus_h264_deblock_luma_v__neon_full_early",
    "search": "daedalus_av1_cdef8__neon_inpri_r2",
    "dot": "daedalus_vp9_mc_8h__neon_sub8_dot",
    "narrow_taps": "daedalus_vp9_mc_8h__neon_sub8_dot",
    "sqrdmulh": "daedalus_vp9_idct8__neon_dc",
    "bias": "daedalus_vp9_mc_8h__neon_rows8",
    "max_tree": "daedalus_vp9_lpf4_v__neon_full_early",
    "compare": "daedalus_av1_cdef8__neon_inpri_r2",
    "decide": "daedalus_av1_cdef8__neon_inpri_r2",
    "copies": "daedalus_av1_cdef8__neon_inpri_r2",
    "parts": "daedalus_vp9_lpf4_v__neon_full_early",
    "items": "daedalus_h264_idct4__neon_full_x2",
    "rows": "daedalus_av1_cdef8__neon_inpri_r2",
    "class": "daedalus_vp9_idct8__neon_dc",
    "early": "daedalus_vp9_lpf4_v__neon_full_early",
    "branch": "daedalus_vp9_lpf8_v__neon_full_branch_early",
    "order": "daedalus_vp9_lpf4_v__neon_full_early",
    "early_sums": "daedalus_av1_cdef8__neon_insec_r2",
    "lanes": "daedalus_h264_qpel_mc20__neon_full",
    "adjoining": "daedalus_h264_idct4__neon_full_x2",
    "read_later": "daedalus_av1_cdef8__neon_pri",
    "reloads": "daedalus_h264_qpel_mc20__neon_full",
    "pins": "daedalus_h264_qpel_mc20__neon_full",
    "halves": "daedalus_h264_idct4__neon_full_x2",
}


def _entry(kernel: str) -> Entry:
    return next(e for e in load() if e.kernel.id == kernel)


@cache
def _made(name: str, lever: str = "") -> Variant:
    kernel, schedule = parse_variant(name)
    entry = _entry(kernel)
    off = next((x for x in LEVERS if x.name == lever), Lever("", ""))
    return make_variant(
        environment(), entry.kernel, off.schedule(schedule), prod=True, rank=0, spec=entry.spec,
        levers=off.off,
    )  # fmt: skip


def _code(name: str, lever: str = "") -> str:
    """A variant's text without its first comment."""
    return _made(name, lever).text.split("*/", 2)[2]


def test_every_lever_has_a_variant_here_and_a_name_of_its_own() -> None:
    assert [lever.name for lever in LEVERS] == list(CHANGED)


@pytest.mark.parametrize("lever", LEVERS, ids=lambda x: x.name)
def test_a_lever_changes_a_prod_variant(lever: Lever) -> None:
    name = CHANGED[lever.name]
    kernel, schedule = parse_variant(name)
    assert (schedule, True) in _entry(kernel).schedules
    assert _code(name) != _code(name, lever.name)
    switched = (lever.off != ALL) + (lever.schedule(schedule) != schedule)
    assert switched == 1


def test_all_on_is_what_is_generated() -> None:
    for name in set(CHANGED.values()):
        made = _made(name)
        assert (repo_root() / "generated" / made.file).read_text() == made.text


def test_an_unknown_lever_is_refused_with_the_names() -> None:
    assert chosen(()) == LEVERS
    assert [x.name for x in chosen(("bias", "dot"))] == ["bias", "dot"]
    with pytest.raises(ValueError, match=r"'magic' is no lever: widths, search, dot, "):
        chosen(("magic",))


def test_rules_are_left_out_by_name_and_by_ending() -> None:
    some = Levers(without_rules=frozenset({"dmulh", "*_parts"}))
    assert [some.tries(r) for r in ("dmulh", "qadd_parts", "qadd_u", "rdmulh")] == [
        False, False, True, True,
    ]  # fmt: skip


# ------------------------------------------------------------------------- what each turns off


def test_one_width_leaves_no_narrower_operation() -> None:
    # Sums go beyond 8 bits, so nothing but what loads, stores, widens and narrows is in 8.
    narrow = re.compile(r"\bvs?q?(r?h?add|sub|abd|min|max|c[gl][et]|bsl|and|r?shr_n)q?_[us]8\(")
    assert narrow.search(_code(CHANGED["widths"]))
    assert not narrow.search(_code(CHANGED["widths"], "widths"))


def test_without_the_search_the_stage_costs_no_less() -> None:
    costs = []
    kernel, schedule = parse_variant(CHANGED["search"])
    entry = _entry(kernel)
    for levers in (Levers(search=False), ALL):
        total = 0.0

        def add(selection: object) -> None:
            nonlocal total
            chosen_ = selection.chosen  # type: ignore[attr-defined]
            total += sum(chosen_[n].cost for n in selection.reached())  # type: ignore[attr-defined]

        make_variant(
            environment(), entry.kernel, schedule, prod=True, rank=0, spec=entry.spec, watch=add,
            levers=levers,
        )  # fmt: skip
        costs.append(total)
    assert costs[0] > costs[1]


def test_constants_by_lane_or_broadcast() -> None:
    name = CHANGED["lanes"]
    assert "_laneq_" in _code(name)
    code = _code(name, "lanes")
    assert "_laneq_" not in code
    assert "multipliers16" not in code
    assert re.search(r"vml[as]q_n_[us]16\([^;]*\(u?int16_t\)(20|5)\)", code)


def test_demand_order_moves_values_and_no_more() -> None:
    name = CHANGED["order"]

    def shapes(code: str) -> list[str]:
        return sorted(re.findall(r"\bv\w+(?=\()", code))

    assert shapes(_code(name, "order")) == shapes(_code(name))


def test_windows_are_cut_from_two_loads_of_a_row() -> None:
    name = CHANGED["reloads"]
    loads = [len(re.findall(r"vld1_u8\(&src", _code(name, x))) for x in ("", "reloads")]
    cuts = [_code(name, x).count("vext_u8(") for x in ("", "reloads")]
    # Eight rows, six taps: the first and the last run are loaded; the last is moved up, and four
    # are cut.
    assert loads == [8 * 6, 8 * 2]
    assert cuts == [0, 8 * 5]


def test_pins_and_halves_go_from_the_text() -> None:
    for lever, mark in (("pins", "daedalus_whole_"), ("halves", "daedalus_quad_")):
        name = CHANGED[lever]
        assert mark in _code(name)
        assert mark not in _code(name, lever)


def test_words_of_a_schedule_go() -> None:
    schedule = Schedule("neon", "sub8", 2, 2, dot=True, branch=True, early_out=True)
    left = {x.name: x.schedule(schedule).name for x in LEVERS if x.off == ALL}
    assert left == {
        "dot": "neon_sub8_x2_r2_branch_early",
        "items": "neon_sub8_r2_dot_branch_early",
        "rows": "neon_sub8_x2_dot_branch_early",
        "class": "neon_full_x2_r2_dot_branch_early",
        "early": "neon_sub8_x2_r2_dot_branch",
        "branch": "neon_sub8_x2_r2_dot_early",
    }


def test_the_manifest_records_widths_and_choices() -> None:
    name = CHANGED["widths"]
    present, one = _made(name).forms, _made(name, "widths").forms
    assert len(present) == 1
    assert present[0]["8"] > 2 * one[0]["8"]
    assert present[0]["16"] < one[0]["16"]
    assert present[0]["choices"] != one[0]["choices"]
    assert _made(CHANGED["search"]).forms != _made(CHANGED["search"], "search").forms
