# SPDX-License-Identifier: BSD-2-Clause
"""What shaders do to memory where a program is not as kernels usually are: words that two parts of
a stage share, words of signed elements, and places that no conformant item names."""

import re
import struct
import textwrap
from pathlib import Path

import pytest
from shader_runs import run_text, variant_of
from spec_support import HEAD, kernel_of, spec_text

from daedalus.generator.compile.registry import find, load
from daedalus.generator.compile.variants import Variant
from daedalus.generator.targets.glsl.spirv import compile_shader


@pytest.mark.parametrize("bias", [5, -5])
def test_signed_elements_less_a_number(bias: int, tmp_path: Path) -> None:
    """The lower element's sign does not reach the upper one."""
    text = spec_text(
        'out = k.plane("out", i16, rows=(0, 8), cols=(0, 8), access="out")\n'
        "with k.stage(y=8, x=8) as (y, x):\n"
        f"    out[y, x] = (c[y, x] >> 1) - ({bias}) + 0 * px[y, x]\n"
    ).replace('access="inout"', 'access="in"')
    v = run_text(tmp_path, text, "glsl_full_p4_word")
    assert "out_uvec2[" in v.text


def test_words_that_two_places_share(tmp_path: Path) -> None:
    """What an invocation may write back with its old value, another one stores meanwhile."""
    text = spec_text(
        "with k.stage(i=8) as i:\n"
        "    px[i, 0] = clip_u8(px[i, 0] + c[i, 0])\n"
        "    px[7 + i * -1, 2] = clip_u8(px[7 + i * -1, 2] + c[i, 1])\n"
    ).replace('access="inout"', 'access="inout", owns=((0, 8), (0, 8))')
    v = run_text(tmp_path, text, "glsl_full_word")
    assert re.search(r"px_u8\[.*\] =", v.text) and "px_uvec2[" not in v.text
    one = text[: text.index("        px[7 +")]
    assert re.search(r"px_uvec2\[.*\] =", run_text(tmp_path / "2", one, "glsl_full_word").text)


def test_what_is_written_is_nowhere_read_only(tmp_path: Path) -> None:
    """Columns are read as words, and one is stored as bytes: two views of one buffer."""
    text = spec_text(
        "with k.stage(i=8) as i:\n" "    px[i, 0] = clip_u8(px[i, 0] + px[i, 1] + c[i, 0])\n"
    )
    v = run_text(tmp_path, text, "glsl_full_word")
    declared = re.findall(r"binding = 0\) (.*)buffer (\w+)", v.text)
    assert sorted(declared) == [("", "px_u8_view"), ("", "px_uint_view")]


# Stores of one stage, or of stages after each other, that meet in words: on walks that cross, under
# conditions of their own, in a row and across rows.
MEETING = [
    "with k.stage(i=8) as i:\n"
    "    for n in range(4):\n"
    "        px[i, n] = clip_u8(px[i, n] + c[i, 0])\n"
    "    for n in range(2):\n"
    "        px[7 + i * -1, 4 + n] = clip_u8(px[7 + i * -1, 4 + n] + c[i, 1])\n",
    "with k.stage(i=8) as i:\n"
    "    with k.when(c[i, 0] > 0):\n"
    "        px[i, 0] = clip_u8(c[i, 0])\n"
    "        px[i, 1] = clip_u8(c[i, 0])\n"
    "    with k.when(c[i, 1] > 0):\n"
    "        px[i, 2] = clip_u8(c[i, 1])\n"
    "    px[7 + i * -1, 3] = clip_u8(px[7 + i * -1, 3] + c[i, 2])\n",
    "with k.stage(y=4, x=2) as (y, x):\n"
    "    px[y, 4 + x * 2] = clip_u8(c[y, x])\n"
    "    px[y, x * 2 + 5] = clip_u8(c[y, x + 4])\n"
    "    px[x * 2, y] = clip_u8(c[x, y])\n"
    "    px[x * 2 + 1, y] = clip_u8(c[x, y])\n",
    "with k.stage(i=8) as i:\n"
    "    px[i, 0] = clip_u8(px[i, 0] + c[i, 0])\n"
    "with k.stage(i=8) as i:\n"
    "    px[7 + i * -1, 1] = clip_u8(px[7 + i * -1, 0] + px[7 + i * -1, 2])\n",
]


