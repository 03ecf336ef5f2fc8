# SPDX-License-Identifier: BSD-2-Clause
"""Small kernels, each for one way in which NEON code walks a stage or touches memory.

`FORMS` lists them with the variants they are run under and what must be seen in the code, so that
a form that is no longer taken is noticed.
"""

from dataclasses import dataclass

from daedalus.dsl.lang import (
    KernelBuilder,
    Value,
    absdiff,
    clip,
    clip_u8,
    i8,
    i16,
    i32,
    kernel,
    low_bits,
    max,
    min,
    round_shift,
    select,
    u8,
    u16,
    wrap,
)
from daedalus.dsl.spec import KernelSpec
from daedalus.generator.options import Options, options_of


@dataclass(frozen=True)
class Form:
    """A kernel, and by variant the texts (regular expressions) that its code must have."""

    spec: KernelSpec
    seen: dict[Options, tuple[str, ...]]


def neon(
    class_name: str = "full",
    *,
    items: int = 1,
    rows: int = 1,
    early: bool = False,
    branch: bool = False,
    dot: bool = False,
) -> Options:
    return options_of(
        "neon", class_name, items=items, rows=rows, dot=dot, branch=branch, early_out=early
    )


# ------------------------------------------------------------------ vectors of several axes


@kernel(clause="four rows of four bytes, at eight places, at five of them again")
def forms_words(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 4), cols=(-3, 8))
    dst = k.plane("dst", i32, rows=(0, 8), cols=(0, 4), access="out")
    with k.stage(y=4, x=4) as (y, x):
        eight, five = (
            sum((src[y, x + n - at] * (5 * n * n + 1) for n in range(many)), k.lane(y))
            for many, at in ((8, 3), (5, 1))
        )
        dst[y, x], dst[y + 4, x] = eight, five


@kernel(clause="four rows of four bytes, from eight rows on")
def forms_words_down(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 11), cols=(0, 4))
    dst = k.plane("dst", i32, rows=(0, 4), cols=(0, 4), access="out")
    with k.stage(y=4, x=4) as (y, x):
        dst[y, x] = sum((src[y + n, x] * (5 * n * n + 1) for n in range(8)), k.lane(y))


@kernel(clause="four rows of four bytes, between which are some that nothing reads")
def forms_words_far(k: KernelBuilder) -> None:
    high = k.plane("high", u8, rows=(0, 11), cols=(0, 4))
    wide = k.plane("wide", u8, rows=(0, 4), cols=(0, 12))
    dst = k.plane("dst", i32, rows=(0, 8), cols=(0, 4), access="out")
    with k.stage(y=4, x=4) as (y, x):
        dst[y, x] = high[y, x] * 3 + high[y + 7, x]
        dst[y + 4, x] = wide[y, x] * 5 + wide[y, x + 8]


@kernel(clause="eight bytes that are moved, one run into two rows; and some that are not")
def forms_moved(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 4), cols=(-1, 9))
    dst = k.plane("dst", u8, rows=(0, 6), cols=(0, 9), access="out")
    n = k.param("n", u8, 0, 2)
    with k.stage(y=k.upto(n, 2), x=8) as (y, x):
        dst[y, x + 1] = src[y, x - 1]
        dst[y + 2, x] = src[y, x - 1]
        dst[y + 4, x] = src[y + 2, x + 1] ^ 255


@kernel(clause="4 lanes a row: two axes share a vector, four items or more rows another")
def forms_quads(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(-1, 5), cols=(0, 4))
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 4), access="inout")
    p = k.param("p", u8, 0, 255)
    with k.stage(y=4, x=4) as (y, x):
        dst[y, x] = (src[y - 1, x] + src[y + 1, x] + dst[y, x] + p) >> 2


@kernel(clause="rows of 8 with 16-bit elements: r2 fills registers, r4 and r8 several")
def forms_rows(k: KernelBuilder) -> None:
    src = k.plane("src", u16, rows=(0, 9), cols=(-1, 9), hi=1023)
    dst = k.plane("dst", u16, rows=(0, 8), cols=(0, 8), access="out")
    with k.stage(y=8, x=8) as (y, x):
        dst[y, x] = round_shift(src[y, x - 1] + src[y + 1, x + 1], 1) + k.lane(y)


