# SPDX-License-Identifier: BSD-2-Clause
"""What a back end cannot lower is refused at the line of the value, with a hint."""

from pathlib import Path

import pytest
from spec_support import load_text, marked_line, spec_text

from daedalus.generator.compile.emit import generate
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.c.emit import emit as emit_c
from daedalus.generator.targets.neon.emit import emit as emit_neon
from daedalus.generator.targets.neon.select import NotLowerable

BODIES = {
    "varying lookup": (
        't = k.table("t", u8, [1, 2, 3])\n'
        "with k.stage(i=8) as i:\n    entry = t[px[0, i]]  # <-\n    px[0, i] = entry\n",
        "table entry, in [1, 3], has no NEON form",
    ),
    "varying row": (
        't = k.table("t", u8, [[1, 2], [0, 3]])\n'
        "with k.stage(i=8) as i:\n"
        "    px[0, i] = clip_u8(dot(t, px[0, i], [px[1, i], px[2, i]]))  # <-\n",
        "table, in [0, 1], has no NEON form",
    ),
}


@pytest.mark.parametrize("case", BODIES)
def test_neon_refuses_what_it_has_no_rule_for(case: str, tmp_path: Path) -> None:
    body, message = BODIES[case]
    text = spec_text(body)
    entries = load_text(tmp_path, text)
    with pytest.raises(NotLowerable) as caught:
        generate(entries)
    error = caught.value
    assert (error.rule, error.kernel, error.message) == ("neon", "test_it", message)
    assert (error.loc.file, error.loc.line) == ("spec.py", marked_line(text))
    assert error.hint.startswith("NEON lanes are at most 32 bits, and tables are looked up")


def test_portable_c_follows_every_spec(tmp_path: Path) -> None:
    for n, (body, _) in enumerate(BODIES.values()):
        (entry,) = load_text(tmp_path / str(n), spec_text(body))
        (only,) = emit_c(lower(entry.kernel, options_of("c")))
        assert only.items == 1 and only.lines


def test_uniform_lookups_are_scalars(tmp_path: Path) -> None:
    body = (
        't = k.table("t", i8, [1, -2, 3])\n'
        "with k.stage(i=8) as i:\n    px[0, i] = clip_u8(px[0, i] + t[p])\n"
    )
    (entry,) = load_text(tmp_path, spec_text(body))
    (only,) = emit_neon(lower(entry.kernel, options_of("neon")))
    assert sum("vdup" in line for line in only.lines) == 1
    assert not any("vqtbl" in line for line in only.lines)


@pytest.mark.parametrize("items", [1, 2, 4, 8])
def test_a_vector_of_several_items_has_a_body_for_one(items: int, tmp_path: Path) -> None:
    body = "with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = clip_u8(px[y, x] + p)\n"
    (entry,) = load_text(tmp_path, spec_text(body))
    bodies = emit_neon(lower(entry.kernel, options_of("neon", items=items)))
    assert [b.items for b in bodies] == sorted({items, 1}, reverse=True)
