# SPDX-License-Identifier: BSD-2-Clause
"""Specs of what lanes merge, look up and store by themselves: for tests of every target."""

import re
import textwrap
from pathlib import Path

from spec_support import HEAD, kernel_of

from daedalus.dsl.ir import Kernel

DECLARED = """
px = k.plane("px", u8, rows=(0, 8), cols=(0, 48), access=PX)
c = k.block("c", i16, (8, 8), lo=-2000, hi=2000)
p = k.param("p", u8, 0, 60)
d = k.block("d", u32, (2, 16))
"""

WIDE = """
wide = k.block("wide", i32, (48,), access="inout", lo=-9, hi=9)
"""

FIRST_VALUES = """
t = k.temp("t", (8, 8), init=-7)
u = k.temp("u", (8, 3), init=11)
with k.stage(y=8, x=8) as (y, x):
    with k.when(px[y, x] > 100):
        t[y, x] = px[y, x]
with k.stage(y=8) as y:
    with k.when(c[y, 0] > p):
        u[y, 1] = c[y, 1]
with k.stage(y=8, x=8) as (y, x):
    px[y, x] = clip_u8(t[x, y] + u[x, 1])
"""

ONE_SUM = """
total = k.temp("total", (3,), init=5)
with k.stage(y=8, x=16) as (y, x):
    total.accumulate(0, px[y, x])
    with k.when(px[y, x] > p):
        total.accumulate(1, px[y, x] - 300)
    total.accumulate(0, px[y, 17])
with k.stage(x=8) as x:
    wide[x] = total[0] - 2 * total[1] + total[2]
"""

EXTREMES = """
lo, hi = k.temp("lo", (4,), init=900), k.temp("hi", (4,), init=-900)
with k.stage(y=4, x=8) as (y, x):
    lo.accumulate(y, c[y, x], "min")
    with k.when(c[y, x] <= p):
        hi.accumulate(y, c[y + 4, x], "max")
with k.stage(y=4) as y:
    wide[y] = lo[y] - 3 * hi[y]
    wide[y + 4] = hi[y]
"""

DIAGONALS = """
s = k.temp("s", (16,), init=0)
rows = k.temp("rows", (8,), init=0)
with k.stage(y=8, x=8) as (y, x):
    s.accumulate(y + x, c[y, x])
    rows.accumulate(x, c[y, x])
with k.stage(n=16) as n:
    wide[n] = s[n]
with k.stage(n=8) as n:
    wide[n + 16] = rows[n]
"""

LIMITED_SUM = """
s = k.temp("s", (8,), init=0)
with k.stage(y=k.upto(p, 8), x=8, given=p > 2) as (y, x):
    s.accumulate(x, c[y, x])
with k.stage(x=k.upto(p, 48)) as x:
    s.accumulate(3, px[0, x])
with k.stage(n=8) as n:
    wide[n] = s[n]
"""

LOOKUPS = """
curve = k.table("curve", u8, [n * n % 251 for n in range(100)])
weights = k.table("weights", i16, [[n * 301 - 700, 9 - n, n << 11] for n in range(6)])
with k.stage(y=8, x=8) as (y, x):
    px[y, x] = curve[px[y, x] - 100]
    px[y, x + 8] = clip_u8(weights[k.lane(x) - 1, 1] + px[y, x + 8])
    px[y, x + 16] = clip_u8((weights[p, c[y, x]] >> 4) + curve[c[y, x] + px[y, x + 8]])
with k.stage(x=13) as x:
    wide[x] = weights[d[0, 0] >> 30, px[0, x]] * curve[px[1, x] * c[0, 1]]
"""

SIDES = """
with k.stage(y=8, x=8) as (y, x):
    at = k.lane(x)
    with k.when(at < p):
        px[y, x] = 255 - px[y, x]
    with k.when((at > 2) & (at < 7)):
        px[y, x + 8] = 255 - px[y, x + 8]
    with k.when((at == p) | (k.lane(y) + at > 9)):
        px[y, x + 16] = 255 - px[y, x + 16]
    with k.when((at < p) & (px[y, x + 24] > 7)):
        px[y, x + 24] = px[y, x + 24] >> 1
with k.stage(x=16) as x:
    wide[x] = 0
    with k.when(~(k.lane(x) == p)):
        wide[x + 16] = px[0, x]
    with k.when(k.lane(x) < 5):
        wide[x + 32] = px[0, x]
"""

