# SPDX-License-Identifier: BSD-2-Clause
"""Blocks that are skipped where no lane wants them: what is in them, and which stores wait."""

import re

import pytest

from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.neon.branches import Branch, find_branch
from daedalus.generator.targets.neon.emit import emit
from daedalus.generator.targets.neon.select import Selection

OPTIONS = options_of("neon", branch=True, early_out=True)


def made(kernel: str, rows: int = 1) -> tuple[Selection, Branch | None, str]:
    """The last stage's selection, its branch, and the text of the body."""
    entry = find(load(), kernel)
    assert entry is not None
    seen: list[Selection] = []
    lowered = lower(entry.kernel, OPTIONS.with_choice("rows", rows))
    bodies = emit(lowered, seen.append)
    return seen[-1], find_branch(seen[-1]), "\n".join(bodies[-1].lines)


@pytest.mark.parametrize("name", ["vp9_lpf16_v", "vp9_lpf16_h", "vp9_lpf16_high_v"])
def test_the_wide_filter_is_in_a_block_of_the_flat_one(name: str) -> None:
    selection, branch, _ = made(name)
    assert branch is not None
    wide = branch.inner
    assert wide is not None and wide.inner is None
    # Fourteen stores have the wide filter's values, of which eight have none but these, and two
    # none but these and the flat one's.
    stores = selection.stage.stores
    places = [next(a.const for a in s.index if not a.terms) for s in stores]
    assert {places[n] for n in wide.spared} == {-7, -6, -5, -4, 3, 4, 5, 6}
    assert {places[n] for n in branch.spared} == {-3, 2}
    # What is skipped is needed by nothing else.
    skipped = set(branch.needs()) - {need for need, _ in branch.results}
    others = [n for n in selection.reached() if n not in set(branch.needs())]
    assert not skipped & {i for n in others for i in selection.chosen[n].inputs}
    assert not skipped & set(selection.roots)


def test_a_filter_without_a_flat_part_has_no_block() -> None:
    assert made("vp9_lpf4_v")[1] is None


def test_what_holds_everywhere_is_done_alone() -> None:
    """Where all positions get the wide filter, nothing else is computed, nor chosen among."""
    text = made("vp9_lpf16_v")[2]
    _, found, rest = text.partition(") == UINT64_MAX) {")
    inside, end, behind = rest.partition("return;")
    assert found and end and inside.count("vst1_u8(") == 14
    assert "vbsl" not in inside and "vbsl" in behind
    assert "UINT64_MAX" not in made("vp9_lpf8_v")[2]


def test_stores_that_change_nothing_are_not_done() -> None:
    text = made("vp9_lpf16_v")[2].partition("return;")[2].partition("return;")[2]
    assert text.count("vst1_u8(") == 14
    blocks = re.findall(r"if \((anywhere(?:_2)?)\) \{\n((?:vst1_u8.*\n)+)\}", text)
    assert [(flag, body.count("vst1_u8(")) for flag, body in blocks] == [
        ("anywhere_2", 4), ("anywhere", 1), ("anywhere", 1), ("anywhere_2", 4),
    ]  # fmt: skip


def test_rows_are_stored_narrower_where_only_the_middle_changes() -> None:
    """Twice eight columns by transpositions; or else four by a weave, and two; or four alone."""
    text = made("vp9_lpf16_h")[2]
    text = text[text.index("UINT64_MAX") :].partition("return;")[2]
    _, found, rest = text.partition("if (anywhere_2) {\nuint8x16_t")
    assert found
    wide, otherwise, narrow = rest.partition("} else {")
    assert otherwise and wide.count("vst1_u8(") == 16
    assert "if (anywhere) {" in narrow and "daedalus_any_u32 *)&dst" in narrow


@pytest.mark.parametrize("name", ["vp9_lpf8_h", "vp9_lpf8_high_h"])
def test_columns_of_a_row_are_stored_together_though_some_may_not_change(name: str) -> None:
    """All eight rows, with six columns where a position is flat, else with the four near the edge
    at once."""
    text = made(name)[2]
    assert text.count("if (anywhere) {") == 2  # what is computed, and what is stored
    flat, otherwise, narrow = text.rpartition("} else {")
    width = 64 if "high" in name else 32
    assert otherwise and narrow.count(f"*(daedalus_any_u{width} *)&") == 8
    assert narrow.count("dst") == 8
    assert flat.count(f"*(daedalus_any_u{width} *)&") == 8
    assert flat.count(f"*(daedalus_any_u{width // 2} *)&") == 8


def test_sixteen_positions_are_one_register() -> None:
    text = made("vp9_lpf1616_v", rows=2)[2]
    assert "uint8x16_t p0 = vld1q_u8(&dst_above1[0]);" in text
    assert "uint8x8_t p0" not in text
