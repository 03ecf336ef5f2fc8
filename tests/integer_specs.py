# SPDX-License-Identifier: BSD-2-Clause
"""Small kernels for integers bit by bit, on every target; see form_specs.py."""

from form_specs import Form, neon

from daedalus.dsl.lang import KernelBuilder, bit, clip, i16, i32, kernel, round_shift, u8, u16, u32


@kernel(clause="bytes bit by bit: values with each other, with constants and with inverses")
def ints_bytes(k: KernelBuilder) -> None:
    a = k.plane("a", u8, rows=(0, 2), cols=(0, 16))
    b = k.plane("b", u8, rows=(0, 2), cols=(0, 16))
    out = k.plane("out", u8, rows=(0, 8), cols=(0, 16), access="out")
    mask = k.param("mask", u8, 0, 255)
    with k.stage(x=16) as x:
        p, q = a[0, x], b[0, x]
        r, s = a[1, x], b[1, x]
        out[0, x] = p & q
        out[1, x] = p | q
        out[2, x] = p ^ q
        out[3, x] = p & ~q
        out[4, x] = (r & 0xF0) | (s & 0x0F)
        out[5, x] = (r ^ mask) & 0x5A
        out[6, x] = (r | ~s) & 255
        out[7, x] = ~r & 255


@kernel(clause="numbers with a sign, narrow beside wide, and all of 32 bits")
def ints_signed(k: KernelBuilder) -> None:
    a = k.block("a", i16, (8, 4))
    b = k.block("b", u8, (8, 4))
    w = k.block("w", u32, (8, 4))
    out = k.block("out", i32, (8, 6), access="out")
    high = k.block("high", u32, (8, 2), access="out")
    with k.stage(i=8) as i:
        x, y, z = a[i, 0], a[i, 1], b[i, 0]
        out[i, 0] = x & y
        out[i, 1] = (x | y) + 1
        out[i, 2] = x ^ z
        out[i, 3] = (x & -16) * 3
        out[i, 4] = ~(x | z)
        out[i, 5] = (a[i, 2] | -32768) ^ a[i, 3]
        high[i, 0] = w[i, 0] ^ w[i, 1]
        high[i, 1] = (w[i, 2] & -256) | (x & 255)


@kernel(clause="single bits: of a place known beforehand, of the item's, of each lane's")
def ints_single(k: KernelBuilder) -> None:
    a = k.block("a", i16, (8, 2))
    at = k.block("at", u8, (8,), hi=15)
    out = k.block("out", u16, (8, 4), access="out")
    n = k.param("n", u8, 0, 31)
    with k.stage(i=8) as i:
        x = a[i, 0]
        out[i, 0] = bit(x, 0) + 2 * bit(x, 3) + 4 * bit(x, 15) + 8 * bit(x, 31)
        out[i, 1] = bit(x, n)
        out[i, 2] = bit(x, at[i])
        out[i, 3] = bit(a[i, 1], clip(a[i, 0], 2, 5)) * 100


@kernel(clause="to the left by the item's value and by each lane's, and the masks so made")
def ints_shifted(k: KernelBuilder) -> None:
    a = k.block("a", i16, (8, 2))
    b = k.block("b", u8, (8, 2))
    by = k.block("by", u8, (8,), hi=31)
    out = k.block("out", i32, (8, 5), access="out")
    few = k.block("few", u8, (8, 2), access="out")
    most = k.block("most", u32, (8,), access="out")
    n = k.param("n", u8, 0, 16)
    with k.stage(i=8) as i:
        x, y, own = a[i, 0], b[i, 0], by[i]
        out[i, 0] = x << n
        out[i, 1] = y << (own & 15)
        out[i, 2] = (1 << (own & 7)) * 3 - (-1 << n)
        out[i, 3] = a[i, 1] & ((1 << (own >> 1)) - 1)
        out[i, 4] = (y << 4 | b[i, 1] & 15) << (n & 3)
        most[i] = y << clip(own, 0, 24)
        few[i, 0] = (y << (n & 7)) & 255
        few[i, 1] = ((y & 15) << bit(own, 2)) ^ (1 << clip(own, 2, 7))


