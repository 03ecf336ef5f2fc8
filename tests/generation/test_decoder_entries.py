# SPDX-License-Identifier: BSD-2-Clause
"""Functions with a decoder's signature: what is generated, and what is refused, with its line."""

import re
from pathlib import Path

import pytest
from entries_support import HEAD_ONLY, made, refused, spec
from spec_support import HEAD, in_stage, kernel_of, marked_line, spec_text

from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.clearing import clearing
from daedalus.generator.compile.emit import generate
from daedalus.generator.compile.registry import load
from daedalus.generator.host import native

HINT = "its arguments, in the decoder's order, are: "


def usual(declared: str, body: str = "") -> str:
    """The usual spec with this value for the decoder `dec`."""
    head = HEAD.replace('"a test"', f'"a test", decoders={{"dec": {declared}}}')
    return spec_text(body + in_stage("pass")).replace(HEAD, head)


# signature -> message
SIGNATURES = {
    "unknown": ("px px.stride c p q", "'q' is no buffer, plane's stride or parameter"),
    "missing": ("px c", "p, px.stride is missing"),
    "twice": ("px px px.stride c p", "px is named twice"),
    "cleared twice": ("px px.stride c c! p", "c is named twice"),
    "clears a plane": ("px! px.stride c p", "'px!': only a block can be cleared"),
    "clears a parameter": ("px px.stride c p!", "'p!': only a block can be cleared"),
    "clears a stride": ("px px.stride! c p", "'px.stride!': only a block can be cleared"),
    "stride of a block": ("px px.stride c c.stride p",
                          "'c.stride' is no buffer, plane's stride or parameter"),
    "two marks": ("px px.stride c!! p", "'c!!': only a block can be cleared"),
    "strides": ("px px.stride=c.stride c p",
                "'px.stride=c.stride': only planes' strides can be one argument"),
    "fixed and named": ("px px.stride c p p=3", "p is named twice"),
    "fixed outside": ("px px.stride c p=101", "'p=101': p is in 0..100"),
    "fixed below": ("px px.stride c p=-1", "'p=-1': p is in 0..100"),
    "fixed buffer": ("px px.stride c=1 p", "'c=1': only a parameter of one value can be fixed"),
    "fixed type": ("px px.stride c p=1:int", "'p=1' is no argument, and has no type"),
    "type": ("px px.stride c p:2", "'p:2': '2' is no plain type of C"),
    "types": ("px px.stride c p:char**", "'p:char**': 'char**' is no plain type of C"),
    "rows of a block": ("px px.stride c p+", "'p+': higher items cannot be done in pieces: the"
                        " kernel has blocks"),
    "packed parameter": ("px px.stride c p/8", "'p/8': only an array parameter of numbers of 8"
                         " bits, which an int holds"),
    "steps of nothing": ("px px.stride c p+q@px/16", "'p+q@px/16': p and q must be parameters of"
                         " one value"),
    "steps in a block": ("px px.stride c p+p@c/16", "'p+p@c/16': c is no plane that is only read"),
    "rows of nothing": ("px px.stride c p q+", "'q+': one parameter can count rows"),
}  # fmt: skip


@pytest.mark.parametrize("case", SIGNATURES)
def test_signatures_are_refused(case: str, tmp_path: Path) -> None:
    signature, message = SIGNATURES[case]
    error = refused(tmp_path, usual(f'"{signature}"'), 3)
    assert (error.rule, error.message, error.kernel) == ("decoder", f"dec: {message}", "test_it")
    assert error.hint == HINT + "px px.stride c p"


def test_a_function_of_several_is_named_in_its_error(tmp_path: Path) -> None:
    error = refused(tmp_path, usual('{"one": "px px.stride c p", "two": "px c p"}'), 3)
    assert error.message == "dec, two: px.stride is missing"


# value for the decoder -> message
DECLARED = {
    "no function": ("{}", "decoder 'dec' has no functions"),
    "name": ('{"One": "px px.stride c p"}',
             "dec, function 'One': lower-case letters and digits only"),
    "no signature": ("3", "dec: 3 is no signature; write a text, or entry(...)"),
}  # fmt: skip


@pytest.mark.parametrize("case", DECLARED)
def test_declarations_are_refused(case: str, tmp_path: Path) -> None:
    declared, message = DECLARED[case]
    error = refused(tmp_path, usual(declared), 3)
    assert (error.rule, error.message) == ("declaration", f"@kernel: {message}")


