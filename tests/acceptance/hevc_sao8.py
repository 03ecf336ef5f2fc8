# SPDX-License-Identifier: BSD-2-Clause
"""HEVC sample adaptive offset by bands, 8 bit."""

from daedalus.dsl.lang import KernelBuilder, clip_u8, i8, kernel, low_bits, min, select, u8


@kernel(clause="H.265 8.7.3.2 (CTB modification process, SaoTypeIdx equal to 1), 8 bit")
def hevc_sao8(k: KernelBuilder) -> None:
    """Adds to each pixel of an 8x8 block the offset of its band, of the 32 that there are."""
    dst = k.plane("dst", u8, rows=(0, 8), cols=(0, 8), access="inout")
    offsets = k.block("offsets", i8, (4,), lo=-7, hi=7, note="SaoOffsetVal[1] to [4]")
    first = k.param("first", u8, 0, 31, why="sao_band_position")
    with k.stage(y=8, x=8) as (y, x):
        band = low_bits((dst[y, x] >> 3) - first, 5)  # counted from the first with an offset
        offset = offsets[min(band, 3)]
        dst[y, x] = clip_u8(dst[y, x] + select(band <= 3, offset, 0))
