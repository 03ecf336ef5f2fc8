# SPDX-License-Identifier: BSD-2-Clause
"""HEVC inverse DST-VII of 4x4 luma blocks, 8 bit."""

from daedalus.dsl.lang import KernelBuilder, Value, clip, clip_u8, i16, kernel, round_shift, u8

# transMatrix, H.265 8.6.4.2
DST = ((29, 55, 74, 84), (74, 74, 0, -74), (84, -29, -74, 55), (55, -84, 74, -29))


@kernel(
    clause="H.265 8.6.4.2 (transformation, trType equal to 1), with the two passes of 8.6.4 and"
    " bdShift of 8.6.2, and picture construction"
)
def hevc_idst4(k: KernelBuilder) -> None:
    """4x4 inverse DST of both passes, rounded by 12 bits and added to the prediction."""
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 4), access="inout")
    coeffs = k.block("coeffs", i16, (4, 4), note="coeffs[y][x], row-major")

    def idst(x: list[Value]) -> list[Value]:
        return [sum(DST[c][n] * x[c] for c in range(4)) for n in range(4)]

    columns = k.temp("columns", (4, 4))
    residual = k.temp("residual", (4, 4))
    with k.stage(x=4) as x:
        columns[:, x] = [clip(round_shift(e, 7), i16.lo, i16.hi) for e in idst(coeffs[:, x])]
    with k.stage(y=4) as y:
        residual[y, :] = [round_shift(r, 12) for r in idst(columns[y, :])]
    with k.stage(x=4) as x:
        for y in range(4):
            dst[y, x] = clip_u8(dst[y, x] + residual[y, x])