def test_two_functions_cannot_have_one_name(tmp_path: Path) -> None:
    other = 'decoders={"dec": "px px.stride p"})\ndef test_it_x(k):\n'
    text = usual('{"x": "px px.stride c p"}') + '\n@kernel(clause="another", ' + other
    text += '    px = k.plane("px", u8, rows=(0, 1), cols=(0, 8), access="inout")\n'
    text += '    p = k.param("p", u8, 0, 9)\n    with k.stage(x=8) as x:\n        px[0, x] = p\n'
    line = text.splitlines().index('@kernel(clause="another", decoders={"dec": "px px.stride p"})')
    error = refused(tmp_path, text, line + 1)
    assert error.message == "daedalus_dec_test_it_x is also the name of a function of test_it"


def test_a_plain_signature(tmp_path: Path) -> None:
    header, source = made(tmp_path, usual('"c! px px.stride p"'))
    assert "daedalus_dec_test_it(int16_t *c, uint8_t *px, ptrdiff_t px_stride, int p)" in header
    assert "{ daedalus_clearing_test_it__c_full(px, px_stride, c, p); }" in source


@pytest.mark.parametrize(("access", "cleared"), [("in", 8), ("inout", 64)])
def test_a_block_that_is_stored_to_is_cleared_whole(
    access: str, cleared: int, tmp_path: Path
) -> None:
    """A class says what an item holds before, not what its stores leave."""
    text = f"""
    b = k.block("b", i16, (8, 8), access="{access}")
    k.item_class("few", p=(1, 1), nonzero={{"b": (1, 8)}})
    with k.stage(y=8, x=8) as (y, x):
        px[y, x] = clip_u8(b[y, x])
    """
    if access == "inout":
        text += "    b[y, x] = px[y, x]\n"
    kernel = kernel_of(tmp_path, spec_text(text))
    (line,) = clearing(kernel, "few", ("b",))
    assert f"0, {cleared} * sizeof(*b));" in line
    two = clearing(kernel, "few", ("b",), items=2)
    wanted = {
        "in": ["memset(b + 0, 0, 8 * sizeof(*b));", "memset(b + 64, 0, 8 * sizeof(*b));"],
        "inout": ["memset(b, 0, 128 * sizeof(*b));"],
    }
    assert two == wanted[access]


def test_other_types(tmp_path: Path) -> None:
    header, _ = made(tmp_path, usual('"px px.stride:int c:int16_t* p:uint8_t -:ptrdiff_t"'))
    arguments = "(uint8_t *px, int px_stride, int16_t *c, uint8_t p, ptrdiff_t unused0)"
    assert f"daedalus_dec_test_it{arguments};" in header


def test_several_functions_fixed_and_ignored_arguments(tmp_path: Path) -> None:
    body = 'k.item_class("low", p=(0, 9))\nk.item_class("high", p=(90, 100))\n'
    declared = '{"low": "px - px.stride c p=3", "mid": "px px.stride c - - p=50", "x": %s}'
    text = usual(declared % '"p px px.stride c"', body)
    header, source = made(tmp_path, text)
    arguments = "(uint8_t *px, int unused0, ptrdiff_t px_stride, const int16_t *c)"
    assert f"daedalus_dec_test_it_low{arguments};" in header
    assert "* p is 3. * unused0: not read. */" in header
    start = source.index("daedalus_dec_test_it_low")
    low = source[start : source.index("daedalus_dec_test_it_mid")]
    # The class is known, so nothing is left to choose.
    assert "(void)unused0;" in low and "c_low(px, px_stride, c, 3)" in low and "if (" not in low
    middle = source[source.index("daedalus_dec_test_it_mid") : source.index("test_it_x(")]
    assert "c_full(px, px_stride, c, 50)" in middle and "if (" not in middle
    assert "(void)unused0; (void)unused1;" in middle
    assert "if (p <= 9) {" in source[source.index("test_it_x(") :]


def test_functions_that_differ_in_their_names_alone_are_one(tmp_path: Path) -> None:
    _, source = made(tmp_path, usual('{"a": "px px.stride c p", "b": "px px.stride c p"}'))
    within = (
        "DAEDALUS_WITHIN void n_test_it(uint8_t *px, ptrdiff_t px_stride, const int16_t *c, int p)"
    )
    assert source.count(within) == 1
    for name in "ab":
        own = source[source.index(f"void daedalus_dec_test_it_{name}(") :]
        assert own[own.index("{") :].startswith("{ n_test_it(px, px_stride, c, p); }")


