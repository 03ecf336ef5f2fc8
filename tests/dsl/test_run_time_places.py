# SPDX-License-Identifier: BSD-2-Clause
"""Array parameters, lanes as values, extents and places that parameters decide, conditional stages,
accumulation: what they compute, in the interpreter and in C, and what is refused."""

import numpy as np
import pytest
from spec_support import kernel_of

from daedalus.dsl import interp, vectors
from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.dsl.ranges import Interval, Ranges

HEAD = '''
from daedalus.dsl.lang import kernel, min, select, u8, i8, u16, u32, low_bits

@kernel(clause="none")
def test_it(k):
    """Tests."""
'''


def spec(tmp_path, body: str) -> Kernel:
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return kernel_of(tmp_path, HEAD + lines)


def draw(kernel: Kernel, count: int = 50):
    items = vectors.make_items(kernel, count, 3)
    return items, interp.run(kernel, items)


def test_array_parameter_by_lane(tmp_path):
    kernel = spec(tmp_path, '''
out = k.plane("out", u8, rows=(0, 1), cols=(0, 8), access="out")
t = k.params("t", u8, 4, 0, 100)
with k.stage(s=4, i=2) as (s, i):
    out[0, 2 * s + i] = t[s] + t[3]
''')  # fmt: skip
    items, result = draw(kernel)
    t = items.params["t"]
    assert t.shape == (50, 4)
    want = np.repeat(t, 2, axis=1) + t[:, 3:]
    assert (result.buffers["out"][:, 0] == want).all()


def test_extent_and_lane_value(tmp_path):
    kernel = spec(tmp_path, '''
out = k.plane("out", u8, rows=(0, 4), cols=(0, 8), access="out")
n = k.param("n", u8, 1, 4)
with k.stage(y=k.upto(n, 4), x=8) as (y, x):
    with k.when(k.lane(x) < 5):
        out[y, x] = k.lane(8 * y + x + 1)
''')  # fmt: skip
    items, result = draw(kernel)
    for n, out, wrote in zip(
        items.params["n"], result.buffers["out"], result.written["out"], strict=True
    ):
        assert wrote[:n, :5].all() and not wrote[n:].any() and not wrote[:, 5:].any()
        assert (out[:n, :5] == (8 * np.arange(4)[:, None] + np.arange(8) + 1)[:n, :5]).all()


def test_place_by_parameter_and_condition(tmp_path):
    kernel = spec(tmp_path, '''
out = k.plane("out", u8, rows=(0, 1), cols=(0, 4), access="out")
src = k.plane("src", u8, rows=(0, 1), cols=(-2, 8))
d = k.param("d", u8, 0, 3)
on = k.param("on", u8, 0, 1)
t = k.temp("t", (10,))
with k.stage(x=10, given=on > 0) as x:
    t[x] = src[0, x - 2]
with k.stage(x=10, given=on <= 0) as x:
    t[x] = 77
with k.stage(x=4) as x:
    out[0, x] = t[x + d + 2]
''')  # fmt: skip
    items, result = draw(kernel)
    for n in range(items.count):
        d, on = items.params["d"][n], items.params["on"][n]
        src = items.buffers["src"][n, 0]
        want = src[2 + 2 + d - 2 : 2 + 2 + d - 2 + 4] if on else np.full(4, 77)
        assert (result.buffers["out"][n, 0] == want).all()


TWO_STEPS = """
out = k.plane("out", u16, rows=(0, 8), cols=(0, 8), access="out")
src = k.plane("src", u8, rows=(-3, 12), cols=(0, 8))
n = k.param("n", u8, 1, 8)
t = k.temp("t", (15, 8))
with k.stage(y=k.upto(n + 7, 15), x=8) as (y, x):
    t[y, x] = src[y - 3, x]
with k.stage(y=k.upto(n, 8), x=8) as (y, x):
    out[y, x] = t[y, x] + t[y + 7, x]
"""


def test_row_counts_that_belong_together(tmp_path):
    items, result = draw(spec(tmp_path, TWO_STEPS))
    src = items.buffers["src"]
    for n, got, wrote, own in zip(
        items.params["n"], result.buffers["out"], result.written["out"], src, strict=True
    ):
        assert (got[:n] == (own[:8] + own[7:15])[:n]).all()
        assert wrote[:n].all() and not wrote[n:].any()


def test_rows_of_opposite_conditions(tmp_path):
    """Each stage writes the rows that there are where the other one does not run."""
    body = TWO_STEPS.replace("x=8) as (y, x):\n    t", "x=8, given=n > 2) as (y, x):\n    t")
    with pytest.raises(SpecError, match="no earlier stage wrote"):
        spec(tmp_path, body)
    other = "with k.stage(y=k.upto(n + 7, 15), x=8, given=n <= 2) as (y, x):\n    t[y, x] = 0\n"
    at = body.index("with k.stage(y=k.upto(n, 8)")
    spec(tmp_path, body[:at] + other + body[at:])


