# SPDX-License-Identifier: BSD-2-Clause
"""Items one below the other that keep what they have in common; and those that have nothing."""

import textwrap
from pathlib import Path

import pytest
from spec_support import HEAD, kernel_of

from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.neon.tall import _split, emit_tall
from daedalus.generator.targets.neon.target import NEON
from daedalus.generator.targets.shell import Body


def made(kernel: str, class_name: str = "sub8") -> Body | None:
    entry = find(load(), kernel)
    assert entry is not None
    return emit_tall(lower(entry.kernel, options_of("neon", class_name)), 8, NEON)


def test_rows_in_common_stay_in_registers() -> None:
    found = made("vp9_mc_8hv")
    assert found is not None and found.arguments[-1] == "size_t n_pieces"
    lines = list(found.lines)
    turn = lines.index("for (; n_pieces > 0; n_pieces--) {")
    ahead, within = lines[:turn], lines[turn + 1 :]
    # Seven rows ahead, and in each turn eight; what the turn leaves is carried on.
    first = [line for line in ahead if "vld1_u8(&src_above3[-3]" in line]
    assert len(first) == 1 and not any("src_above" in line for line in within)
    carried = [line for line in within if " = " in line and len(line.split()) == 3]
    assert len(carried) == 7
    names = {line.split()[0] for line in carried}
    assert all(any(f" {n} = " in line for line in ahead) for n in names)
    assert within[-3:] == ["dst += 8 * dst_stride;", "src += 8 * src_stride;", "}"]


def test_a_row_is_stored_as_soon_as_what_it_is_made_of_is_there() -> None:
    found = made("vp9_mc_16hv_high", "rows8")
    assert found is not None
    lines = list(found.lines)
    within = lines[lines.index("for (; n_pieces > 0; n_pieces--) {") :]
    loads = [n for n, line in enumerate(within) if "vld1q_u16" in line and "[-3]" in line]
    stores = [n for n, line in enumerate(within) if "vst1q_u16" in line]
    assert len(loads) == 8 and len(stores) == 16
    for n in range(8):  # a row of the temp, then the row of the plane that it is the last one for
        below = loads[n + 1] if n < 7 else len(within)
        assert loads[n] < stores[2 * n] < stores[2 * n + 1] < below


def test_pointers_to_wider_samples_move_too() -> None:
    found = made("vp9_mc_8hv_high", "rows8")
    assert found is not None
    text = "\n".join(found.lines)
    assert "dst = (uint16_t *)((uint8_t *)dst + 8 * dst_stride);" in text


def test_wide_items_go_down_panel_by_panel() -> None:
    found = made("vp9_mc_32hv")
    assert found is not None and found.panel is not None
    assert found.lines[1] == (
        "panel_of_all(dst, dst_stride, src, src_stride, filter, mx, my, n_pieces);"
    )
    assert "for (; n_pieces > 0; n_pieces--) {" in found.panel.lines


def test_a_filter_of_one_direction_has_nothing_in_common() -> None:
    assert made("vp9_mc_8v") is None and made("vp9_mc_8h") is None


SHORT = """
dst = k.plane("dst", u8, rows=(0, 8), cols=(0, 8), access="inout")
src = k.plane("src", u8, rows=(0, 15), cols=(0, 9))
t = k.temp("t", (15, 8))
with k.stage(r=15, x=8) as (r, x):
    t[r, x] = src[r, x] + src[r, x + 1]
with k.stage(y=8, x=8) as (y, x):
    total = (t[y, x] + t[y + 7, x]) >> 2
    with k.when(total > 40):
        dst[y, x] = total
"""


@pytest.mark.parametrize("early", [False, True])
def test_rows_that_a_loop_names_are_not_divided(early: bool, tmp_path: Path) -> None:
    """Turns that may end early stay a loop: its first row needs another row than its last one."""
    kernel = kernel_of(tmp_path, HEAD + textwrap.indent(SHORT, "    "))
    lowered = lower(kernel, options_of("neon", early_out=early))
    assert lowered.stages[1].loops == (("y",) if early else ())
    assert (_split(lowered, 8) is None) == early
    assert (emit_tall(lowered, 8, NEON) is None) == early
