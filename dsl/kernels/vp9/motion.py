# SPDX-License-Identifier: BSD-2-Clause
"""VP9 motion compensation."""

from daedalus.dsl.kernels.vp9.filters import SUBPEL_FILTERS
from daedalus.dsl.lang import KernelBuilder, Value, clip_u8, dot, i16, kernel, round_shift, u8

BANKS = ("smooth", "regular", "sharp", "bilinear")
# Where mx is 0 the decoder calls another function, which copies.
MC = "vp9dsp.mc[8][{}][{}][1][0](dst dst.stride src src.stride rows+ mx - filter={})"
DECODERS = {
    op: {"ffmpeg": {b: MC.format(b, op, n) for n, b in enumerate(BANKS)}} for op in ("put", "avg")
}


def _predict(k: KernelBuilder, average: bool) -> None:
    dst = k.plane("dst", u8, rows=(0, 8), cols=(0, 8), access="inout" if average else "out")
    src = k.plane("src", u8, rows=(0, 8), cols=(-3, 12))
    bank = k.param("filter", u8, 0, 3, why="interp_filter: smooth, regular, sharp, bilinear")
    mx = k.param("mx", u8, 0, 15, why="position in sixteenths of a sample")
    rows = k.param("rows", u8, 1, 8, why="height; higher blocks are several items")
    k.item_class("sub8", rows=(8, 8), mx=(1, 15), why="taps of 8 bits: only the copy's needs more")
    k.item_class("rows8", rows=(8, 8), why="the height of all but the smallest blocks")
    taps = k.table("taps", i16, [t for b in SUBPEL_FILTERS for t in b])
    with k.stage(y=k.upto(rows, 8), x=8) as (y, x):
        pixels: list[Value] = [src[y, x + n] for n in range(-3, 5)]
        out = clip_u8(round_shift(dot(taps, bank * 16 + mx, pixels), 7))
        dst[y, x] = round_shift(dst[y, x] + out, 1) if average else out


@kernel(
    clause="VP9 8.5.2.3 (motion vector scaling and block inter prediction), horizontal filter",
    decoders=DECODERS["put"],
)
def vp9_mc_8h(k: KernelBuilder) -> None:
    """8-tap horizontal interpolation of a block 8 wide, put."""
    _predict(k, average=False)


@kernel(
    clause="VP9 8.5.2.3 and 8.5.1 (rounding average of two predictions), horizontal filter",
    decoders=DECODERS["avg"],
)
def vp9_mc_8h_avg(k: KernelBuilder) -> None:
    """8-tap horizontal interpolation of a block 8 wide, averaged with what is there."""
    _predict(k, average=True)