def test_what_functions_share_has_a_name_for_each_signature(tmp_path: Path) -> None:
    """Of a kernel, several signatures may have several functions."""
    words = {"a": "px - px.stride c", "b": "px px.stride c -"}
    declared = ", ".join(f'"{k}{p}": "{w} p={p}"' for k, w in words.items() for p in (1, 2))
    _, source = made(tmp_path, usual(f"{{{declared}}}"))
    found = re.findall(r"DAEDALUS_WITHIN void (n_\w+)\(", source)
    assert found == ["n_test_it", "n_test_it__2"]
    for name in ("a1", "a2", "b1", "b2"):
        own = source[source.index(f"void daedalus_dec_test_it_{name}(") :]
        number = "__2" if name[0] == "b" else ""
        assert own[own.index("{") :].startswith(f"{{ n_test_it{number}(px, ")


@pytest.mark.parametrize("flattened", [True] if native.is_arm() else [True, False])
def test_what_entries_call_has_the_code_in_itself(flattened: bool, tmp_path: Path) -> None:
    """It does not call the body, of which compilers else make a function: as where NEON goes
    through SIMDe, and nothing is flattened."""
    variant = "vp9_idct8__c_full"
    place = tmp_path / "variant.s"
    native.run(
        [native.compiler("host"), "-std=c11", "-O2", "-S", "-o", place]
        + [f"-I{folder}" for folder in (*native.library_includes(), "runtime/support")]
        + ([] if flattened else ["-DDAEDALUS_HAVE_NEON=1"])
        + ["generated/src/vp9/vp9_idct8.c"],
        cwd=repo_root(),
    )
    text = place.read_text()
    for kind in ("item", "clearing"):
        function = f"daedalus_{kind}_{variant}"
        body = text[text.index(f"\n{function}:") : text.index(f".size\t{function},")]
        assert ("one_item" in body) is not flattened


# ------------------------------------------------------------------ what only some processors do

DOT = """\
from daedalus.dsl.lang import *

@kernel(clause="a test", decoders={"dec": "dst dst.stride src src.stride p"})
def test_dot(k):
    p = k.param("p", u8, 0, 1)
    dst = k.plane("dst", u8, rows=(0, 1), cols=(0, 8), access="out")
    src = k.plane("src", u8, rows=(0, 1), cols=(0, 11))
    taps = k.table("taps", i8, [[64, 0, 0, 64], [0, 64, 64, 0]])
    with k.stage(x=8) as x:
        dst[0, x] = clip_u8(dot(taps, p, [src[0, x + n] for n in range(4)]) >> 7)
"""


@pytest.mark.parametrize("behind", ["neon_full", "c_full"])
def test_a_processor_that_lacks_something_gets_the_next_best(behind: str, tmp_path: Path) -> None:
    spec(tmp_path, DOT)
    listed = tmp_path / "family" / "options.toml"
    prod = ["neon_full_dot", *(["neon_full"] if behind == "neon_full" else [])]
    listed.write_text(f"[test_dot]\nprod = {prod}\n")
    source = " ".join(generate(load(tmp_path)).files["src/decoder_dec.c"].split())
    call = "(dst, dst_stride, src, src_stride, p);"
    assert (
        "if (daedalus_cpu_features & DAEDALUS_NEEDS_DOTPROD) {"
        f" daedalus_item_test_dot__neon_full_dot{call} }} else {{"
        f" daedalus_item_test_dot__{behind}{call} }} #else"
        f" daedalus_item_test_dot__c_full{call} #endif" in source
    )


CLASSES = """\
from daedalus.dsl.lang import *

@kernel(clause="a test", decoders={"dec": "dst dst.stride p"})
def test_classes(k):
    p = k.param("p", u8, 0, 9)
    dst = k.plane("dst", u8, rows=(0, 1), cols=(0, 16), access="inout")
    k.item_class("one", p=(1, 1), why="a test")
    with k.stage(x=16) as x:
        dst[0, x] = wrap(dst[0, x] + p, u8)
"""