FAR_SIDES = """
with k.stage(x=k.upto(p, 48)) as x:
    at = k.lane(x)
    with k.when((at == p - 3) | (at < 7)):
        px[0, x] = 255 - px[0, x]
    with k.when(at + 2 < p):
        px[1, x] = 255 - px[1, x]
with k.stage(x=48) as x:
    with k.when((k.lane(x) > p) & (k.lane(x) != 40)):
        px[2, x] = px[2, x] >> 1
    wide[x] = px[3, x]
"""

ROWS = """
with k.stage(y=8) as y:
    for n in range(4):
        with k.when(k.lane(y) > p):
            px[y, n] = 255 - px[y, n]
        px[y, n + 4] = 255 - px[y, n + 4]
"""

GATHERS = """
t, u, v = k.temp("t", (4, 16)), k.temp("u", (8, 8)), k.temp("v", (8, 8))
with k.stage(y=4, x=16) as (y, x):
    t[y, x] = px[y, x] * 3 - k.lane(x)
with k.stage(y=8, x=8) as (y, x):
    at = px[y, x] & 7
    far = clip(c[y, x] + k.lane(x), 3, 40)
    u[y, x] = c[at, x] + px[y, far] - px[at, x + low_bits(c[0, x], 4) + (p & 15)]
    v[y, x] = t[at >> 1, 15 - at] + t[3, (d[0, x] >> 31) + x]
with k.stage(x=40) as x:
    wide[x] = px[low_bits(px[1, x], 3), clip(k.lane(x) * 2 - p, 0, 47)]
with k.stage(x=8) as x:
    wide[x + 40] = u[px[0, x] & 7, x] + v[x, px[1, x] & 7]
"""

HELD = """
few = k.table("few", u8, [n * 37 % 251 for n in range(23)])
most = k.table("most", i8, [n * 5 % 127 - 60 for n in range(64)])
halves = k.table("halves", i16, [[n * 301 - 700 * m for n in range(31)] for m in range(3)])
words = k.table("words", i32, [9 - n * 70001 for n in range(16)])
t = k.temp("t", (2, 24))
with k.stage(y=2, x=24) as (y, x):
    t[y, x] = px[y, x] * 3 - k.lane(x)
with k.stage(x=16) as x:
    at = px[0, x]
    px[2, x] = few[at]
    px[3, x] = clip_u8(most[at & 63] + few[at - 100])
with k.stage(x=8) as x:
    wide[x] = halves[p & 1, px[6, x] >> 3] + c[3, clip(c[1, x], 2, 6)] + words[px[0, x] >> 4]
    wide[x + 32] = halves[2, px[7, x] & 31]
    wide[x + 40] = px[1, 20 + clip(c[5, x], -9, 9)]
    wide[x + 8] = t[1, 3 + low_bits(c[2, x], 4)] - c[p & 7, low_bits(c[4, x], 3)]
with k.stage(x=16) as x:
    wide[x + 16] = px[1, clip(px[0, x], 17, 47)] - px[5, 4 + low_bits(c[0, 0], 3)]
"""

MORE_ROWS = """
t = k.temp("t", (11, 8))
with k.stage(y=k.upto(min(p, 8) + 3, 11), x=8) as (y, x):
    t[y, x] = px[0, x + 16] + k.lane(y) * 2
with k.stage(y=k.upto(min(p, 8), 8), x=8) as (y, x):
    px[y, x] = clip_u8(t[y, x] + t[y + 3, x] - t[y + 1, x])
"""

ODD_STRIP = """
t = k.temp("t", (31, 8), init=-3)
with k.stage(y=k.upto(min(p, 31), 31)) as y:
    t.accumulate((y, 5), k.lane(y))
with k.stage(x=8) as x:
    wide[x] = t[x, 5] + 3 * t[x + 23, 5] - t[30, x]
"""