@pytest.mark.parametrize(
    ("count", "most", "hint"), [("n + 6", 8, "as many rows more"), ("n + 7", 60000, "4096 values")]
)
def test_what_to_do_for_rows_that_do_not_do(tmp_path, count, most, hint):
    body = TWO_STEPS.replace("u8, 1, 8", f"u16, 1, {most}").replace("n + 7", count)
    with pytest.raises(SpecError, match="no earlier stage wrote") as e:
        spec(tmp_path, body)
    assert hint in e.value.hint


def test_rows_by_a_table_and_by_an_element(tmp_path):
    body = TWO_STEPS.replace('n = k.param("n", u8, 1, 8)', """n = k.table("high", u8, [1, 4, 7])[
    k.params("list", u8, 3, 0, 5)[1]]""")  # fmt: skip
    items, result = draw(spec(tmp_path, body))
    high = np.array([1, 4, 7])[np.minimum(items.params["list"][:, 1], 2)]
    assert (result.written["out"].sum(axis=(1, 2)) == 8 * high).all()


def test_places_that_differ_by_lane(tmp_path):
    kernel = spec(tmp_path, '''
out = k.plane("out", u8, rows=(0, 8), cols=(0, 8), access="out")
src = k.plane("src", u8, rows=(0, 8), cols=(-2, 14))
at = k.block("at", u8, (8, 8), hi=20)
t = k.temp("t", (8, 16))
with k.stage(y=8, x=16) as (y, x):
    t[y, x] = src[7 - y, x - 2]
with k.stage(y=8, x=8) as (y, x):
    v = at[y, x]
    out[y, x] = select(v > 9, t[v & 7, x + 1], src[y, min(v, 13)])
''')  # fmt: skip
    items, result = draw(kernel)
    src, at = items.buffers["src"], items.buffers["at"]
    n, y, x = np.indices(at.shape)
    want = np.where(at > 9, src[n, 7 - (at & 7), x + 1], src[n, y, np.minimum(at, 13) + 2])
    assert (result.buffers["out"] == want).all()


def test_what_to_do_for_places_beyond(tmp_path):
    with pytest.raises(SpecError) as e:
        spec(tmp_path, REFUSED["varying place"][0])
    assert "clip() the value that decides the place" in e.value.hint


def test_accumulation(tmp_path):
    kernel = spec(tmp_path, '''
out = k.plane("out", u16, rows=(0, 1), cols=(0, 15), access="out")
src = k.plane("src", u8, rows=(0, 8), cols=(0, 8))
t = k.temp("t", (15,), init=0)
with k.stage(y=8, x=8) as (y, x):
    t.accumulate(y + x, src[y, x])
with k.stage(n=15) as n:
    out[0, n] = t[n]
''')  # fmt: skip
    items, result = draw(kernel)
    src = items.buffers["src"]
    want = [sum(src[:, y, n - y] for y in range(8) if 0 <= n - y < 8) for n in range(15)]
    assert (result.buffers["out"][:, 0] == np.stack(want, axis=1)).all()


def test_sums_are_bounded_by_what_one_element_takes(tmp_path):
    """Eight lanes name an element of the first row, at most eight one of the second; the third
    row's get two values of each of their four lanes."""
    kernel = spec(tmp_path, '''
out = k.plane("out", u16, rows=(0, 3), cols=(0, 15), access="out")
src = k.plane("src", u8, rows=(0, 8), cols=(0, 8))
t = k.temp("t", (3, 15), init=10)
with k.stage(y=8, x2=4, x1=2) as (y, x2, x1):
    x = 2 * x2 + x1
    t.accumulate((0, y), src[y, x])
    t.accumulate((1, y + x), src[y, x])
with k.stage(y=8, x=4) as (y, x):
    t.accumulate((2, x), src[y, x] - 255)
    t.accumulate((2, x + 1), src[y, x + 4])
with k.stage(r=3, n=15) as (r, n):
    out[r, n] = t[r, n] + 4096
''')  # fmt: skip
    first, second = 10 + 8 * 255, 8 * 255
    assert Ranges(kernel).temps["t"] == Interval(10 - 8 * 255, first + second)
    items, result = draw(kernel)
    assert (result.buffers["out"][:, 0, :8] == items.buffers["src"].sum(axis=2) + 4106).all()