def test_a_target_without_a_variant_of_a_class_does_it_as_any_items(tmp_path: Path) -> None:
    """Not as scalar C, which has one: a vector's is better for what it was not made for, too."""
    spec(tmp_path, CLASSES)
    listed = tmp_path / "family" / "options.toml"
    listed.write_text('[test_classes]\nprod = ["neon_full", "c_one", "c_full"]\n')
    made = generate(load(tmp_path))
    source = " ".join(made.files["src/decoder_dec.c"].split())
    call = "(dst, dst_stride, p);"
    assert (
        "if (p == 1) { DAEDALUS_NEON_OR(daedalus_item_test_classes__neon_full,"
        f" daedalus_item_test_classes__c_one){call}" in source
    )
    ranks = {v.options.name: v.rank for v in made.variants}
    assert ranks["neon_full"] < ranks["c_one"] < ranks["c_full"]  # as the runtime chooses


def test_variants_for_any_items_rank_behind_those_of_classes(tmp_path: Path) -> None:
    spec(tmp_path, CLASSES)
    listed = tmp_path / "family" / "options.toml"
    listed.write_text('[test_classes]\nprod = ["neon_full", "neon_one", "c_full", "c_one"]\n')
    ranks = {v.options.name: v.rank for v in generate(load(tmp_path)).variants}
    assert ranks["neon_one"] < ranks["neon_full"] < ranks["c_one"] < ranks["c_full"]


# ------------------------------------------------------------------ planes that are put together

PARTS = """\
from daedalus.dsl.lang import *

ENTRY = entry(
    "{signature}",
    {plane}=[
        part((0, 2), (0, 8), "dst", stride="dst.stride"),
        {part}
    ],
)

@kernel(clause="a test", decoders={{"dec": ENTRY}})
def test_parts(k):
    dst = k.plane("dst", u8, rows=(0, 2), cols=(0, 8), access="out")
    src = k.plane("src", {dtype}, rows=(0, 2), cols=(-1, 8))
    wide = k.plane("wide", u16, rows=(0, 1), cols=(0, 1))
    edges = k.param("edges", u8, 0, 3)
    with k.stage(y=2, x=8) as (y, x):
        dst[y, x] = wrap(src[y, x] + edges, u8)
"""
SIGNATURE = "dst dst.stride left wide wide.stride edges"
LEFT = 'part((0, 2), (-1, 0), "left", stride=1, at=(0, -1), given=("edges", 3)),'


def parts_spec(part: str = LEFT, signature: str = SIGNATURE, **words: str) -> str:
    words = {"plane": "src", "dtype": "u8"} | words
    return PARTS.format(part=part, signature=signature, **words)


def test_a_plane_is_put_together(tmp_path: Path) -> None:
    header, source = made(tmp_path, parts_spec())
    assert (
        "daedalus_dec_test_parts(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t (*left)[1],"
        " const uint16_t *wide, ptrdiff_t wide_stride, int edges);" in header
    )
    assert (
        "src, rows 0..1, columns -1..-1: read from left, which stands at row 0, column -1, if all"
        " bits of 3 are set in edges." in header.replace(" * ", " ")
    )
    copies = (
        "uint8_t src[2][16]; memcpy(&src[0][1], dst, 8);"
        " memcpy(&src[1][1], dst + 1 * dst_stride, 8); if ((edges & 3) == 3) {"
        " memcpy(&src[0][0], &left[0][0], 1); memcpy(&src[1][0], &left[1][0], 1); }"
    )
    assert copies in source
    assert "(dst, dst_stride, &src[0][1], sizeof(src[0]), wide, wide_stride, edges);" in source


def test_parts_of_wider_elements(tmp_path: Path) -> None:
    """Strides are bytes, columns are elements; what is read stands above the pointer."""
    part = 'part((0, 2), (-1, 8), "up", stride="wide.stride", at=(1, 1), given=("edges", 2)),'
    text = parts_spec(part, "dst dst.stride up wide wide.stride edges", dtype="u16")
    text = text.replace('        part((0, 2), (0, 8), "dst", stride="dst.stride"),\n', "")
    header, source = made(tmp_path, text)
    assert "const uint16_t *up" in header
    assert "uint16_t src[2][16]; if (edges & 2) {" in source
    assert "memcpy(&src[0][0], (const uint8_t *)up - 1 * wide_stride - 4, 18);" in source
    assert "memcpy(&src[1][0], (const uint8_t *)up - 4, 18);" in source