TWO_SIGNS = """
with k.stage(x=8) as x:
    small = c[0, x] * c[1, x]
    at = select(d[0, x] > 900, d[0, x], px[1, x])
    wide[x] = min(at, small)
    wide[x + 8] = max(d[1, x], small) >> 1
    px[0, x] = clip_u8(select(at > small, px[0, x], 3) + select(small <= d[0, 3], 1, 0))
"""

BODIES = {
    "first_values": FIRST_VALUES,
    "one_sum": ONE_SUM,
    "extremes": EXTREMES,
    "diagonals": DIAGONALS,
    "limited_sum": LIMITED_SUM,
    "lookups": LOOKUPS,
    "sides": SIDES,
    "far_sides": FAR_SIDES,
    "rows": ROWS,
    "gathers": GATHERS,
    "held": HELD,
    "more_rows": MORE_ROWS,
    "odd_strip": ODD_STRIP,
    "two_signs": TWO_SIGNS,
}
STRAIGHT = {"first_values", "one_sum", "extremes", "diagonals", "lookups", "rows", "two_signs"}


def lanes_kernel(folder: Path, body: str, name: str = "test_it") -> Kernel:
    """The kernel of a body, after the declarations that it needs."""
    px = '"inout"' if re.search(r"px\[.*\] = ", body) else '"in"'
    wide = WIDE if "wide[" in body else ""
    declared = DECLARED.replace("PX", px) + wide
    text = textwrap.indent((declared + body).strip("\n"), "    ")
    return kernel_of(folder, HEAD.replace("test_it", name) + text)


# Domains of sizes that no device has lanes for.
SIZES = {
    "rows_21": """
t = k.temp("t", (21, 16))
with k.stage(y=21, x=16) as (y, x):
    t[y, x] = far[y, x] + far[y, x + 1]
with k.stage(y=16, x=16) as (y, x):
    out[y, x] = clip_u8((t[y, x] + 2 * t[y + 3, x] - t[y + 5, x]) >> 2)
""",
    "columns_24": """
with k.stage(y=3, x=24) as (y, x):
    with k.when(far[y, x] > p):
        out[y, x] = far[y, x] >> 1
""",
    "sums_65": """
t = k.temp("t", (65,))
with k.stage(n=65) as n:
    t[n] = far[0, n] * 3 + k.lane(n)
with k.stage(n=64) as n:
    out[0, n] = clip_u8(t[n + 1] - t[n])
""",
    "limits": """
with k.stage(y=k.upto(p, 21), x=17) as (y, x):
    out[y, x] = 255 - far[y, x]
with k.stage(x=k.upto(p, 65), given=p > 3) as x:
    out[21, x] = far[3, x]
""",
    "more_rows": """
t = k.temp("t", (19, 21))
n = clip(p, 1, 12)
with k.stage(y=k.upto(n + 7, 19), x=21) as (y, x):
    t[y, x] = far[y, x] + 3 * far[y, x + 1]
with k.stage(y=k.upto(n, 12), x=21) as (y, x):
    out[y, x] = clip_u8((t[y, x] + 2 * t[y + 7, x] - t[y + 3, x]) >> 3)
""",
    "large": """
with k.stage(y=24, x=64) as (y, x):
    out[y, x] = far[y, x + 1]
""",
    "large_sum": """
s = k.temp("s", (24,), init=7)
with k.stage(y=24, x=64) as (y, x):
    s.accumulate(y, far[y, x])
with k.stage(y=24) as y:
    out[y, 0] = clip_u8(s[y] >> 6)
""",
}


def sized_kernel(folder: Path, name: str) -> Kernel:
    """The kernel of one of SIZES."""
    declared = """
far = k.plane("far", u8, rows=(0, 24), cols=(0, 66))
out = k.plane("out", u8, rows=(0, 24), cols=(0, 65), access="inout")
p = k.param("p", u8, 0, 65)
"""
    text = textwrap.indent((declared + SIZES[name]).strip("\n"), "    ")
    return kernel_of(folder, HEAD.replace("test_it", f"of_{name}") + text)
