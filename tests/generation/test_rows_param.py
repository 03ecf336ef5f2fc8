# SPDX-License-Identifier: BSD-2-Clause
"""Which parameter counts a plane's rows, as the debug check of overlaps believes it."""

import re
from pathlib import Path

import pytest
from spec_support import load_text

from daedalus.generator.compile import emit

# A buffer's members, of which it is the last.
ROWS_PARAM = r"\{ \"\w+\", DAEDALUS_TYPE_U8, (?:true|false),[^;]*?\},\s+(\d+)\s+\},"
HEAD = """
from daedalus.dsl.lang import *

@kernel(clause="a test")
def test_it(k):
    out = k.plane("out", u8, rows=(0, 8), cols=(0, 8), access="out")
    first = k.param("first", u8, 0, 255)
    rows, many = k.param("rows", u8, 0, 8), k.param("many", u8, 0, 16)
    list = k.params("list", u8, 2, 0, 8)
"""

STAGES = {
    "all rows are counted": (2, '''
    with k.stage(y=k.upto(rows, 8), x=8) as (y, x):
        out[y, x] = 1
'''),
    "another stage writes all": (0, '''
    with k.stage(y=k.upto(rows, 8), x=8) as (y, x):
        out[y, x] = 1
    with k.stage(y=8) as y:
        out[y, 0] = 2
'''),
    "the parameter may exceed the extent": (0, '''
    with k.stage(y=k.upto(many, 8), x=8) as (y, x):
        out[y, x] = 1
'''),
    "an element of an array": (0, '''
    with k.stage(y=k.upto(list[1], 8), x=8) as (y, x):
        out[y, x] = 1
'''),
    "columns are counted": (0, '''
    with k.stage(y=8, x=k.upto(rows, 8)) as (y, x):
        out[y, x] = 1
'''),
    "two parameters": (0, '''
    with k.stage(y=k.upto(rows, 8), x=4) as (y, x):
        out[y, x] = 1
    with k.stage(y=k.upto(first, 8), x=4) as (y, x):
        out[y, x + 4] = 1
'''),
}  # fmt: skip


@pytest.mark.parametrize("name", STAGES)
def test_rows_param(tmp_path: Path, name: str) -> None:
    number, body = STAGES[name]
    table = emit.generate(load_text(tmp_path, HEAD + body), ()).files["src/table.c"]
    assert re.findall(ROWS_PARAM, table) == [str(number)]


@pytest.mark.parametrize(("more", "number"), [("k.upto(rows + 2, 10)", 1), ("10", 0)])
def test_rows_that_are_read_beside_those_that_are_counted(
    tmp_path: Path, more: str, number: int
) -> None:
    """A filter that goes down the rows reads as many more for every height."""
    text = f"""
from daedalus.dsl.lang import *

@kernel(clause="a test")
def test_it(k):
    rows = k.param("rows", u8, 1, 8)
    src = k.plane("src", u8, rows=(-1, 9), cols=(0, 8))
    out = k.plane("out", u8, rows=(0, 8), cols=(0, 8), access="out")
    t = k.temp("t", (10, 8))
    with k.stage(y={more}, x=8) as (y, x):
        t[y, x] = src[y - 1, x]
    with k.stage(y=k.upto(rows, 8), x=8) as (y, x):
        out[y, x] = min(t[y, x], t[y + 2, x])
"""
    table = emit.generate(load_text(tmp_path, text), ()).files["src/table.c"]
    assert re.findall(ROWS_PARAM, table) == [str(number), "1"]