# part, signature -> message; the line is the part's
BAD_PARTS = {
    "outside": (LEFT.replace("(-1, 0)", "(-2, 0)"), "rows 0..1, columns -2..-1 do not lie in src"),
    "empty": (LEFT.replace("(0, 2)", "(1, 1)"), "rows 1..0, columns -1..-1 do not lie in src"),
    "twice": (LEFT.replace("(-1, 0)", "(-1, 1)").replace("stride=1", "stride=2"),
              "row 0, column 0 of src comes from two parts"),
    "packed": (LEFT.replace("at=(0, -1)", "at=(0, 0)"),
               "rows 0..1, columns -1..-1 do not lie in left, packed by 1"),
    "stride": (LEFT.replace("stride=1", 'stride="lef.stride"'),
               "'lef.stride' is no stride of this function"),
    "its own stride": (LEFT.replace("stride=1", 'stride="src.stride"'),
                       "'src.stride' is no stride of this function"),
    "two strides": (LEFT.replace('"left"', '"dst"'), "dst has two strides"),
    "other type": (LEFT.replace('"left"', '"wide"').replace("stride=1", 'stride="wide.stride"'),
                   "wide is no plane of src's type"),
    "parameter": (LEFT.replace("edges", "edge"), "given: edge is no parameter of one value"),
    "bits": (LEFT.replace("3)", "4)"), "given: edges cannot have the bits 4"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_PARTS)
def test_parts_are_refused(case: str, tmp_path: Path) -> None:
    part, message = BAD_PARTS[case]
    signature = SIGNATURE if '"left"' in part else SIGNATURE.replace(" left", "")
    text = parts_spec(part + "  # <-", signature)
    error = refused(tmp_path, text, marked_line(text))
    assert (error.rule, error.message) == ("decoder", f"dec: {message}")


# what the whole entry lacks: its own line
BAD_ENTRIES = {
    "nowhere": (parts_spec(""), "row 0, column -1 of src comes from no part"),
    "no pointer": (parts_spec(signature=SIGNATURE.replace(" left", "")), "left is missing"),
    "argument": (parts_spec(signature="src " + SIGNATURE), "src is put together, and no argument"),
    "its stride": (parts_spec(signature="src.stride " + SIGNATURE),
                   "src.stride is put together, and no argument"),
    "pointer's name": (parts_spec(LEFT.replace('"left"', '"le ft"')), "le ft is missing"),
    "written plane": (parts_spec(plane="dst"), "dst is no plane that is only read"),
    "no plane": (parts_spec(plane="edges"), "edges is no plane that is only read"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_ENTRIES)
def test_entries_are_refused(case: str, tmp_path: Path) -> None:
    text, message = BAD_ENTRIES[case]
    if case == "pointer's name":
        text = text.replace(SIGNATURE, SIGNATURE.replace(" left", ""))
    error = refused(tmp_path, text, 3)
    assert (error.rule, error.message) == ("decoder", f"dec: {message}")


def test_a_plane_of_one_row_needs_no_stride(tmp_path: Path) -> None:
    _, source = made(
        tmp_path,
        HEAD_ONLY.format(signature="dst dst.stride top")
        + """
def test_line(k):
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 4), access="out")
    top = k.plane("top", u8, rows=(0, 1), cols=(-1, 4))
    with k.stage(y=4, x=4) as (y, x):
        dst[y, x] = top[0, x - 1]
""",
    )
    assert "daedalus_item_test_line__c_full(dst, dst_stride, top, 0);" in source


def test_an_argument_may_hold_several_values(tmp_path: Path) -> None:
    header, source = made(
        tmp_path,
        HEAD_ONLY.format(signature="dst dst.stride level/8")
        + """
def test_packed(k):
    dst = k.plane("dst", u8, rows=(0, 2), cols=(0, 4), access="out")
    level = k.params("level", u8, 2, 0, 255)
    with k.stage(y=2, x=4) as (y, x):
        dst[y, x] = level[y]
""",
    )
    assert "(uint8_t *dst, ptrdiff_t dst_stride, int level_packed);" in header
    assert (
        "const uint8_t level[2] = {(uint8_t)(level_packed >> 0 & 255), (uint8_t)(level_packed >> 8"
        " & 255)};" in source
    )
