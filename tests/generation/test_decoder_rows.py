# SPDX-License-Identifier: BSD-2-Clause
"""Decoders' functions for higher blocks than an item is: how they are cut, and what cannot be."""

import re
from pathlib import Path

import pytest
from entries_support import HEAD_ONLY, made, refused, spec

from daedalus.dsl.errors import SpecError
from daedalus.generator.compile.emit import generate
from daedalus.generator.compile.registry import load
from daedalus.generator.host import native

ROWS = """\
from daedalus.dsl.lang import *

@kernel(clause="a test", decoders={{"dec": "dst dst.stride src src.stride rows+"}})
def test_rows(k):
    dst = k.plane("dst", {dtype}, rows=(0, 8), cols=(0, 8), access="inout")
    src = k.plane("src", {dtype}, rows=(-1, 9), cols=(0, 16))
    rows = k.param("rows", u8, {lo}, 8)
{declarations}
    with k.stage(y={rows}, x={columns}) as (y, x):
        {body}
"""


def rows_spec(body: str, dtype: str = "u8", **words: str) -> str:
    return ROWS.format(
        body=body,
        dtype=dtype,
        lo=words.get("lo", "1"),
        rows=words.get("rows", "k.upto(rows, 8)"),
        columns=words.get("columns", "8"),
        declarations="    " + words.get("declarations", "pass"),
    )


def test_higher_blocks_are_one_call_of_the_function_for_them(tmp_path: Path) -> None:
    header, source = made(tmp_path, rows_spec("dst[y, x] = max(src[y - 1, x], dst[y, x])"))
    assert "* rows may be more than 8, too." in header
    name, names = "daedalus_dec_test_rows", "(dst, dst_stride, src, src_stride, "
    assert (
        f"if (rows > 8) {{ if (rows % 8 != 0) {{ {name}__odd{names}rows); return; }}"
        f" daedalus_tall_test_rows__c_full{names}(size_t)rows / 8); return; }}"
        f" daedalus_item_test_rows__c_full{names}rows); }}" in source
    )
    (text,) = (v.text for v in generate(load(tmp_path)).variants)
    assert (
        "void daedalus_tall_test_rows__c_full(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t"
        " *src, ptrdiff_t src_stride, size_t n_pieces) { for (; n_pieces > 0; n_pieces--) {"
        " one_item_test_rows__c_full(dst, dst_stride, src, src_stride, 8); dst += 8 * dst_stride;"
        " src += 8 * src_stride; } }" in " ".join(text.split())
    )


def test_only_classes_of_all_rows_have_a_function_for_higher_blocks(tmp_path: Path) -> None:
    classes = "".join(
        f'k.item_class("{name}", rows=({rows}, {rows}), why="a test")\n    '
        for name, rows in (("whole", 8), ("half", 4))
    )
    spec(tmp_path, rows_spec("dst[y, x] = src[y, x]", declarations=classes))
    listed = tmp_path / "family" / "options.toml"
    listed.write_text('[test_rows]\nprod = ["c_whole", "c_half", "c_full"]\n')
    variants = generate(load(tmp_path)).variants
    assert [v.options.class_name for v in variants if v.tall_name] == ["whole"]


def test_rows_below_the_whole_pieces_are_done_apart(tmp_path: Path) -> None:
    _, source = made(tmp_path, rows_spec("dst[y, x] = src[y, x]"))
    name = "daedalus_dec_test_rows"
    names = "(dst, dst_stride, src, src_stride, "
    assert (
        f"const int n_whole = rows / 8 * 8; {name}{names}n_whole);"
        f" {name}(dst + n_whole * dst_stride, dst_stride, src + n_whole * src_stride, src_stride,"
        " rows - n_whole); }" in source
    )