@kernel(clause="two rows by each lane's mask of 64, as blends are")
def ints_blend(k: KernelBuilder) -> None:
    a = k.plane("a", u8, rows=(0, 2), cols=(0, 16))
    b = k.plane("b", u8, rows=(0, 2), cols=(0, 16))
    mask = k.plane("mask", u8, rows=(0, 2), cols=(0, 16), hi=64)
    out = k.plane("out", u8, rows=(0, 2), cols=(0, 16), access="out")
    with k.stage(y=2, x=16) as (y, x):
        m = mask[y, x]
        out[y, x] = round_shift(a[y, x] * (64 - m) + b[y, x] * m, 6)


@kernel(clause="four pixels by the item's weights in both axes, as chroma is predicted")
def ints_bilinear(k: KernelBuilder) -> None:
    src = k.plane("src", u8, rows=(0, 5), cols=(0, 9))
    out = k.plane("out", u8, rows=(0, 4), cols=(0, 8), access="out")
    mx, my = k.param("mx", u8, 0, 8), k.param("my", u8, 0, 8)
    with k.stage(y=4, x=8) as (y, x):
        upper = src[y, x] * (8 - mx) + src[y, x + 1] * mx
        lower = src[y + 1, x] * (8 - mx) + src[y + 1, x + 1] * mx
        out[y, x] = round_shift(upper * (8 - my) + lower * my, 6)


@kernel(clause="10 bits by weights that sum to 64: 16 bits hold it; 12 bits: they do not")
def ints_blend_wide(k: KernelBuilder) -> None:
    a = k.plane("a", u16, rows=(0, 2), cols=(0, 8), hi=1023)
    b = k.plane("b", u16, rows=(0, 2), cols=(0, 8), hi=4095)
    out = k.plane("out", u16, rows=(0, 2), cols=(0, 8), access="out")
    mask = k.plane("mask", u8, rows=(0, 1), cols=(0, 8), hi=64)
    with k.stage(x=8) as x:
        m = mask[0, x]
        out[0, x] = round_shift(a[0, x] * (64 - m) + a[1, x] * m, 6)
        out[1, x] = round_shift(b[0, x] * (64 - m) + b[1, x] * m, 6)


@kernel(clause="rotations of 20 bits by 15: sums of 64 bits, and the upper half of one", wide=True)
def ints_long(k: KernelBuilder) -> None:
    a = k.block("a", i32, (4, 4), lo=-(1 << 19), hi=(1 << 19) - 1)
    out = k.block("out", i32, (5, 4), access="out")
    with k.stage(x=4) as x:
        p, q, r, s = a[:, x]
        turned = p * 15137 - q * 6270 + k.lane(x)
        out[0, x] = round_shift(turned, 14)
        out[1, x] = round_shift(turned - (r * 16069 + s * -3196), 14)
        out[2, x] = (turned + (r * 16069 + s * -3196)) >> 13
        out[3, x] = round_shift((p + q) * 11585, 14)
        out[4, x] = (p - q) * -11585 >> 14


FULL = neon()
INTEGER_FORMS = [
    Form(ints_bytes, {
        FULL: (r"vandq_u8", r"vorrq_u8", r"veorq_u8", r"vbicq_u8", r"vornq_u8", r"vmvnq_u8"),
        neon(items=2): (),
    }),
    Form(ints_signed, {
        FULL: (r"vandq_u16", r"vorrq_u16", r"veorq_u32"), neon(items=2): (),
    }),
    Form(ints_shifted, {FULL: (r"vshlq_[us](16|32)\(",), neon(items=2): ()}),
    Form(ints_blend, {
        FULL: (r"vsubq_u8", r"vmull_u8", r"vmlal_u8", r"vrshrn_n_u16"), neon(items=2): (),
        neon(rows=2): (),
    }),
    Form(ints_bilinear, {
        FULL: (r"vmull_u8", r"vmlal_u8", r"vmlaq_n_s16", r"vrshrn_n_s16"),
        neon(items=2): (),
    }),
    Form(ints_blend_wide, {
        FULL: (r"vmlaq_u16", r"vrshrq_n_u16", r"vmlal_u16", r"NARROW_N\(rshrn, u32"),
        neon(items=2): (),
    }),
    Form(ints_long, {
        FULL: (
            r"vmull_high_laneq_s32", r"vmlsl_laneq_s32", r"v(add|sub)q_[su]64",
            r"vrshrn_high_n_[su]64", r"vshrn_high_n_[su]64",
            r"vqrdmulhq_laneq_s32", r"vqdmulhq_laneq_s32",
        ),
        neon(items=2): (),
    }),
    Form(ints_single, {FULL: (r"vshlq_s(16|32)",), neon(items=2): ()}),
]  # fmt: skip
