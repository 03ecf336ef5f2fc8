# SPDX-License-Identifier: BSD-2-Clause
"""Small kernels for the ways in which NEON code does dot products by SDOT; see form_specs.py."""

from form_specs import Form, neon

from daedalus.dsl.lang import KernelBuilder, Value, clip_u8, dot, i8, i16, i32, kernel, u8

# Rows that sum to 64, and to 128: asymmetric, with the ends of 8 bits at either end.
FOUR = ((-128, 127, 40, 25), (127, -100, 30, 7), (64, 0, 0, 0), (0, 0, 0, 64), (25, 40, 127, -128))
EIGHT = (
    (-128, 127, -128, 127, 1, 2, 3, 124), (0, 0, 0, 127, 1, 0, 0, 0), (127, 1, 0, 0, 0, 0, 0, 0),
    (0, 0, 0, 0, 0, 0, 1, 127), (1, 2, 3, 4, 5, 6, 7, 100), (124, 3, 2, 1, 127, -128, 127, -128),
)  # fmt: skip
SDOT = r"vdotq_lane_s32"


def _exact(k: KernelBuilder, taps: int, rows: object, wide: bool) -> None:
    """The sums themselves, in 32 bits, at every place of a row: no clip hides a wrong one."""
    src = k.plane("src", u8, rows=(0, 4), cols=(-1, 7 + taps - 1))
    dst = k.plane("dst", i32, rows=(0, 4), cols=(0, 8), access="out")
    which = k.param("which", u8, 0, 5)
    table = k.table("table", i16 if wide else i8, rows)
    with k.stage(y=4, x=8) as (y, x):
        dst[y, x] = dot(table, which, [src[y, x + n - 1] for n in range(taps)])


@kernel(clause="4 taps of 8 bits")
def dots_four(k: KernelBuilder) -> None:
    _exact(k, 4, FOUR, False)


@kernel(clause="4 taps in 16 bits; an index beyond the last row takes that")
def dots_four_wide(k: KernelBuilder) -> None:
    _exact(k, 4, FOUR, True)


@kernel(clause="8 taps of 8 bits")
def dots_eight(k: KernelBuilder) -> None:
    _exact(k, 8, EIGHT, False)


@kernel(clause="8 taps in 16 bits, of rows of which the last is no row of bytes and never taken")
def dots_eight_wide(k: KernelBuilder) -> None:
    _exact(k, 8, (*EIGHT, (-1000, 1000, 0, 0, 0, 0, 0, 7)), True)


@kernel(clause="several windows a row, of several kinds of taps, and rows that a parameter counts")
def dots_many(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(-2, 6), cols=(-3, 37))
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 32), access="inout")
    a, b, n = k.param("a", u8, 0, 5), k.param("b", u8, 0, 4), k.param("n", u8, 0, 4)
    eight, four = k.table("eight", i16, EIGHT), k.table("four", i8, FOUR)
    with k.stage(y=k.upto(n, 4), x=32) as (y, x):
        across: list[Value] = [src[y, x + m - 3] for m in range(8)]
        above: list[Value] = [src[y - 2, x + m] for m in range(4)]
        dst[y, x] = clip_u8((dot(eight, a, across) + dot(four, b, above) + dst[y, x]) >> 6)


@kernel(clause="windows at places that parameters decide, every item its own")
def dots_places(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 4), cols=(0, 20))
    dst = k.plane("dst", i32, rows=(0, 2), cols=(0, 16), access="out")
    down, right = k.param("down", u8, 0, 2), k.param("right", u8, 0, 1)
    table = k.table("table", i8, FOUR)
    with k.stage(y=2, x=16) as (y, x):
        pixels: list[Value] = [src[y + down, x + n + right] for n in range(4)]
        dst[y, x] = dot(table, down * 2 + right - 1, pixels)


@kernel(clause="a long row, of any length: the windows that are left are done in portable C")
def dots_strips(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 1), cols=(-3, 45))
    dst = k.plane("dst", u8, rows=(0, 1), cols=(0, 41), access="out")
    which, n = k.param("which", u8, 0, 5), k.param("n", u8, 0, 41)
    table = k.table("table", i8, EIGHT)
    with k.stage(x=k.upto(n, 41)) as x:
        dst[0, x] = clip_u8(dot(table, which, [src[0, x + m - 3] for m in range(8)]) >> 7)


@kernel(clause="rows of four outputs of 8 taps, each a window of its own")
def dots_quads(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 4), cols=(-1, 10))
    dst = k.plane("dst", i32, rows=(0, 4), cols=(0, 4), access="out")
    which = k.param("which", u8, 0, 5)
    table = k.table("table", i16, EIGHT)
    with k.stage(y=4, x=4) as (y, x):
        dst[y, x] = dot(table, which, [src[y, x + n - 1] for n in range(8)])


DOT = neon(dot=True)
_ALONE = {
    DOT: (SDOT,), neon(rows=2, dot=True): (SDOT,), neon(items=2, dot=True): (SDOT,),
    neon(items=2, rows=2, dot=True): (SDOT,),
}  # fmt: skip
DOT_FORMS = [
    Form(dots_four, _ALONE),
    Form(dots_four_wide, _ALONE),
    Form(dots_eight, _ALONE),
    Form(dots_eight_wide, _ALONE),
    Form(dots_quads, {DOT: (SDOT,), neon(items=2, dot=True): (SDOT,)}),
    Form(dots_many, {DOT: (SDOT, r"for \(int y = 0")}),
    Form(dots_places, {DOT: (SDOT,), neon(rows=2, dot=True): (), neon(items=2, dot=True): ()}),
    Form(dots_strips, {DOT: (SDOT, r"16 \* x \+ 16 <= x_end")}),
]