@kernel(clause="blocks, whose rows are one run; every row's lanes as values")
def forms_packed(k: KernelBuilder) -> None:
    src = k.block("src", i16, (4, 4), lo=-500, hi=500)
    dst = k.block("dst", i32, (4, 4), access="out")
    with k.stage(y=4, x=4) as (y, x):
        dst[y, x] = src[x, y] * 3 + src[y, x] * k.lane(4 * y - x)


@kernel(clause="an axis of 3 rows cannot be joined, one of 6 divides by 2 only")
def forms_odd_rows(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 6), cols=(0, 8))
    dst = k.plane("dst", u8, rows=(0, 6), cols=(0, 8), access="out")
    t = k.temp("t", (3, 4))
    with k.stage(y=3, x=4) as (y, x):
        t[y, x] = src[2 * y, x] + src[y, x + 4]
    with k.stage(y=6, x=8) as (y, x):
        dst[y, x] = clip_u8(src[y, x] + t[1, 2] - t[2, 3])


@kernel(clause="stores under a condition on data, and none of most items")
def forms_masked(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 4), cols=(0, 5))
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 4), access="inout")
    p = k.param("p", u8, 100, 255)
    with k.stage(y=4, x=4) as (y, x), k.when(absdiff(src[y, x], src[y, x + 1]) > p):
        dst[y, x] = src[y, x]


@kernel(clause="multipliers of a table's row that a parameter chooses: of a full vector, and not")
def forms_table_rows(k: KernelBuilder) -> None:
    src = k.plane("src", u16, rows=(0, 1), cols=(0, 8), hi=4095)
    dst = k.plane("dst", i32, rows=(0, 2), cols=(0, 8), access="out")
    n = k.param("n", u8, 0, 3)
    rows = [[(17 * r + 5 * c) % 255 - 127 for c in range(12)] for r in range(4)]
    taps = k.table("taps", i16, rows)
    with k.stage(x=8) as x:
        dst[0, x] = src[0, x] * taps[n, 1] + k.lane(x) * taps[n, 7]
        dst[1, x] = src[0, x] * taps[n, 8] + k.lane(x) * taps[n, 3]


@kernel(clause="an axis whose parts would be called like another one, which stands beside it")
def forms_names(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 4), cols=(0, 40))
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 40), access="out")
    n = k.param("n", u8, 0, 40)
    with k.stage(x_in=4, x=k.upto(n, 40)) as (x_in, x):
        dst[x_in, x] = src[x_in, x] >> 2


@kernel(clause="9 lanes of 32 bits: whole registers of padding")
def forms_padded(k: KernelBuilder) -> None:
    src = k.plane("src", i32, rows=(0, 2), cols=(0, 9), lo=-1000, hi=1000)
    dst = k.plane("dst", i32, rows=(0, 1), cols=(0, 9), access="out")
    with k.stage(x=9) as x:
        dst[0, x] = src[0, x] * 3 - src[1, 8 - x]


# ------------------------------------------------------------------ array parameters


@kernel(clause="array parameters: neighbours, repeated twice and four times, single")
def forms_lists(k: KernelBuilder) -> None:
    px = k.plane("px", u8, rows=(0, 4), cols=(0, 16), access="inout")
    a = k.params("a", i8, 16, -100, 100)
    b = k.params("b", u8, 8, 0, 200)
    c = k.params("c", i16, 4, -3000, 3000)
    with k.stage(s=16) as s:
        px[0, s] = clip_u8(px[0, s] + a[s])
    with k.stage(s=8, x=2) as (s, x):
        px[1, 2 * s + x] = max(px[1, 2 * s + x], b[s])
    with k.stage(s=4, x=4) as (s, x):
        px[2, 4 * s + x] = clip_u8(px[2, 4 * s + x] + (c[s] >> 4) + b[x])
    with k.stage(s=16) as s:
        px[3, s] = select(px[3, s] > b[7], b[3], px[3, s])


