# SPDX-License-Identifier: BSD-2-Clause
"""Names of variants: a function of the choices, and read back by the parser."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.registry import load
from daedalus.generator.options import (
    BY_TARGET,
    OLDER,
    TARGETS,
    OlderWord,
    Options,
    options_of,
    parse_variant,
    table,
    variant_name,
)

words = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True)
kernel_ids = st.lists(words, min_size=2, max_size=5).map("_".join)
plain = st.from_regex(r"[A-Za-z0-9]{1,8}", fullmatch=True)


@st.composite
def options(draw: st.DrawFn) -> Options:
    """Any options that are possible."""
    target, class_name = draw(st.sampled_from(TARGETS)), draw(plain)
    assume = tuple(sorted(draw(st.sets(plain, max_size=3))))
    chosen = {
        w.field: draw(st.sampled_from(w.values or (False, True))) for w in BY_TARGET[target].words()
    }
    found: Options = options_of(target, class_name, assume=assume, **chosen)
    for w in found.words():
        if w.needs and found.choice(w.field):
            found = found.with_choice(w.needs, True)
    return found


@given(kernel_ids, options())
def test_names_are_read_back(kernel_id: str, made: Options) -> None:
    name = variant_name(kernel_id, made)
    assert parse_variant(name) == (kernel_id, made)
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)  # a function in C, and a file


@given(kernel_ids, options(), kernel_ids, options())
def test_different_choices_have_different_names(
    a: str, first: Options, b: str, second: Options
) -> None:
    same = variant_name(a, first) == variant_name(b, second)
    assert same == ((a, first) == (b, second))


def test_the_documented_example() -> None:
    made = options_of("neon", "full", items=2, assume=("sum16",), early_out=True)
    assert made.name == "neon_full_assumesum16_x2_early"
    assert variant_name("vp9_lpf4_v", made) == (
        "daedalus_vp9_lpf4_v__neon_full_assumesum16_x2_early"
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_word_means_one_thing(target: str) -> None:
    meanings = {w.word: w.meaning for w in BY_TARGET[target].words()}
    for other in TARGETS:
        for w in BY_TARGET[other].words():
            assert meanings.get(w.word, w.meaning) == w.meaning
            assert re.fullmatch(r"[a-z0-9]+", w.word)


@pytest.mark.parametrize("target", TARGETS)
def test_the_page_has_the_tables_and_the_older_words(target: str) -> None:
    page = (repo_root() / "docs" / "options.md").read_text()
    assert "\n".join(table(target)) in page
    for old, new in OLDER[target].items():
        assert f"| {target} | `{old}` | `{new}` |" in page


@pytest.mark.parametrize(
    ("name", "new"),
    [(f"{t}_full_{old}", new) for t in TARGETS for old, new in OLDER[t].items()]
    + [("neon_full_givensum16", "assumesum16")],
)
def test_older_words_are_refused_with_what_to_do(name: str, new: str) -> None:
    with pytest.raises(OlderWord, match=rf"is {new!r} now .* measured anew by ./daedalus tune"):
        parse_variant(f"daedalus_vp9_idct8__{name}")


def test_all_variants_of_the_specs_are_read_back() -> None:
    for e in load():
        for options, _ in e.listed:
            assert parse_variant(variant_name(e.kernel.id, options)) == (e.kernel.id, options)


REFUSED = {
    "": "is not the name of a variant",
    "vp9_idct8__c_full": "is not the name of a variant",
    "daedalus_vp9_idct8_c_full": "is not the name of a variant",
    "daedalus_VP9_idct8__c_full": "is not the name of a variant",
    "daedalus_vp9_idct8__": "is not the name of a variant",
    "daedalus_vp9_idct8__c-full": "is not the name of a variant",
    "daedalus_vp9_idct8__c": "begin with a target (c, vector, neon, glsl, qpu) and a class",
    "daedalus_vp9_idct8__sse_full": "options begin with a target",
    "daedalus_vp9_idct8___c_full": "options begin with a target",
    "daedalus_vp9__idct8__c_full": "options begin with a target",
    "daedalus_vp9_idct8__neon_full_": "unknown option ''",
    "daedalus_vp9_idct8__neon_full_fast": "unknown option 'fast'",
    "daedalus_vp9_idct8__neon_full_assume": "unknown option 'assume'",
    "daedalus_vp9_idct8__neon_full_x0": "unknown option 'x0'",
    "daedalus_vp9_idct8__neon_full_x02": "unknown option 'x02'",
    "daedalus_vp9_idct8__neon_full_x1": "write 'neon_full'",
    "daedalus_vp9_idct8__neon_full_x3": "3 items; possible are (2, 4, 8)",
    "daedalus_vp9_idct8__neon_full_x16": "16 items; possible",
    "daedalus_vp9_idct8__neon_full_r3": "3 rows; possible are (2, 4, 8)",
    "daedalus_vp9_idct8__neon_full_r2_x2": "write 'neon_full_x2_r2'",
    "daedalus_vp9_idct8__neon_full_x2_x2": "write 'neon_full_x2'",
    "daedalus_vp9_idct8__neon_full_early_early": "write 'neon_full_early'",
    "daedalus_vp9_idct8__neon_full_x2_assumea": "write 'neon_full_assumea_x2'",
    "daedalus_vp9_idct8__neon_full_assumeb_assumea": "write 'neon_full_assumea_assumeb'",
    "daedalus_vp9_idct8__neon_full_assumea_assumea": "write 'neon_full_assumea'",
    "daedalus_vp9_idct8__vector_full_dot": "vector has assume<name>, x<n>, r<n>, branch, early",
    "daedalus_vp9_idct8__c_full_x2": "unknown option 'x2'; c has assume<name>",
    "daedalus_vp9_idct8__c_full_early": "unknown option 'early'; c has assume<name>",
    "daedalus_vp9_idct8__glsl_full_pair": "glsl has assume<name>, p<n>, word, unaligned, swar",
    "daedalus_vp9_idct8__glsl_full_unaligned": "unaligned needs word",
    "daedalus_vp9_idct8__qpu_full_pair_word": "write 'qpu_full_word_pair'",
    "daedalus_vp9_idct8__glsl_full_p3": "3 points; possible are (2, 4, 8, 16)",
    "daedalus_vp9_idct8__glsl_full_p1": "write 'glsl_full'",
    "daedalus_vp9_idct8__qpu_full_x2": "qpu has assume<name>, p<n>, word, unaligned, dot, keep",
    "daedalus_vp9_idct8__qpu_full_threads2": "unknown option 'threads2'",
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_texts_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=re.escape(REFUSED[name])) as caught:
        parse_variant(name)
    assert repr(name) in str(caught.value)
