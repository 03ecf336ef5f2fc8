# SPDX-License-Identifier: BSD-2-Clause
"""H.264 luma sample interpolation, 8 bit."""

from daedalus.dsl.lang import KernelBuilder, clip_u8, kernel, round_shift, u8


@kernel(
    clause="H.264 8.4.2.2.1 (luma sample interpolation), position b (xFrac 2, yFrac 0)",
    decoders={"ffmpeg": "qpel.put_h264_qpel_pixels_tab[8][mc20](dst src dst.stride=src.stride)"},
)
def h264_qpel_mc20(k: KernelBuilder) -> None:
    """8x8 block half a sample to the right: the 6-tap filter along rows, put."""
    dst = k.plane("dst", u8, rows=(0, 8), cols=(0, 8), access="out")
    src = k.plane("src", u8, rows=(0, 8), cols=(-2, 11))
    with k.stage(y=8, x=8) as (y, x):
        e, f, g, h, i, j = (src[y, x + n] for n in range(-2, 4))
        b1 = 20 * (g + h) - 5 * (f + i) + (e + j)
        dst[y, x] = clip_u8(round_shift(b1, 5))
