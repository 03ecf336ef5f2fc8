# SPDX-License-Identifier: BSD-2-Clause
"""options.toml and decoder signatures: mistakes are refused, with their line."""

from pathlib import Path

import pytest
from spec_support import in_stage, spec_text, write_spec

from daedalus.dsl.errors import SpecError
from daedalus.generator.compile.registry import load
from daedalus.generator.options import options_of

SPEC = spec_text(
    'k.assumption("std", 0, 200, why="a test")(p)\n'
    'k.assumption("extra", 0, 50, why="a test", default=False)(p)\n'
    'k.item_class("small", p=(0, 9))\n' + in_stage("pass")
)

# options.toml -> line, message, beginning of the hint
CASES = {
    "not TOML": ("[test_it]\nprod = [\n", 2, "not valid TOML: ", ""),
    "no value": ("[test_it]\nprod = \n", 2, "not valid TOML: ", ""),
    "unknown kernel": (
        '[test_it]\nprod = ["neon_full"]\n\n[test_its]\nprod = ["neon_full"]\n', 4,
        "no kernel test_its is declared in this folder", "the kernels of this folder are test_it",
    ),
    "unknown pattern": (
        '["other_*"]\nprod = ["neon_full"]\n', 1,
        "no kernel other_* is declared in this folder", "the kernels of this folder are test_it",
    ),
    "two patterns": (
        '["test_*"]\nprod = ["neon_full"]\n["*st_it"]\nprod = ["neon_full"]\n', 3,
        "test_it is of the pattern test_*, too", "give test_it a heading of its own",
    ),
    "class of a pattern": ('["test_*"]\nprod = ["neon_full",\n  "neon_dc"]\n', 3,
                           "neon_dc: no class dc", "its classes are small, full"),
    "not a table": ('test_it = ["neon_full"]\n', 1, "test_it is not a table", "[test_it]"),
    "unknown key": ('[test_it]\nprd = ["neon_full"]\n', 2, "unknown key prd",
                    'keys are "prod" and "other"'),
    "not a list": ('[test_it]\nprod = "neon_full"\n', 2, "prod is not a list of names", ""),
    "not names": ("[test_it]\nprod = [1]\n", 2, "prod is not a list of names", ""),
    "target": ('[test_it]\nprod = ["sse_full"]\n', 2,
               "'daedalus_test_it__sse_full': options begin with a target (c, vector, neon,"
               " glsl, qpu) and a class", ""),
    "no class": ('[test_it]\nprod = ["neon"]\n', 2, "options begin with a target", ""),
    "class": ('[test_it]\nprod = ["neon_full",\n  "neon_dc"]\n', 3, "neon_dc: no class dc",
              "its classes are small, full"),
    "choice": ('[test_it]\nprod = ["neon_full_fast"]\n', 2, "unknown option 'fast'", ""),
    "order": ('[test_it]\nother = ["neon_full_early_x2"]\n', 2,
              "the options are out of order or repeated; write 'neon_full_x2_early'", ""),
    "items": ('[test_it]\nother = ["neon_full_x3"]\n', 2,
              "3 items; possible are (2, 4, 8)", ""),
    "one item": ('[test_it]\nother = ["neon_full_x1"]\n', 2, "write 'neon_full'", ""),
    "c items": ('[test_it]\nother = ["c_full_x2"]\n', 2,
                "unknown option 'x2'; c has assume<name>", ""),
    "c early": ('[test_it]\nother = ["c_full_early"]\n', 2, "unknown option 'early'", ""),
    "assumption": ('[test_it]\nother = ["neon_full_assumex"]\n', 2,
                   "neon_full_assumex: no assumption x", "its assumptions are std, extra"),
    "default": ('[test_it]\nother = ["neon_full_assumestd"]\n', 2,
                "neon_full_assumestd: std holds for every variant anyway", ""),
    "prod assumption": ('[test_it]\nprod = ["neon_full_assumeextra"]\n', 2,
                        "neon_full_assumeextra is not right for every conformant item, so it cannot"
                        " be prod", 'list it under "other"'),
    "twice": ('[test_it]\nprod = ["neon_full"]\nother = ["neon_full"]\n', 2,
              "neon_full is listed twice", ""),
    "fallback": ('[test_it]\nprod = ["neon_full"]\nother = ["c_full"]\n', 3,
                 "c_full is the fallback everywhere, and always prod", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_options_are_refused(case: str, tmp_path: Path) -> None:
    text, line, message, hint = CASES[case]
    (write_spec(tmp_path, SPEC).parent / "options.toml").write_text(text)
    with pytest.raises(SpecError) as caught:
        load(tmp_path)
    error = caught.value
    assert error.rule == "options"
    assert message in error.message
    assert (error.loc.file, error.loc.line) == ("options.toml", line)
    assert error.hint.startswith(hint) if hint else not error.hint


def test_a_pattern_is_for_members_without_a_heading(tmp_path: Path) -> None:
    second = SPEC.replace("test_it", "test_other")
    folder = write_spec(tmp_path, SPEC).parent
    (folder / "second.py").write_text(second)
    text = '["test_*"]\nprod = ["neon_full_x2"]\n[test_it]\nprod = ["neon_small"]\n'
    (folder / "options.toml").write_text(text)
    it, other = load(tmp_path)
    assert options_of("neon", "small") in dict(it.listed) and not it.by_rule
    assert options_of("neon", items=2) in dict(other.listed) and not other.by_rule
    assert options_of("neon", items=2) not in dict(it.listed)


def test_the_longest_pattern_counts(tmp_path: Path) -> None:
    folder = write_spec(tmp_path, SPEC).parent
    text = '["test_*"]\nprod = ["neon_full_x2"]\n["test_i*"]\nprod = ["neon_small"]\n'
    (folder / "options.toml").write_text(text)
    (it,) = load(tmp_path)
    assert options_of("neon", "small") in dict(it.listed)
    assert options_of("neon", items=2) not in dict(it.listed)


def test_variants_are_ranked_and_get_a_fallback(tmp_path: Path) -> None:
    folder = write_spec(tmp_path, SPEC).parent
    (folder / "options.toml").write_text(
        '[test_it]\nprod = ["c_full", "neon_full"]\nother = ["neon_full_assumeextra"]\n'
    )
    (entry,) = load(tmp_path)
    assert entry.listed == (
        (options_of("neon"), True),
        (options_of("c"), True),
        (options_of("c", "small"), True),
        (options_of("neon", assume=("extra",)), False),
    )


def test_a_kernel_without_an_entry_gets_every_class_and_target(tmp_path: Path) -> None:
    write_spec(tmp_path, SPEC)
    (entry,) = load(tmp_path)
    assert {(s.target, s.class_name, prod) for s, prod in entry.listed} == {
        (t, c, True) for t in ("c", "neon") for c in ("small", "full")
    }