# ------------------------------------------------------------------ strips


@kernel(clause="an extent that a parameter decides: every length of the tail; 8 and 16 bits")
def forms_upto(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 2), cols=(0, 41))
    dst = k.plane("dst", u8, rows=(0, 2), cols=(0, 41), access="out")
    wide = k.plane("wide", u16, rows=(0, 1), cols=(-3, 38), access="inout")
    n, m = k.param("n", u8, 0, 41), k.param("m", u8, 0, 2)
    with k.stage(y=k.upto(m, 2), x=k.upto(n, 41)) as (y, x):
        dst[y, x] = 255 - src[y, x]
    with k.stage(x=k.upto(n - 2, 41)) as x:
        wide[0, x - 3] = low_bits(wide[0, x - 3] * 5 + src[1, x], 14)


@kernel(clause="an axis longer than registers hold, whose last points make no strip")
def forms_long(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 2), cols=(0, 37))
    dst = k.plane("dst", i16, rows=(0, 1), cols=(0, 37), access="out")
    t = k.temp("t", (37,))
    with k.stage(x=37) as x:
        t[x] = k.lane(8 * x)  # the last strip's values need 16 bits, the others' 8
    with k.stage(x=37) as x:
        dst[0, x] = t[x] - src[1, x]


@kernel(clause="a long axis on which only few lanes store anything")
def forms_seldom(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 1), cols=(0, 40))
    px = k.plane("px", u8, rows=(0, 1), cols=(0, 40), access="inout")
    with k.stage(x=40) as x, k.when(src[0, x] > 250):
        px[0, x] = src[0, x]


@kernel(clause="three values in turn, each as far as its own condition lets it")
def forms_turn(k: KernelBuilder) -> None:
    src = k.plane("src", u16, rows=(0, 2), cols=(0, 16))
    dst = k.plane("dst", u16, rows=(0, 2), cols=(0, 48), access="out")
    width, words = k.param("width", u8, 0, 48), k.param("words", u8, 0, 16)
    with k.stage(y=2, w=k.upto(words, 16)) as (y, w):
        for n in range(3):
            with k.when(k.lane(3 * w + n) < width):
                dst[y, 3 * w + n] = src[y, w] >> (4 * n)


@kernel(clause="conditions on both sides of a lane, on two axes, and beside one on data")
def forms_sides(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 4), cols=(0, 40))
    px = k.plane("px", u8, rows=(0, 4), cols=(0, 40), access="inout")
    far = k.plane("far", u8, rows=(0, 1), cols=(0, 40), access="inout")
    p, q = k.param("p", u8, 0, 40), k.param("q", u8, 0, 12)
    with k.stage(y=k.upto(q, 4), x=k.upto(p, 40)) as (y, x), k.when(k.lane(x - 2 * y) < p - 8):
        px[y, x] = src[y, x]
    with k.stage(x=k.upto(p, 40)) as x, k.when((k.lane(x) >= q) & (k.lane(2 * x) < p)):
        far[0, x] = src[3, x] >> 1
    with k.stage(x=k.upto(p, 40)) as x, k.when((k.lane(x) < q) & (src[0, x] > 99)):
        px[3, x] = src[3, x] >> 1


@kernel(clause="two and four values in turn; of twelve lanes only the first register is full")
def forms_pairs(k: KernelBuilder) -> None:
    src = k.block("src", u16, (12,), hi=60000)
    pairs = k.plane("pairs", u16, rows=(0, 1), cols=(0, 24), access="out")
    few = k.plane("few", u8, rows=(0, 1), cols=(0, 8), access="out")
    fours = k.plane("fours", u8, rows=(0, 1), cols=(-8, 24), access="inout")
    with k.stage(x=12) as x:
        pairs[0, 2 * x] = src[x]
        pairs[0, 2 * x + 1] = (src[x] >> 3) + k.lane(x)
    with k.stage(x=4) as x:  # half a register
        few[0, 2 * x] = clip_u8(src[x] >> 8)
        few[0, 2 * x + 1] = clip_u8(src[2 * x])
    with k.stage(x=8) as x:
        for n in range(4):  # every load must come before the store of all four
            fours[0, 4 * x - 8 + n] = 255 - fours[0, 4 * x - 5 - n]


