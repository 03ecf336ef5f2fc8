# SPDX-License-Identifier: BSD-2-Clause
"""Kernels written with the builder by hand: what the scheduler makes of real bodies."""

from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.virtual import Program, Value

# Of the f16 bit pattern of a sum that is clipped: with it all are normal numbers, whose order is
# that of their patterns, and its low byte is 0.
BIAS = 0x1000
_ROUND = 32


def h264_idct4() -> Program:
    """Sixteen 4x4 blocks a batch, one an element. Uniforms: dst, stride, coeffs (32 bytes an item,
    column-major), meta (dst_off, 4 bytes an item), items, threads."""
    b = Builder("h264_idct4")
    with b.note("what all batches need"):
        dst, coeffs, meta = b.uniform("dst"), b.uniform("coeffs"), b.uniform("meta")
        stride = b.uniform("stride")
        items = b.uniform("items")
        rows = [None, stride, b.op("shl", stride, 1), b.op("smul24", stride, 3)]
        last = b.op("sub", items, 1)
        step = b.op("shl", b.uniform("threads"), 4)
        first = b.op("add", b.op("shl", b.workgroup(), 4), b.element())
    with b.loop(ahead=True) as loop:
        item = loop.carried(first, "item")
        with b.note("addresses"):
            at = b.op("umin", item, last)
            (off,) = b.load(b.op("add", meta, b.op("shl", at, 2)), space="meta")
            at_coeffs = b.op("add", coeffs, b.op("shl", at, 5))
        with b.note("coefficients"):
            half = b.load(at_coeffs, "vec4", space="coeffs")
            words = [*half, *b.load(b.op("add", at_coeffs, 16), "vec4", space="coeffs")]
        block = b.op("add", dst, off)
        with b.note("pixels"):
            pixels = [_row(b, block, r, None) for r in rows]
        with b.note("pass 1"):
            # coefficient (h, v) is half v % 2 of word 2 h + v / 2
            c = [[b.op("mov", words[2 * h + v // 2].unpacked("ih" if v % 2 else "il"))
                  for h in range(4)] for v in range(4)]  # fmt: skip
            # Rounding, and the bias: the DC goes through both passes unchanged.
            c[0][0] = b.op("add", c[0][0], _ROUND + (BIAS << 6))
            passed = [_transform(b, w) for w in c]
        with b.note("pass 2"):
            out = [_transform(b, [passed[v][x] for v in range(4)]) for x in range(4)]
        for y, r in enumerate(rows):
            with b.note(f"row {y}"):
                made = _clip_and_pack(b, [out[x][y] for x in range(4)], pixels[y])
                _row(b, block, r, made)
        after = b.op("add", item, step)
        loop.next(item, after)
        loop.repeat(b.flag("pushc", "sub", after, items), "a0")
    return b.program()


def _row(b: Builder, block: Value, row: Value | None, data: Value | None) -> Value:
    """Loads a row's word, or stores it."""
    address = block if row is None else b.op("add", block, row)
    if data is None:
        return b.load(address, space="dst")[0]
    b.store(address, [data], space="dst")
    return data


def _transform(b: Builder, w: list[Value]) -> list[Value]:
    e, f = b.op("add", w[0], w[2]), b.op("sub", w[0], w[2])
    g = b.op("sub", b.op("asr", w[1], 1), w[3])
    h = b.op("add", w[1], b.op("asr", w[3], 1))
    return [b.op("add", e, h), b.op("add", f, g), b.op("sub", f, g), b.op("sub", e, h)]


def _clip_and_pack(b: Builder, r: list[Value], pixels: Value) -> Value:
    """Four pixels with a residual added, which has 6 bits of fraction and the bias."""
    mask = 0x00FF00FF
    sums = []
    for k, pair in enumerate(((r[0], r[2]), (r[1], r[3]))):
        # (bias + residual) * 64 has at most 19 bits: shifted before it is packed
        residual = b.op("vpack", *(b.op("asr", x, 6) for x in pair))
        own = b.op("and", pixels if k == 0 else b.op("shr", pixels, 8), mask)
        total = b.op("add", residual, own)
        low = b.op("vfmax", total, BIAS | BIAS << 16)
        sums.append(b.op("vfmin", low, (BIAS | BIAS << 16) + mask))
    bias = BIAS | BIAS << 16
    both = b.op("add", sums[0], b.op("shl", sums[1], 8))
    return b.op("sub", both, (bias + (bias << 8)) & 0xFFFFFFFF)