@pytest.mark.parametrize("owns", ["", ", owns=((0, 8), (0, 8))"])
@pytest.mark.parametrize("options", ["glsl_full_word", "glsl_full_p4_word", "glsl_full_p8_word"])
@pytest.mark.parametrize("body", MEETING)
def test_stores_that_meet_in_a_word(body: str, options: str, owns: str, tmp_path: Path) -> None:
    """What one invocation stores is not undone by another."""
    text = spec_text(body).replace('access="inout"', f'access="inout"{owns}')
    run_text(tmp_path, text, options)


READ_AND_WRITTEN = (
    "with k.stage(i=8) as i:\n    px[i, 0] = clip_u8(px[i, 0] + px[i, 1] + c[i, 0])\n"
)
WRITTEN_TWICE = (
    "with k.stage(y=8, x=8) as (y, x):\n"
    "    px[y, x] = clip_u8(c[y, x])\n"
    "with k.stage(i=8) as i:\n"
    "    px[i, 0] = clip_u8(c[i, 1] + 3)\n"
)
READ_BEHIND = WRITTEN_TWICE + (
    "with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = clip_u8(px[y, x] + 1)\n"
)


def aliased(v: Variant) -> int:
    """How many variables of a module are Aliased."""
    module = compile_shader(v.text, v.file)
    words = struct.unpack(f"<{len(module) // 4}I", module)
    return sum(w == 3 << 16 | 71 and words[n + 2] == 20 for n, w in enumerate(words))


@pytest.mark.parametrize("body", [READ_AND_WRITTEN, WRITTEN_TWICE, READ_BEHIND])
@pytest.mark.parametrize("options", ["glsl_full_p8_word", "glsl_full_p16_word"])
def test_views_that_depend_on_each_other_are_aliased(
    body: str, options: str, tmp_path: Path
) -> None:
    """In the module, which else is free to take them for different memory."""
    text = spec_text(body)
    if "= clip_u8(px[" not in body:
        text = text.replace('access="inout"', 'access="out"')
    v = run_text(tmp_path, text, options)
    assert len(re.findall(r"binding = 0\) (?!restrict)(?:coherent )?buffer", v.text)) == 2
    assert aliased(v) == v.text.count("// aliased") == 2


def test_views_of_one_stages_stores_are_not() -> None:
    """It stores in units where they are whole, else by elements: no element twice."""
    found = find(load(), "sand128_nv12")
    assert found is not None
    v = variant_of(found.kernel, "glsl_full_p8_word")
    assert len(re.findall(r"binding = 0\) buffer", v.text)) == 2
    assert aliased(v) == v.text.count("// aliased") == 0


def test_what_goes_through_a_buffer_is_coherent(tmp_path: Path) -> None:
    """A barrier alone does not make another invocation's stores visible."""
    text = spec_text(
        "with k.stage(y=8, x=8) as (y, x):\n"
        "    px[y, x] = clip_u8(c[y, x])\n"
        "with k.stage(x=8) as x:\n"
        "    px[x, 7] = px[x, 0] >> 1\n"
    )
    v = run_text(tmp_path, text, "glsl_full")
    assert "memoryBarrierBuffer();" in v.text
    assert "binding = 0) coherent restrict buffer px_u8_view" in v.text
    assert v.text.count("coherent") == 1


def test_tables_in_memory_are_read_inside(tmp_path: Path) -> None:
    """A limit that only a hostile item exceeds stays where memory depends on it."""
    text = spec_text(
        't = k.table("t", u16, [n * 301 for n in range(101)])\n'
        "with k.stage(y=8, x=8) as (y, x):\n"
        "    px[y, x] = clip_u8(px[y, x] + t[clip(c[y, x], 0, 100)])\n"
    )
    text = text.replace("(8, 8))", "(8, 8), lo=0, hi=100)")
    v = variant_of(kernel_of(tmp_path, text), "glsl_full")
    assert re.search(r"constants\[clamp\(t1, 0, 100\)\]", v.text)


