# SPDX-License-Identifier: BSD-2-Clause
"""What is timed: the nine decoder kernels, which count; other orientations; edges as they come, of
which many are left early, which saves work; SAND."""

from daedalus.generator.native_bench.items import Case

CASES: tuple[Case, ...] = (
    Case("vp9_idct8", "full", "ffmpeg", "eob 13 to 64", ranges={"eob": (13, 64)}),
    Case("vp9_lpf4_h", "full", "ffmpeg", "filtered edges", filtered=True),
    Case("vp9_lpf4_v", "full", "ffmpeg", "filtered edges", counts=False, filtered=True),
    Case("vp9_lpf8_h", "full", "ffmpeg", "filtered edges", filtered=True),
    Case("vp9_lpf8_v", "full", "ffmpeg", "filtered edges", counts=False, filtered=True),
    Case(
        "vp9_mc_8h", "sub8", "ffmpeg", "8 rows, regular filter",
        fixed={"filter": 1, "rows": 8}, ranges={"mx": (1, 15)},
    ),
    Case(
        "vp9_mc_8h_avg", "sub8", "ffmpeg", "8 rows, regular filter",
        fixed={"filter": 1, "rows": 8}, ranges={"mx": (1, 15)}, counts=False,
    ),
    Case("h264_idct4", "full", "ffmpeg", "all coefficients"),
    Case("h264_idct8", "full", "ffmpeg", "all coefficients"),
    Case("h264_deblock_luma_v", "full", "ffmpeg", "filtered edges", filtered=True),
    Case("h264_qpel_mc20", "full", "ffmpeg", "8 rows"),
    Case(
        "av1_cdef8", "inside", "dav1d", "both strengths, no picture edge",
        fixed={"edges": 15, "sec": 2}, ranges={"pri": (1, 15)},
    ),
    *(
        Case(name, "full", "ffmpeg", "all edges", counts=False)
        for name in (
            "vp9_lpf4_h", "vp9_lpf4_v", "vp9_lpf8_h", "vp9_lpf8_v", "h264_deblock_luma_v",
        )
    ),
    Case("sand128_nv12", "full", "", "whole columns", fixed={"width": 128}, counts=False),
    Case("sand128_p010", "full", "", "whole columns", fixed={"width": 96}, counts=False),
)  # fmt: skip
