# SPDX-License-Identifier: BSD-2-Clause
"""Families: one spec, and a kernel for each combination of its axes."""

from pathlib import Path

import numpy as np
from tests.dsl.test_language import load_text

from daedalus.dsl import vectors

FAMILY = """
from dataclasses import dataclass

import numpy as np

from daedalus.dsl.lang import *


@dataclass(frozen=True)
class Way:
    name: str
    says: str
    clause: str

    def __str__(self):
        return self.name


PUT = Way("put", "put", "7.1")
AVG = Way("avg", "averaged", "7.2")


def functions(width, way):
    return {} if width == 16 else {"their": {f"n{width}": "dst dst.stride mx"}}


@kernel(
    id="test_mc{width}_{way}",
    clause="A standard {way.clause}",
    axes={"width": (4, 8, 16), "way": (PUT, AVG)},
    without=lambda way, width: way is AVG and width == 4,
    decoders=functions,
    wide=lambda width: width == 16,
)
def test_mc(k, width, way):
    \"\"\"A block {width} wide, {way.says}.\"\"\"
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, width), access="inout")
    mx = k.param("mx", u8, 0, 15)
    with k.stage(y=4, x=width) as (y, x):
        dst[y, x] = mx if way is PUT else round_shift(dst[y, x] + mx, 1)


@test_mc.inputs
def drawn(rng, count, width):
    return {"mx": np.full(count, width % 16)}
"""


def test_a_member_for_each_combination(tmp_path: Path) -> None:
    found = {e.kernel.id: e.kernel for e in load_text(tmp_path, FAMILY)}
    assert sorted(found) == [
        "test_mc16_avg", "test_mc16_put", "test_mc4_put", "test_mc8_avg", "test_mc8_put",
    ]  # fmt: skip
    k = found["test_mc8_avg"]
    assert k.clause == "A standard 7.2" and k.doc == "A block 8 wide, averaged."
    assert k.family == "test_mc" and k.member == (("width", "8"), ("way", "avg"))
    assert k.buffer("dst").shape == ((0, 4), (0, 8))


def test_functions_of_the_axes(tmp_path: Path) -> None:
    found = {e.kernel.id: e.kernel for e in load_text(tmp_path, FAMILY)}
    assert [d.suffix for d in found["test_mc8_put"].decoders] == ["n8"]
    assert found["test_mc16_put"].decoders == ()
    assert found["test_mc16_put"].wide and not found["test_mc4_put"].wide
    items = vectors.make_items(found["test_mc8_put"], 3, 1, "typical")
    assert items.params["mx"].tolist() == [8, 8, 8]
    assert np.array_equal(
        vectors.make_items(found["test_mc4_put"], 2, 1, "typical").params["mx"], [4, 4]
    )


def test_patterns_are_filled_in_decoders(tmp_path: Path) -> None:
    text = FAMILY.replace(
        "decoders=functions", 'decoders={"their": {"n{width}": "dst dst.stride mx={width}"}}'
    )
    found = {e.kernel.id: e.kernel for e in load_text(tmp_path, text)}
    (entry,) = found["test_mc8_avg"].decoders
    assert (entry.suffix, entry.signature) == ("n8", "dst dst.stride mx=8")


def test_without_axes_texts_are_no_patterns(tmp_path: Path) -> None:
    text = (
        'from daedalus.dsl.lang import *\n\n\n@kernel(clause="of {braces}")\n'
        'def test_it(k):\n    """{x}"""\n'
        '    px = k.plane("px", u8, rows=(0, 1), cols=(0, 8), access="inout")\n'
        "    with k.stage(i=8) as i:\n        px[0, i] = 1\n"
    )
    (entry,) = load_text(tmp_path, text)
    assert (entry.kernel.clause, entry.kernel.doc) == ("of {braces}", "{x}")
    assert entry.kernel.member == ()
