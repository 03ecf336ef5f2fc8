# SPDX-License-Identifier: BSD-2-Clause
"""Which parameter counts a plane's rows, as the debug check of overlaps believes it."""

import re
from pathlib import Path

import pytest
from spec_support import load_text

from daedalus.generator.compile import emit

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
    table = emit.generate(load_text(tmp_path, HEAD + body), ()).files["src/table_prod.c"]
    assert re.findall(r"\.rows_param = (\d+)", table) == [str(number)]