@kernel(clause="what is stored first is wanted last: rows, tiles, and elements in turn")
def forms_swap(k: KernelBuilder) -> None:
    px = k.plane("px", u8, rows=(0, 8), cols=(0, 8), access="inout")
    line = k.plane("line", u8, rows=(0, 1), cols=(0, 16), access="inout")
    last = k.block("last", u8, (8,), access="out")
    other = k.block("other", u8, (8,))
    with k.stage(x=8) as x:
        a, b = px[0, x], px[1, x]
        px[0, x] = 255 - b
        px[1, x] = a
        even, odd = line[0, 2 * x], line[0, 2 * x + 1]
        line[0, 2 * x] = a
        line[0, 2 * x + 1] = b
        last[x] = absdiff(even, odd)
    with k.stage(i=8) as i:
        a = px[i, 0]
        px[i, 0] = other[i]
        px[i, 5] = a


# ------------------------------------------------------------------ what parameters decide


@kernel(clause="conditional stages with vectors, with loops, with strips")
def forms_given(k: KernelBuilder) -> None:
    near = k.plane("near", u8, rows=(-2, 4), cols=(-2, 10))
    other = k.plane("other", u8, rows=(0, 2), cols=(0, 40))
    dst = k.plane("dst", u8, rows=(0, 5), cols=(0, 40), access="inout")
    top, n = k.param("top", u8, 0, 1), k.param("n", u8, 0, 40)
    with k.stage(x=8, given=top > 0) as x:
        dst[0, x] = max(near[-2, x - 1], near[0, x])
    with k.stage(y=k.upto(n, 4), x=8, given=top > 0) as (y, x):
        dst[y + 1, x] = near[y, x] + 0
    with k.stage(x=k.upto(n, 40), given=(top == 0) & (n > 3)) as x:
        dst[0, x] = (other[0, x] + other[1, x] + 1) >> 1


@kernel(clause="a temp that one stage fills under a condition, another under the opposite")
def forms_either(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(-1, 8), cols=(0, 8))
    dst = k.plane("dst", u8, rows=(0, 8), cols=(0, 8), access="out")
    top = k.param("top", u8, 0, 1)
    k.item_class("always", top=(1, 1))
    k.item_class("never", top=(0, 0))
    t = k.temp("t", (9, 8))
    with k.stage(x=8, given=top > 0) as x:
        t[0, x] = src[-1, x]
    with k.stage(x=8, given=~(top > 0)) as x:
        t[0, x] = 99
    with k.stage(y=8, x=8) as (y, x):
        t[y + 1, x] = src[y, x]
    with k.stage(y=8, x=8) as (y, x):
        dst[y, x] = (t[y, x] + t[y + 1, x]) >> 1


@kernel(
    clause="an axis whose last points make no strip; from a strip that they would fill, lanes would"
    " name elements that the row has not"
)
def forms_stretched(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 4), cols=(0, 11))
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 40), access="out")
    start, rows = k.param("start", u8, 0, 3), k.param("rows", u8, 1, 4)
    with k.stage(y=k.upto(rows, 4), x=40) as (y, x):
        dst[y, x] = src[y, (start + k.lane(x)) >> 2]


# ------------------------------------------------------------------ run-time places


