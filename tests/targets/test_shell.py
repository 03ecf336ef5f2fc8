# SPDX-License-Identifier: BSD-2-Clause
"""What C of every CPU target is made of."""

from pathlib import Path

from lane_specs import BODIES, lanes_kernel

from daedalus.generator.targets.shell import body


def test_locals_that_nothing_reads_are_gone(tmp_path: Path) -> None:
    """Pointers at rows, of which one is made from the next, and variables that a block sets."""
    lines = [
        "int16_t *const c_above1 = c - c_stride;",
        "int16_t *const c_above2 = c_above1 - c_stride;",
        "int16_t *const c_above3 = c_above2 - c_stride;",
        "uint16x8_t low = before_0;",
        "uint16x8_t high = before_1;",
        "if (vgetq_lane_u64(mask, 0) != 0) {",
        "low = vbslq_u16(mask, a_0, before_0);",
        "high = vbslq_u16(mask, a_1, before_1);",
        "}",
        "vst1q_u16(c_above2, low);",
        "const uint8_t *const px_row1 = px;",
    ]
    kept = body(lanes_kernel(tmp_path, BODIES["rows"]), 1, "one_item", lines).lines
    found = [line for line in kept if not line.startswith("(void)")]
    assert found == [x for n, x in enumerate(lines) if n not in (2, 4, 7, 10)]