REFUSED = {
    "varying condition": ('''
out = k.plane("out", u8, rows=(0, 1), cols=(0, 8), access="inout")
with k.stage(x=8, given=k.param("p", u8, 0, 1)) as x:
    out[0, x] = 1
''', "stage", "given= takes a comparison of parameters"),
    "place beyond": ('''
out = k.plane("out", u8, rows=(0, 1), cols=(0, 8), access="out")
src = k.plane("src", u8, rows=(0, 1), cols=(0, 10))
d = k.param("d", u8, 0, 3)
with k.stage(x=8) as x:
    out[0, x] = src[0, x + d]
''', "bounds", "reads src at column 0..10, declared 0..9"),
    "varying place": ('''
out = k.plane("out", u8, rows=(0, 1), cols=(0, 8), access="out")
src = k.plane("src", u8, rows=(0, 1), cols=(0, 200))
with k.stage(x=8) as x:
    out[0, x] = src[0, x + src[0, x]]
''', "bounds", "reads src at column 0..262, declared 0..199"),
    "class of an array": ('''
t = k.params("t", u8, 4, 0, 100)
k.item_class("few", t=(0, 3))
''', "declaration", "class few: t is an array"),
    "no bits": ('''
out = k.plane("out", u8, rows=(0, 1), cols=(0, 8), access="inout")
with k.stage(x=8) as x:
    out[0, x] = low_bits(out[0, x], 0)
''', "operand", "low_bits takes 1 to 32 bits"),
    "half written": ('''
out = k.plane("out", u8, rows=(0, 1), cols=(0, 8), access="out")
on = k.param("on", u8, 0, 1)
t = k.temp("t", (8,))
with k.stage(x=8, given=on > 0) as x:
    t[x] = 1
with k.stage(x=8) as x:
    out[0, x] = t[x]
''', "uninitialised", "reads t where no earlier stage wrote"),
    "too few rows": ('''
out = k.plane("out", u8, rows=(0, 8), cols=(0, 8), access="out")
src = k.plane("src", u8, rows=(0, 15), cols=(0, 8))
n = k.param("n", u8, 1, 8)
t = k.temp("t", (15, 8))
with k.stage(y=k.upto(n + 6, 15), x=8) as (y, x):
    t[y, x] = src[y, x]
with k.stage(y=k.upto(n, 8), x=8) as (y, x):
    out[y, x] = t[y + 7, x]
''', "uninitialised", "reads t where no earlier stage wrote"),
    "rows of another number": ('''
out = k.plane("out", u8, rows=(0, 8), cols=(0, 8), access="out")
n, m = k.param("n", u8, 1, 8), k.param("m", u8, 1, 8)
t = k.temp("t", (8, 8))
with k.stage(y=k.upto(n, 8), x=8) as (y, x):
    t[y, x] = 1
with k.stage(y=k.upto(m, 8), x=8) as (y, x):
    out[y, x] = t[y, x]
''', "uninitialised", "reads t where no earlier stage wrote"),
    "too many numbers": ('''
out = k.plane("out", u8, rows=(0, 8), cols=(0, 8), access="out")
n = k.param("n", u16, 1, 60000)
t = k.temp("t", (8, 8))
with k.stage(y=k.upto(n, 8), x=8) as (y, x):
    t[y, x] = 1
with k.stage(y=k.upto(n, 8), x=8) as (y, x):
    out[y, x] = t[y, x]
''', "uninitialised", "reads t where no earlier stage wrote"),
    "array end": ('''
out = k.plane("out", u8, rows=(0, 1), cols=(0, 8), access="out")
t = k.params("t", u8, 4, 0, 100)
with k.stage(x=8) as x:
    out[0, x] = t[x]
''', "bounds", "reads t at 0..7 of 4 elements"),
    "accumulate without init": ('''
out = k.plane("out", u8, rows=(0, 1), cols=(0, 8), access="out")
t = k.temp("t", (1,))
with k.stage(x=8) as x:
    t.accumulate(0, 1)
with k.stage(x=8) as x:
    out[0, x] = t[0]
''', "uninitialised", "accumulates into t, which nothing has written"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name):
    body, rule, message = REFUSED[name]
    with pytest.raises(SpecError) as e:
        spec(tmp_path, body)
    assert e.value.rule == rule
    assert message in e.value.message
    assert e.value.hint


def test_places_of_unsigned_sums_beyond_32_bits(tmp_path):
    """Processors compute such a sum in 64 bits, GPUs the lowest 32: both have to be inside."""
    text = '''
w = k.block("w", u32, (16,), lo=0, hi=2**32 - 9)
b = k.block("b", u8, (13,))
out = k.plane("out", u8, rows=(0, 1), cols=(0, 16), access="out")
with k.stage(x=16) as x:
    out[0, x] = b[{}]
'''  # fmt: skip
    with pytest.raises(SpecError, match=r"reads b at axis 0 -8\.\.12, declared 0\.\.12"):
        spec(tmp_path, text.format("min(w[x] + 8, 20) - 8"))
    spec(tmp_path, text.format("min(w[x] + 8, 12)"))
