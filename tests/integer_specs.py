# SPDX-License-Identifier: BSD-2-Clause
"""Small kernels for integers bit by bit, on every target; see form_specs.py."""

from form_specs import Form, neon

from daedalus.dsl.lang import KernelBuilder, bit, clip, i16, i32, kernel, u8, u16, u32


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
    Form(ints_single, {FULL: (r"vshlq_s(16|32)",), neon(items=2): ()}),
]  # fmt: skip