def test_all_pieces_have_the_parameters_of_the_block(tmp_path: Path) -> None:
    text = rows_spec(
        "dst[y, x] = wrap(src[y, x] + a[1] + p + q, u8)",
        declarations='a = k.params("a", i8, 2, 0, 9)\n    p = k.param("p", u16, 0, 9)\n'
        '    q = k.param("q", u8, 0, 9)',
    ).replace("rows+", "rows+ a p q=4")
    _, source = made(tmp_path, text)
    values = "(dst, dst_stride, src, src_stride, a, p, 4, (size_t)rows / 8);"
    assert f"daedalus_tall_test_rows__c_full{values}" in source


def test_rows_may_be_filtered_twice(tmp_path: Path) -> None:
    """A temp of more rows than a piece has is filled for each piece anew."""
    body = "dst[y, x] = min(t[y, x], t[y + 2, x])"
    text = rows_spec(body, declarations='t = k.temp("t", (10, 8))')
    first = "    with k.stage(y=k.upto(rows + 2, 10), x=8) as (y, x):\n"
    first += "        t[y, x] = src[y - 1, x]\n"
    at = text.index("    with k.stage(")
    header, _ = made(tmp_path, text[:at] + first + text[at:])
    assert "* rows may be more than 8, too." in header


def test_strides_are_bytes_in_pieces_too(tmp_path: Path) -> None:
    _, source = made(tmp_path, rows_spec("dst[y, x] = src[y, x]", "u16"))
    dst = "(uint16_t *)((uint8_t *)dst + n_whole * dst_stride), dst_stride, "
    src = "(const uint16_t *)((const uint8_t *)src + n_whole * src_stride), src_stride, "
    assert f"({dst}{src}rows - n_whole);" in source


def test_locals_of_entries_are_named_like_nothing_of_a_spec(tmp_path: Path) -> None:
    """A spec may use any word that the language does not refuse, such as these."""
    words = ("whole", "pieces", "names", "way", "unused1", "features", "places", "slot")
    text = rows_spec(
        "dst[y, x] = wrap(src[y, x] + " + " + ".join(words) + ", u8)",
        declarations="".join(f'{w} = k.param("{w}", u8, 0, 9)\n    ' for w in words),
    ).replace("rows+", f"rows+ - {' '.join(words)}")
    spec(tmp_path, text)
    files = generate(load(tmp_path)).files
    for name, content in files.items():
        place = tmp_path / "generated" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    own = tmp_path / "generated"
    native.run(
        [native.compiler("host"), "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow"]
        + ["-Werror", f"-I{own / 'src'}"]
        + [f"-I{folder}" for folder in native.library_includes(own / "include")]
        + [own / "src" / "decoder_dec.c"]
    )
    source = files["src/decoder_dec.c"]
    found = set(re.findall(r"^  const (?:int|size_t|\w+_meta) (\w+) =", source, re.MULTILINE))
    assert found == {"n_whole"}


@pytest.mark.parametrize("word", ["meta", "n_pieces", "n_whole"])
def test_words_of_entries_are_refused_in_specs(word: str, tmp_path: Path) -> None:
    text = rows_spec("dst[y, x] = src[y, x]", declarations=f'k.param("{word}", u8, 0, 9)')
    error = refused(tmp_path, text.replace("rows+", f"rows+ {word}"), 8)
    assert error.message.startswith(f"{word} means something else in C")


def test_arguments_with_one_name_are_refused(tmp_path: Path) -> None:
    text = rows_spec(
        "dst[y, x] = src[y, x]", declarations='unused0 = k.param("unused0", u8, 0, 9)'
    ).replace("rows+", "rows unused0 -")
    assert refused(tmp_path, text, 3).message == "dec: two arguments would be unused0 in C"


