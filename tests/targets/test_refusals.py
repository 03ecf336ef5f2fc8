# SPDX-License-Identifier: BSD-2-Clause
"""What a back end cannot lower is refused at the line of the value, with a hint."""

from pathlib import Path

import pytest
from spec_support import HEAD, load_text, marked_line, spec_text

from daedalus.generator.compile.emit import generate
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.c.emit import emit as emit_c
from daedalus.generator.targets.neon.emit import emit as emit_neon
from daedalus.generator.targets.neon.select import NotLowerable
from daedalus.generator.targets.vector.target import VECTOR

WIDE = HEAD.replace('clause="a test"', 'clause="a test", wide=True')
BODIES = {
    "wide product": (
        "with k.stage(i=8) as i:\n"
        "    large = c[0, i] * c[1, i] * c[2, i]\n"
        "    shifted = large >> 31  # <-\n"
        "    px[0, i] = clip_u8(shifted)\n",
        "shr shifted, in [-16384, 16383], has no NEON form",
    ),
    "wide comparison": (
        "with k.stage(i=8) as i:\n"
        "    far = c[0, i] * 131072 > p  # <-\n"
        "    px[0, i] = select(far, 1, px[0, i])\n",
        "gt far, in [0, 1], has no NEON form",
    ),
}


def wide_text(body: str) -> str:
    return spec_text(body).replace(HEAD, WIDE)


@pytest.mark.parametrize("case", BODIES)
def test_neon_refuses_what_it_has_no_rule_for(case: str, tmp_path: Path) -> None:
    body, message = BODIES[case]
    text = wide_text(body)
    entries = load_text(tmp_path, text)
    with pytest.raises(NotLowerable) as caught:
        generate(entries)
    error = caught.value
    assert (error.rule, error.kernel, error.message) == ("neon", "test_it", message)
    assert (error.loc.file, error.loc.line) == ("spec.py", marked_line(text))
    assert error.hint == (
        "lanes are at most 32 bits, 64 for sums of products that are then shifted right:"
        ' give test_it prod = ["c_full"]'
    )


def test_a_target_without_wider_sums_names_none(tmp_path: Path) -> None:
    (entry,) = load_text(tmp_path, wide_text(BODIES["wide product"][0]))
    with pytest.raises(NotLowerable) as caught:
        emit_neon(lower(entry.kernel, options_of("vector")), target=VECTOR)
    assert caught.value.hint == 'lanes are at most 32 bits: give test_it prod = ["c_full"]'


def test_portable_c_follows_every_spec(tmp_path: Path) -> None:
    for n, (body, _) in enumerate(BODIES.values()):
        (entry,) = load_text(tmp_path / str(n), wide_text(body))
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
