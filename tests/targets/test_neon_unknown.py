# SPDX-License-Identifier: BSD-2-Clause
"""What NEON does not do yet is refused at its line, never computed wrongly."""

import textwrap

import pytest
from spec_support import HEAD, kernel_of, spec_text

from daedalus.dsl.errors import SpecError
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.registry import find, load
from daedalus.generator.compile.variants import make_variant
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.neon.emit import emit
from daedalus.generator.targets.neon.select import NotLowerable


def test_items_of_different_extents_are_refused_at_the_stage():
    entry = find(load(), "vp9_mc_8h")
    assert entry is not None
    with pytest.raises(NotLowerable, match="cannot differ in extent") as e:
        emit(lower(entry.kernel, options_of("neon", items=2)))
    assert e.value.loc.file == entry.kernel.loc.file and e.value.loc.line > 0
    assert "vp9_mc_8h" in e.value.hint


def test_items_side_by_side_on_an_axis_cut_into_strips_are_refused(tmp_path):
    kernel = kernel_of(
        tmp_path,
        spec_text(
            """
            far = k.block("far", u8, (40,), access="inout")
            with k.stage(x=40) as x:
                far[x] = 255 - far[x]
            with k.stage(x=8) as x:
                px[0, x] = far[x]
            """
        ),
    )
    assert emit(lower(kernel, options_of("neon")))
    with pytest.raises(NotLowerable, match="side by side on an axis cut into strips"):
        emit(lower(kernel, options_of("neon", items=2)))


PARAM = '    p = k.param("p", u8, 0, 1)\n'
DOT_ROW = "[[64, 0, 0, 0], [0, 64, 0, 0]]"


@pytest.mark.parametrize(
    ("source", "kind", "rows", "last"),
    [
        ("u8", "i8", "[[64, 0, 0, 0], [0, 63, 0, 0]]", "px[y, x + 3]"),  # other sums
        ("u8", "i16", "[[128, 0, 0, 0], [0, 128, 0, 0]]", "px[y, x + 3]"),  # not of 8 bits
        ("u8", "u8", DOT_ROW, "px[y, x + 3]"),
        ("u8", "i8", DOT_ROW, "px[y, x + 4]"),  # not adjacent
        ("u8", "i8", DOT_ROW, "px[y + 1, x + 3]"),
        ("u8", "i8", DOT_ROW, "max(px[y, x + 3], 1)"),
        ("i8", "i8", DOT_ROW, "px[y, x + 3]"),
        ("u16", "i8", DOT_ROW, "px[y, x + 3]"),
    ],
)
def test_dot_products_that_sdot_cannot_do_are_refused(source, kind, rows, last, tmp_path):
    text = f"""
        px = k.plane("src", {source}, rows=(0, 5), cols=(0, 12), hi=100)
        out = k.plane("out", i32, rows=(0, 4), cols=(0, 8), access="out")
        t = k.table("t", {kind}, {rows})
        with k.stage(y=4, x=8) as (y, x):
            out[y, x] = dot(t, p, [px[y, x], px[y, x + 1], px[y, x + 2], {last}])
        """
    kernel = kernel_of(tmp_path, HEAD + PARAM + textwrap.indent(textwrap.dedent(text), "    "))
    refused = pytest.raises(SpecError, match="no dot product is one of 4 or 8 adjacent bytes")
    with refused as e:
        make_variant(
            environment(), kernel, options_of("neon", dot=True), prod=True, rank=0, spec="a test"
        )
    assert "leave out dot" in e.value.hint


@pytest.mark.parametrize(("lanes", "at"), [(4, "x"), (8, "2 * x"), (8, "7 - x")])
def test_dot_products_whose_outputs_are_not_neighbours_are_refused_at_their_line(
    lanes, at, tmp_path
):
    text = f"""
        src = k.plane("src", u8, rows=(0, 1), cols=(0, 24))
        out = k.plane("out", i32, rows=(0, 1), cols=(0, 8), access="out")
        t = k.table("t", i8, {DOT_ROW})
        with k.stage(x={lanes}) as x:
            out[0, x] = dot(t, p, [src[0, {at} + n] for n in range(4)])
        """
    kernel = kernel_of(tmp_path, HEAD + PARAM + textwrap.indent(textwrap.dedent(text), "    "))
    with pytest.raises(NotLowerable, match="eight outputs of a dot product") as e:
        emit(lower(kernel, options_of("neon", dot=True)))
    assert (
        "dot(t" in (tmp_path / "family" / "spec.py").read_text().splitlines()[e.value.loc.line - 1]
    )