@kernel(clause="places that parameters and tables decide, in planes of both widths and in a temp")
def forms_places(k: KernelBuilder) -> None:
    near = k.plane("near", u8, rows=(-3, 11), cols=(-3, 11))
    wide = k.plane("wide", i16, rows=(-3, 11), cols=(-3, 11))
    dst = k.plane("dst", i32, rows=(0, 8), cols=(0, 8), access="out")
    flat = k.block("flat", i16, (40,))
    d = k.param("d", u8, 0, 7)
    e = k.params("e", i8, 2, -3, 3)
    dy = k.table("dy", i8, [-3, -2, -1, 0, 0, 1, 2, 3])
    t = k.temp("t", (10, 12))
    with k.stage(y=10, x=12) as (y, x):
        t[y, x] = near[y, x - 2] - near[y - 2, x - 2]
    with k.stage(y=8, x=8) as (y, x):
        a = near[y + dy[d], x + e[1]]
        b = wide[y + e[0], x - dy[d]]
        c = t[y + (d >> 2), x + clip(e[0] + 1, 0, 4)]
        dst[y, x] = a + b * 3 + c + flat[x + 4 * d] + wide[y, x + e[1]]


@kernel(
    clause="run-time places beside the axis of a loop; values that are the same in a loop's turn"
)
def forms_turns(k: KernelBuilder) -> None:
    near = k.plane("near", i16, rows=(-2, 6), cols=(0, 12))
    flat = k.block("flat", u8, (4, 9))
    dst = k.plane("dst", i16, rows=(0, 4), cols=(0, 8), access="inout", lo=-9999, hi=9999)
    d, n = k.param("d", u8, 0, 4), k.param("n", u8, 0, 4)
    with k.stage(y=k.upto(n, 4), x=8) as (y, x):
        a = near[y + d - 2, x + d] >> 2
        b = flat[y, 8] - flat[y, x] + k.lane(3 * y + x)
        dst[y, x] = (dst[y, x] + a + b) >> 1


@kernel(clause="a temp of a limited length between strips, read beside where it was written")
def forms_between(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 1), cols=(0, 44))
    dst = k.plane("dst", u8, rows=(0, 1), cols=(0, 40), access="out")
    n = k.param("n", u8, 0, 40)
    u = k.temp("u", (44,))
    with k.stage(x=44) as x:
        u[x] = src[0, x] * 3
    with k.stage(x=k.upto(n, 40)) as x:
        dst[0, x] = (u[x] + u[x + 1] + u[x + 4]) >> 4


# ------------------------------------------------------------------ temps, clips, wraps, sums


@kernel(clause="a temp written, then partly written again under a condition, by columns")
def forms_kept(k: KernelBuilder) -> None:
    dst = k.plane("dst", i32, rows=(-1, 3), cols=(-4, 0), access="inout", lo=-(1 << 20), hi=1 << 20)
    t = k.temp("t", (4, 1, 4))
    with k.stage(n=4) as n:
        for r in range(4):
            t[r, 0, n] = dst[r - 1, n - 4] >> 1
    with k.stage(v=4) as v, k.when(dst[1, v - 4] >= 1000):
        t[v, 0, 3] = dst[1, v - 4]
    with k.stage(v=4) as v:
        dst[v - 1, -3] = t[2, 0, v] - t[v, 0, 3]


@kernel(clause="a temp that a shorter stage writes a part of anew")
def forms_rewritten(k: KernelBuilder) -> None:
    src = k.block("src", u8, (2, 8))
    dst = k.block("dst", u8, (2, 8), access="out")
    t = k.temp("t", (2, 8))
    with k.stage(n=8) as n:
        t[0, n] = src[0, n]
        t[1, n] = src[1, n]
    with k.stage(n=4) as n:
        t[1, n] = 255 - src[0, n]
    with k.stage(n=8) as n:
        dst[0, n] = t[1, n]
        dst[1, n] = absdiff(t[0, n], t[1, n])


@kernel(clause="the lowest 5, 8, 11 and 16 bits, stored as they are and shifted up")
def forms_bits(k: KernelBuilder) -> None:
    src = k.block("src", i32, (8,), lo=-(1 << 28), hi=1 << 28)
    dst = k.block("dst", i32, (5, 8), access="out")
    low = k.block("low", u16, (3, 8), access="out")
    with k.stage(x=8) as x:
        for n, bits in enumerate((5, 8, 11, 16)):
            dst[n, x] = low_bits(src[x] >> n, bits)
        dst[4, x] = wrap(src[x], i8) * 3
        low[0, x] = low_bits(src[x] >> 2, 10) << 6
        low[2, x] = low_bits(src[x] >> 5, 10) << 3  # higher bits than the lane's would be wrong
        low[1, x] = abs(wrap(src[x] >> 3, i16))


