# SPDX-License-Identifier: BSD-2-Clause
"""Kernels written with the builder by hand: what the scheduler makes of real bodies."""

from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.virtual import Program, Value

# Of the f16 bit pattern of a sum that is clipped: with it all are normal numbers, whose order is
# that of their patterns, and its low byte is 0.
BIAS = 0x1000
_ROUND = 32


def h264_idct4() -> Program:
    """Sixteen 4x4 blocks a trip, one an element. Uniforms: dst, stride, coeffs (32 bytes an item,
    column-major), meta (dst_off, 4 bytes an item), items, threads."""
    b = Builder("h264_idct4")
    with b.note("what all trips need"):
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


def h264_idct8() -> Program:
    """Sixteen 8x8 blocks a trip, one an element; uniforms as above, coeffs 128 bytes an item.
    Values live in pairs of 16 bits between the passes."""
    b = Builder("h264_idct8")
    dst, coeffs, meta = b.uniform("dst"), b.uniform("coeffs"), b.uniform("meta")
    stride, items = b.uniform("stride"), b.uniform("items")
    last = b.op("sub", items, 1)
    step = b.op("shl", b.uniform("threads"), 4)
    first = b.op("add", b.op("shl", b.workgroup(), 4), b.element())
    with b.loop(ahead=True) as loop:
        item = loop.carried(first, "item")
        at = b.op("umin", item, last)
        (off,) = b.load(b.op("add", meta, b.op("shl", at, 2)), space="meta")
        at_coeffs = b.op("add", coeffs, b.op("shl", at, 7))
        block = b.op("add", dst, off)
        # word 4 h + v / 2 holds coefficients (h, v), v even in the low half; two at once, as four
        # would take more registers than there are
        words: dict[int, Value] = {}
        for half in range(2):
            place = at_coeffs if half == 0 else b.op("add", at_coeffs, 8)
            for h in range(8):
                words[4 * h + 2 * half], words[4 * h + 2 * half + 1] = b.load(
                    place, "vec2", space="coeffs"
                )
                place = b.op("add", place, 16)
        words[0] = b.op("vadd", words[0], _ROUND)
        rows: list[list[Value]] = []  # [pair of v][x]
        for pair in range(4):
            with b.note(f"pass 1, columns {2 * pair} and {2 * pair + 1}"):
                halves = [
                    _transform8(b, [b.op("mov", words[4 * h + pair].unpacked(k)) for h in range(8)])
                    for k in ("il", "ih")
                ]
                rows.append([b.op("vpack", x, y) for x, y in zip(*halves, strict=True)])
        packed: list[list[Value]] = []  # [pair of x][y]
        for pair in range(4):
            with b.note(f"pass 2, columns {2 * pair} and {2 * pair + 1}"):
                halves = [
                    _transform8(
                        b,
                        [b.op("mov", rows[v // 2][x].unpacked("ih" if v % 2 else "il"))
                         for v in range(8)],
                    )
                    for x in (2 * pair, 2 * pair + 1)
                ]  # fmt: skip
                packed.append([b.op("vpack", x, y) for x, y in zip(*halves, strict=True)])
        row = block
        for y in range(8):
            with b.note(f"row {y}"):
                pixels = b.load(row, "vec2", space=f"row {y}")
                out = [_add_pairs(b, packed[2 * k][y], packed[2 * k + 1][y], pixels[k])
                       for k in range(2)]  # fmt: skip
                b.store(row, out, "vec2", space=f"row {y}")
                if y < 7:
                    row = b.op("add", row, stride)
        after = b.op("add", item, step)
        loop.next(item, after)
        loop.repeat(b.flag("pushc", "sub", after, items), "a0")
    return b.program()


def _transform8(b: Builder, w: list[Value]) -> list[Value]:
    def add(*x: Value) -> Value:
        total = x[0]
        for other in x[1:]:
            total = b.op("add", total, other)
        return total

    def sub(*x: Value) -> Value:
        total = x[0]
        for other in x[1:]:
            total = b.op("sub", total, other)
        return total

    def half(x: Value, n: int = 1) -> Value:
        return b.op("asr", x, n)

    a0, a2 = add(w[0], w[4]), sub(w[0], w[4])
    a4, a6 = sub(half(w[2]), w[6]), add(w[2], half(w[6]))
    a1 = sub(w[5], w[3], w[7], half(w[7]))
    a3 = sub(add(w[1], w[7]), w[3], half(w[3]))
    a5 = add(sub(w[7], w[1]), w[5], half(w[5]))
    a7 = add(w[3], w[5], w[1], half(w[1]))
    b0, b6, b2, b4 = add(a0, a6), sub(a0, a6), add(a2, a4), sub(a2, a4)
    b1, b7 = add(a1, half(a7, 2)), sub(a7, half(a1, 2))
    b3, b5 = add(a3, half(a5, 2)), sub(half(a3, 2), a5)
    return [
        *(add(b0, b7), add(b2, b5), add(b4, b3), add(b6, b1)),
        *(sub(b6, b1), sub(b4, b3), sub(b2, b5), sub(b0, b7)),
    ]


def _add_pairs(b: Builder, low: Value, high: Value, pixels: Value) -> Value:
    """Four pixels with two pairs of residuals added, which have 6 bits of fraction."""
    out = []
    for k, residual in enumerate((low, high)):
        for half in ("il", "ih"):
            value = b.op("asr", b.op("mov", residual.unpacked(half)), 6)
            shift = 16 * k + 8 * (half == "ih")
            pixel = b.op("shr", pixels, shift) if shift else pixels
            pixel = b.op("and", pixel, 255) if shift < 24 else pixel
            total = b.op("max", b.op("add", value, pixel), 0)
            out.append(b.op("min", total, 255))
    return b.op("v8pack", b.op("vpack", out[0], out[1]), b.op("vpack", out[2], out[3]))
