# SPDX-License-Identifier: BSD-2-Clause
"""H.264 inverse transforms, 8 bit."""

from collections.abc import Callable

from daedalus.dsl.lang import KernelBuilder, Value, clip_u8, i16, kernel, round_shift, u8


@kernel(
    clause="H.264 8.5.12.2 (residual 4x4 transform), 8.5.14 (picture construction)",
    decoders={"ffmpeg": "h264dsp.h264_idct_add(dst coeffs! dst.stride)"},
)
def h264_idct4(k: KernelBuilder) -> None:
    """4x4 inverse transform of scaled coefficients, rounded by 6 bits and added.

    Coefficients are column-major: coeffs[h][v] has horizontal frequency h and vertical frequency v
    (the transpose of the standard's d[v][h]).
    """
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 4), access="inout")
    coeffs = k.block("coeffs", i16, (4, 4), note="coeffs[h][v], column-major")
    fits = k.assumption(
        "range16", i16.lo, i16.hi, why="8.5.12: no value exceeds the range of"
        " -2**(7 + bitDepth) to 2**(7 + bitDepth) - 1",
    )  # fmt: skip
    last = k.assumption(
        "last16", i16.lo, i16.hi - 32, why="8.5.12: no h exceeds the range of -2**(7 + bitDepth)"
        " to 2**(7 + bitDepth) - 33",
    )  # fmt: skip

    def transform(w: list[Value], out: Callable[[Value], Value]) -> list[Value]:
        e, f = fits(w[0] + w[2]), fits(w[0] - w[2])
        g, h = fits((w[1] >> 1) - w[3]), fits(w[1] + (w[3] >> 1))
        return [out(e + h), out(f + g), out(f - g), out(e - h)]

    rows = k.temp("rows", (4, 4))
    with k.stage(v=4) as v:
        rows[v, :] = transform(coeffs[:, v], fits)
    with k.stage(x=4) as x:
        for y, r in enumerate(transform(rows[:, x], last)):
            dst[y, x] = clip_u8(dst[y, x] + round_shift(r, 6))


@kernel(
    clause="H.264 8.5.13.2 (residual 8x8 transform), 8.5.14 (picture construction)",
    decoders={"ffmpeg": "h264dsp.h264_idct8_add(dst coeffs! dst.stride)"},
)
def h264_idct8(k: KernelBuilder) -> None:
    """8x8 inverse transform of scaled coefficients, rounded by 6 bits and added.

    Coefficients are column-major: coeffs[h][v] has horizontal frequency h and vertical frequency v
    (the transpose of the standard's d[v][h]).
    """
    dst = k.plane("dst", u8, rows=(0, 8), cols=(0, 8), access="inout")
    coeffs = k.block("coeffs", i16, (8, 8), note="coeffs[h][v], column-major")
    fits = k.assumption(
        "range16", i16.lo, i16.hi, why="8.5.13: no value exceeds the range of"
        " -2**(7 + bitDepth) to 2**(7 + bitDepth) - 1",
    )  # fmt: skip
    last = k.assumption(
        "last16", i16.lo, i16.hi - 32, why="8.5.13: no m exceeds the range of -2**(7 + bitDepth)"
        " to 2**(7 + bitDepth) - 33",
    )  # fmt: skip

    def transform(w: list[Value], out: Callable[[Value], Value]) -> list[Value]:
        a0, a2 = fits(w[0] + w[4]), fits(w[0] - w[4])
        a4, a6 = fits((w[2] >> 1) - w[6]), fits(w[2] + (w[6] >> 1))
        a1 = fits(w[5] - w[3] - w[7] - (w[7] >> 1))
        a3 = fits(w[1] + w[7] - w[3] - (w[3] >> 1))
        a5 = fits(w[7] - w[1] + w[5] + (w[5] >> 1))
        a7 = fits(w[3] + w[5] + w[1] + (w[1] >> 1))
        b0, b6 = fits(a0 + a6), fits(a0 - a6)
        b2, b4 = fits(a2 + a4), fits(a2 - a4)
        b1, b7 = fits(a1 + (a7 >> 2)), fits(a7 - (a1 >> 2))
        b3, b5 = fits(a3 + (a5 >> 2)), fits((a3 >> 2) - a5)
        return [
            out(v) for v in (b0 + b7, b2 + b5, b4 + b3, b6 + b1, b6 - b1, b4 - b3, b2 - b5, b0 - b7)
        ]

    rows = k.temp("rows", (8, 8))
    with k.stage(v=8) as v:
        rows[v, :] = transform(coeffs[:, v], fits)
    with k.stage(x=8) as x:
        for y, r in enumerate(transform(rows[:, x], last)):
            dst[y, x] = clip_u8(dst[y, x] + round_shift(r, 6))