@kernel(
    clause="a filter whose sum needs the bias, rounded and not, and clipped; and its neighbours"
)
def forms_sums(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 1), cols=(0, 16))
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 8), access="out")
    raw = k.plane("raw", i16, rows=(0, 1), cols=(0, 8), access="out")
    taps = (-3, -6, 64, 90, 64, 4, -3, -1)
    with k.stage(x=8) as x:
        s = [src[0, x + n] for n in range(8)]
        total = sum(v * c for v, c in zip(s, taps, strict=True))
        dst[0, x] = clip_u8(round_shift(total, 7))
        dst[1, x] = clip_u8((total - 5) >> 6)
        dst[2, x] = clip_u8((total + 32) >> 6)
        dst[3, x] = select(s[0] - s[1] <= 0, s[2], select(s[3] - s[4] < 0, s[5], s[6]))
        raw[0, x] = total >> 3


def _long_way(p: Value, q: Value) -> Value:
    """Enough operations that skipping them is worth a branch."""
    for n in range(9):
        p = absdiff(max(p, q) >> 1, min(p + 3, q)) if n % 2 else clip_u8(p + q - n)
    return p


@kernel(clause="choices by one condition, made of one another and of what lies between")
def forms_chosen(k: KernelBuilder) -> None:
    px = k.plane("px", u8, rows=(0, 4), cols=(0, 8), access="inout")
    with k.stage(x=8) as x:
        a, b, c, d = (px[n, x] for n in range(4))
        wanted = a > 200
        first = select(wanted, _long_way(a, b), c)
        between = absdiff(first, d)
        px[0, x] = select(wanted, _long_way(between, d), between)
        px[1, x] = between
        px[2, x] = select(wanted, _long_way(b, c), first)


@kernel(clause="a choice on 17 lanes: of its registers some are padding alone")
def forms_chosen_few(k: KernelBuilder) -> None:
    src = k.block("src", u8, (3, 17))
    dst = k.block("dst", i16, (17,), access="out")
    with k.stage(x=17) as x:
        a, b, c = (src[n, x] for n in range(3))
        dst[x] = select(a > 200, _long_way(a, b) * 3 - c, c * 9)


@kernel(clause="what lanes look up of a table in front of rows, each of which may take a short way")
def forms_shortened(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 4), cols=(0, 15))
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 8), access="inout")
    lim, start = k.param("lim", u8, 0, 255), k.param("start", u8, 0, 7)
    taps = k.table("taps", u8, [[3 * n] for n in range(32)])
    with k.stage(y=4, x=8) as (y, x):
        tap = taps[(start + k.lane(x)) & 15, 0]
        near = [src[y, x + n] for n in range(8)]
        wanted = absdiff(near[0], near[1]) <= lim
        flat = wanted & (absdiff(near[2], near[3]) <= lim)
        short = long = dst[y, x]
        for n in range(16):
            short = clip_u8((short * (n + 3) + near[n % 8] * tap + n) >> 6)
        for n in range(40):
            long = clip_u8((long * (n + 5) + near[(n + 1) % 8] * tap + n * 3) >> 5)
        with k.when(wanted):
            dst[y, x] = select(flat, short, long)