def test_entries_that_decide_a_place_are_entries(tmp_path: Path) -> None:
    """Of a table that is a literal, nothing beyond its fields is taken."""
    body = (
        'src = k.plane("src", u8, rows=(0, 1), cols=(1, 12), access="in")\n'
        't = k.table("t", u8, [1, 3, 2])\n'
        "with k.stage(y=8, x=8) as (y, x):\n"
        "    px[y, x] = clip_u8(px[y, x] + {})\n"
    )
    for value, kept in (("src[0, x + t[c[0, 0]]]", True), ("src[0, x + 1] + t[c[0, 0]]", False)):
        text = spec_text(body.format(value)).replace("(8, 8))", "(8, 8), lo=0, hi=2)")
        v = variant_of(kernel_of(tmp_path / str(kept), text), "glsl_full")
        assert bool(re.search(r"u >> \(clamp\(.*, 0, 2\)", v.text)) == kept, v.text


def test_temps_that_decide_places_are_in_their_range(tmp_path: Path) -> None:
    """Shared memory has 32 bits an element, and a hostile item may fill them."""
    text = spec_text(
        'src = k.plane("src", u8, rows=(0, 1), cols=(0, 264), access="in")\n'
        't = k.temp("t", (2,))\n'
        "with k.stage(i=2) as i:\n"
        "    t[i] = c[0, i]\n"
        "with k.stage(y=8, x=8) as (y, x):\n"
        "    px[y, x] = clip_u8(px[y, x] + src[0, x + t[1]])\n"
    )
    text = text.replace("(8, 8))", "(8, 8), lo=0, hi=200)")
    v = variant_of(kernel_of(tmp_path, text), "glsl_full")
    assert re.search(r"clamp\(t\[t_at \+ 1\], 0, 255\)", v.text)


def test_limits_below_all_values(tmp_path: Path) -> None:
    """A value of 32 bits without a sign, limited to negative numbers."""
    text = spec_text(
        "with k.stage(y=8, x=8) as (y, x):\n"
        "    px[y, x] = clip(px[y, x] * 16777216, -5, -1) + 3\n"
    )
    run_text(tmp_path, text, "glsl_full")


# A spec whose stages read rows anywhere, and one whose stages keep, move and share words.
ANYWHERE = """
src = k.plane("src", {type}, rows=(-3, 11), cols=(-3, 11), access="in"{bounds})
out = k.plane("out", i32, rows=(0, 8), cols=(0, 8), access="out")
d = k.param("d", u8, 0, 3)
with k.stage(y=8, x=8) as (y, x):
    out[y, x] = src[y + d, x + d] - 3 * src[y + d * -1, x + d * -1] + 5 * src[y, x + 1]
"""
SHARED = """
px = k.plane("px", {type}, rows=(0, 8), cols=(0, 8), access="inout", owns="all"{bounds})
b = k.block("b", {type}, (8, 8), access="inout"{bounds})
p = k.param("p", u8, 1, 7)
t = k.temp("t", (8, 8))
with k.stage(y=8, x=8) as (y, x):
    t[y, x] = b[y, x] >> 1
with k.stage(y=8, x=8) as (y, x):
    with k.when(px[y, x] > b[y, x]):
        px[y, x] = t[x, y]
    b[y, x] = t[y, 7 + x * -1]
with k.stage(y=4, x=k.upto(p, 4)) as (y, x):
    px[y, 2 * x] = px[y, 2 * x] >> 1
with k.stage(y=k.upto(p, 8), x=8) as (y, x):
    b[y, x] = b[y, x] >> 1
"""