# body and declarations -> why
UNCUT = {
    "all rows": ({"rows": "8"}, "dst[y, x] = src[y, x]",
                 "a stage has not as many rows as rows says"),
    "at least two": ({"lo": "2"}, "dst[y, x] = src[y, x]",
                     "rows is at least 2, and the last piece may be lower"),
    "row number": ({}, "dst[y, x] = wrap(src[y, x] + k.lane(y), u8)", "values depend on the row"),
    "count": ({}, "dst[y, x] = wrap(src[y, x] + rows, u8)", "values depend on rows"),
    "columns": ({"columns": "k.upto(2 * rows, 8)"}, "dst[y, x] = src[y, x]",
                "values depend on rows"),
    "above": ({}, "dst[y, x] = min(src[y, x], src[0, x])", "src is not indexed by the row"),
    "diagonal": ({}, "dst[y, x] = src[y, x + y]", "src is not indexed by the row"),
    "array": ({"declarations": 'a = k.params("a", u8, 8, 0, 9)'}, "dst[y, x] = a[y]",
              "values of a depend on the row"),
    "temp": ({"declarations": 't = k.temp("t", (8, 8))'},
             "t[x, y] = src[y, x]\n        dst[y, x] = src[y, x]",
             "t is not indexed by the row"),
    "first values": ({"declarations": 't = k.temp("t", (8, 8), init=1)'},
                     "t[y, x] = src[y, x]\n        dst[y, x] = src[y, x]",
                     "a temp has a first value"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNCUT)
def test_rows_that_do_not_stand_alone_are_refused(case: str, tmp_path: Path) -> None:
    words, body, reason = UNCUT[case]
    error = refused(tmp_path, rows_spec(body, **words), 3)
    assert error.message == f"dec: 'rows+': higher items cannot be done in pieces: {reason}"


def test_more_rows_than_there_are_cannot_be_stored(tmp_path: Path) -> None:
    text = rows_spec("dst[y, x] = src[y, x]", rows="k.upto(rows + 1, 9)")
    text = text.replace("rows=(0, 8)", "rows=(0, 9)").replace("rows=(-1, 9)", "rows=(-1, 10)")
    assert "a stage stores more rows than rows says" in refused(tmp_path, text, 3).message


def test_a_plane_that_is_stored_in_two_rows_is_refused(tmp_path: Path) -> None:
    text = rows_spec("dst[y, x] = src[y, x]").replace("rows=(0, 8)", "rows=(0, 9)")
    text += "    with k.stage(y=k.upto(rows, 8), x=8) as (y, x):\n"
    text += "        dst[y + 1, x] = src[y, x]\n"
    assert "pieces: dst is stored, and used in other rows" in refused(tmp_path, text, 3).message


STEPS = """
def test_steps(k):
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 4), access="out")
    src = k.plane("src", u8, rows=(0, 5), cols=(0, 4))
    at, step = (k.param(name, u8, lo, hi) for name, lo, hi in (("at", 0, 3), ("step", 1, 4)))
    rows = k.param("rows", u8, 1, 4)
    with k.stage(y=k.upto(rows, 4), x=4) as (y, x):
        dst[y, x] = src[(at + k.lane(y) * step) >> {shift}, x]
"""


def test_higher_blocks_begin_where_steps_lead(tmp_path: Path) -> None:
    signature = "dst dst.stride src src.stride rows+ at+step@src/4 step"
    _, source = made(tmp_path, HEAD_ONLY.format(signature=signature) + STEPS.format(shift=2))
    assert (
        "for (int n_left = rows; n_left > 0; n_left -= 4) { rows = n_left < 4 ? n_left : 4;"
        in source
    )
    assert (
        "dst = dst + 4 * dst_stride; at += 4 * step; src = src + at / 4 * src_stride; at %= 4; }"
        in source
    )


def test_steps_that_the_kernel_does_not_take_are_refused(tmp_path: Path) -> None:
    signature = "dst dst.stride src src.stride rows+ at+step@src/4 step"
    text = HEAD_ONLY.format(signature=signature) + STEPS.format(shift=3)
    spec(tmp_path, text)
    with pytest.raises(SpecError, match="items of fewer rows, one below the other, differ"):
        generate(load(tmp_path))