FULL = neon()
EACH_ROW_ONCE = r"\A([\s\S]*const daedalus_any_u32){11}(?![\s\S]*const daedalus_any_u32)"
FORMS = [
    Form(forms_words, {
        FULL: (r"vuzp1q_u32", r"vuzp2q_u32", r"vsliq_n_u32"), neon(items=2): (), neon(rows=2): (),
    }),
    Form(forms_words_down, {
        FULL: (r"vextq_u32\(\w+, \w+, 3\)", EACH_ROW_ONCE), neon(items=2): (), neon(rows=2): (),
    }),
    Form(forms_words_far, {FULL: (r"\A(?![\s\S]*(vextq_u32|vuzp1q_u32))",)}),
    Form(forms_moved, {FULL: (r"\buint64_t", r"\(daedalus_any_u64 \*\)&dst")}),
    Form(forms_quads, {
        FULL: (r"vld1q?_u8|vsetq?_lane_u32",),
        neon(items=2): (), neon(items=4): (), neon(items=8): (), neon(rows=2): (), neon(rows=4): (),
    }),
    Form(forms_rows, {
        FULL: (r"src_row1",), neon(rows=2): (r"_1 = ",), neon(rows=4): (), neon(rows=8): (),
        neon(items=2): (), neon(items=2, rows=2): (),
    }),
    Form(forms_packed, {FULL: (), neon(items=2): (), neon(rows=2): ()}),
    Form(forms_odd_rows, {FULL: (), neon(rows=2): (), neon(rows=4): (), neon(items=2): ()}),
    Form(forms_masked, {
        FULL: (), neon(early=True): (r"return;",), neon(rows=2): (), neon(items=2, early=True): (),
        neon(items=4, rows=2, early=True): (),
    }),
    Form(forms_padded, {FULL: (), neon(items=2): ()}),
    Form(forms_table_rows, {
        FULL: (r"_laneq_[su]16\(.*taps\w*\W.* 7\)", r"_laneq_[su]16\(.* 3\)", r"_n_[su]16\("),
        neon(items=2): (),
    }),
    Form(forms_names, {FULL: (r"16 \* x \+ 16 <= x_end",), neon(rows=2): ()}),
    Form(forms_lists, {FULL: (r"vzip1q?_u8\(z", r"daedalus_any_u32 \*\)&c"), neon(items=2): ()}),
    Form(forms_upto, {FULL: (r"for \(; 16 \* x \+ 16 <= x_end", r"for \(; 8 \* x \+ 8 <= x_end")}),
    Form(forms_long, {FULL: (r"const int x_end\w* = 37;",)}),
    Form(forms_seldom, {FULL: (), neon(early=True): (r"continue;",)}),
    Form(forms_turn, {FULL: (r"vst3q?_u16", r"3 \* \(8 \* w \+ 7\)|w \+ 7")}),
    Form(forms_sides, {FULL: (r"for \(; .* && ",)}),
    Form(forms_pairs, {FULL: (r"vst4_u8",)}),
    Form(forms_swap, {FULL: (r"vst2_u8", r"vtrn1")}),
    Form(forms_stretched, {FULL: (r"16 \* x \+ 16 <= x_end", r"\A(?![\s\S]*daedalus_bytes)")}),
    Form(forms_given, {FULL: (r"if \(top",)}),
    Form(forms_either, {FULL: (r"if \(top",), neon("always"): (), neon("never"): ()}),
    Form(forms_places, {FULL: (r"near_offset", r"wide_offset", r"t_offset"), neon(items=2): ()}),
    Form(forms_turns, {FULL: (r"for \(int y = 0",)}),
    Form(forms_between, {FULL: (r"int16_t u\[44\]",)}),
    Form(forms_kept, {FULL: ()}),
    Form(forms_rewritten, {FULL: (r"uint8_t t\[2\]\[8\]",), neon(items=2): ()}),
    Form(forms_bits, {FULL: (r"vandq?_u",), neon(items=2): ()}),
    Form(forms_chosen, {FULL: (), neon(branch=True): (r"(?s)if \(\(vget.*vbsl",)}),
    Form(forms_chosen_few, {neon(branch=True): (r"(?s)if \(\(vget.*vbsl",)}),
    Form(forms_shortened, {
        FULL: (),
        neon(early=True, branch=True): (
            r"(?s)vqtbl\w+\(.*for \(int y.*UINT64_MAX\) \{.*continue;",
        ),
    }),
    Form(forms_sums, {FULL: (r"vqsubq_u16", r"vcge"), neon(items=2): ()}),
]  # fmt: skip
