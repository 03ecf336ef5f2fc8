# SPDX-License-Identifier: BSD-2-Clause
"""The Raspberry Pi's column-tiled frames (SAND128) to linear planes.

A picture is split into columns 128 bytes wide; inside a column 128-byte lines follow each other,
luma first, then chroma. So a column is a plane with a stride of 128 bytes. An item is two luma
lines of a column and their chroma line. Where a column and its chroma begin comes with the item,
never from the visible height: the frame may be padded.
"""

from daedalus.dsl.lang import KernelBuilder, Value, kernel, low_bits, u8, u16, u32


@kernel(clause="V4L2_PIX_FMT_NV12_COL128 to V4L2_PIX_FMT_NV12", items="tiles")
def sand128_nv12(k: KernelBuilder) -> None:
    """NC12 to NV12: 8 bits, 128 luma samples or 64 chroma pairs a line."""
    luma = k.plane("dst", u8, rows=(0, 2), cols=(0, 128), access="out")
    chroma = k.plane("dst_uv", u8, rows=(0, 1), cols=(0, 128), access="out")
    src = k.plane("src", u8, rows=(0, 2), cols=(0, 128))
    src_uv = k.plane("src_uv", u8, rows=(0, 1), cols=(0, 128))
    width = k.param("width", u8, 1, 128, why="visible bytes of the column's lines")
    with k.stage(y=2, x=k.upto(width, 128)) as (y, x):
        luma[y, x] = src[y, x]
    with k.stage(x=k.upto(width, 128)) as x:
        chroma[0, x] = src_uv[0, x]


@kernel(clause="V4L2_PIX_FMT_NV12_10_COL128 to V4L2_PIX_FMT_P010", items="tiles")
def sand128_p010(k: KernelBuilder) -> None:
    """NC30 to P010: three 10-bit samples a 32-bit word, 96 a line, to the top of 16 bits each."""
    luma = k.plane("dst", u16, rows=(0, 2), cols=(0, 96), access="out")
    chroma = k.plane("dst_uv", u16, rows=(0, 1), cols=(0, 96), access="out")
    src = k.plane("src", u32, rows=(0, 2), cols=(0, 32))
    src_uv = k.plane("src_uv", u32, rows=(0, 1), cols=(0, 32))
    width = k.param("width", u8, 1, 96, why="visible samples of the column's lines")
    words = ((width + 2) * 171) >> 9  # a third, exact up to 511

    def sample(word: Value, n: int) -> Value:
        return low_bits(word >> (10 * n), 10) << 6

    with k.stage(y=2, w=k.upto(words, 32)) as (y, w):
        for n in range(3):
            with k.when(k.lane(3 * w + n) < width):
                luma[y, 3 * w + n] = sample(src[y, w], n)
    with k.stage(w=k.upto(words, 32)) as w:
        for n in range(3):
            with k.when(k.lane(3 * w + n) < width):
                chroma[0, 3 * w + n] = sample(src_uv[0, w], n)