@pytest.mark.parametrize("element", ["u8", "i8", "u16", "i16", "i32"])
@pytest.mark.parametrize(
    ("body", "options"),
    [
        (ANYWHERE, "glsl_full_p4_word_unaligned"),
        (SHARED, "glsl_full_p2_word_pack"),
        (SHARED, "glsl_full_p4_word_signs_pack_early"),
    ],
    ids=("anywhere", "packed", "masks"),
)
def test_elements_of_every_type(body: str, options: str, element: str, tmp_path: Path) -> None:
    bounds = ", lo=-1000, hi=1000" if element == "i32" else ""
    text = body.format(type=element, bounds=bounds)
    run_text(tmp_path, HEAD + textwrap.indent(text, "    "), options)


@pytest.mark.parametrize("options", ["glsl_full_word", "glsl_full_p2_word"])
@pytest.mark.parametrize(
    ("element", "count"),
    [("u8", 1), ("u8", 2), ("u8", 3), ("u8", 6), ("i16", 1), ("i16", 3), ("i16", 10), ("i32", 5)],
)
def test_items_of_a_block_that_begin_inside_a_unit(
    element: str, count: int, options: str, tmp_path: Path
) -> None:
    """One invocation does an item, whose elements are as many as no unit, or several, has."""
    text = HEAD + (
        f'    c = k.block("c", {element}, ({count},), lo=0, hi=100)\n'
        f'    out = k.block("out", {element}, ({count},), access="out")\n'
        "    with k.stage(i=1) as i:\n"
    )
    text += "".join(f"        out[{n} + i] = c[{n} + i] + {n}\n" for n in range(min(count, 8)))
    assert run_text(tmp_path, text, options).shader.invocations == 1


@pytest.mark.parametrize("options", ["glsl_full", "glsl_full_p4"])
def test_limits_that_no_signed_integer_holds(tmp_path: Path, options: str) -> None:
    """All of an axis is there where its limit is above 2**31, also if some is always there, and
    where what groups of points are counted from would leave 32 bits."""
    body = """
px = k.plane("px", u8, rows=(0, 8), cols=(0, 8), access="inout")
c = k.block("c", i32, (8,), access="inout")
p = k.param("p", i32, -(2**31), 0)
q = k.param("q", i32, 2**31 - 4, 2**31 - 1)
with k.stage(y=k.upto(0 - p, 8), x=8) as (y, x):
    px[y, x] = 255 - px[y, x]
with k.stage(y=8, x=k.upto(max(0 - p, 1), 8)) as (y, x):
    px[y, x] = px[y, x] >> 1
with k.stage(i=k.upto(q * 2 + 1, 8)) as i:
    c[i] = c[i] >> 1
"""
    run_text(tmp_path, HEAD + textwrap.indent(body, "    "), options)


WORDS = {
    "an index of several terms into a small array of parameters": (
        "glsl_full_p2_pack",
        """
out = k.block("out", i16, (32,), access="out")
few = k.params("few", i8, 4, 44, 127)
with k.stage(y=4, x=4) as (y, x):
    with k.when(few[x] < 127):
        out[4 * y + x + 7] = 0
""",
    ),
    "a negative number below another element in a word of a temp": (
        "glsl_full_p2_pack",
        """
px = k.plane("px", i32, rows=(0, 16), cols=(-16, 0), access="in")
out = k.block("out", i32, (2,), access="out")
t = k.temp("t", (16, 2))
with k.stage(i=16) as i:
    t[i, 0] = -1
    t[i, 1] = clip(px[10, i - 16], -32768, 32767)
with k.stage(x=2) as x:
    out[x] = t[3, x]
""",
    ),
    "what does not fit its element, below elements that are kept": (
        "glsl_full_p2_word_unaligned",
        """
px = k.plane("px", i16, rows=(0, 9), cols=(-4, 4), access="inout")
out = k.plane("out", u8, rows=(0, 9), cols=(0, 8), access="out", owns=((0, 9), (0, 8)))
few = k.assumption("few", 0, 65535, why="a test")
with k.stage(n=8) as n:
    out[n, 5] = clip_u8(few(px[6, n - 4]))
    px[6, n - 4] = 0
""",
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_elements_of_words_stay_by_themselves(name: str, tmp_path: Path) -> None:
    options, body = WORDS[name]
    run_text(tmp_path, HEAD + textwrap.indent(body, "    "), options)
