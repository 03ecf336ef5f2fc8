# SPDX-License-Identifier: BSD-2-Clause
"""What is recorded of Mesa's code for V3D: it is of these variants, and keeps to its bars."""

import json
from pathlib import Path

import pytest

from daedalus.generator.base import records
from daedalus.generator.measure.gpu import statistics

GENERATED = Path(__file__).parents[2] / "generated"
# Instructions an item of expert GLSL as Mesa 25.0.7 compiles it, without spills.
EXPERT = {
    "vp9_idct8": 94.5, "vp9_lpf4_v": 40.4, "vp9_lpf4_h": 55.5, "vp9_lpf8_v": 67.2,
    "vp9_lpf8_h": 85.5, "vp9_mc_8h": 93.5, "av1_cdef8": 808, "h264_idct4": 11.6,
    "h264_idct8": 79.8, "h264_deblock_luma_v": 69, "h264_qpel_mc20": 68,
}  # fmt: skip
# Classes that are the whole of what the expert's shader did.
WHOLE = {"av1_cdef8": "inside"}


@pytest.fixture(scope="module")
def stats() -> dict[str, dict]:
    """The record of each variant, with its driver."""
    return {
        name: s | {"driver": record["driver"]}
        for record in records.each(records.STATS).values()
        for name, s in record["variants"].items()
    }


@pytest.fixture(scope="module")
def variants() -> dict[str, dict]:
    manifest = json.loads((GENERATED / "manifest.json").read_text())
    return {
        v["name"]: v | {"kernel": k["id"]}
        for k in manifest["kernels"]
        for v in k["variants"]
        if v["target"] == "glsl"
    }


def test_the_record_is_of_these_variants(stats: dict, variants: dict[str, dict]) -> None:
    recorded = {name: s["input_hash"] for name, s in stats.items()}
    assert recorded == {
        name: v["input_hash"] for name, v in variants.items()
    }, "./daedalus stats --record"
    assert all("Mesa 25.0.7" in s["driver"] for s in stats.values())


# Rules choose variants without asking a driver: these are right, and slower than they could be.
KEPT = {
    "vp9_iadst16": ["full_p2", "full_p2_word_pack"],
    "vp9_iadst16_high": ["full_p2", "full_p2_word"],
    "vp9_iadst16_idct16": ["full_p2", "full_p2_word_pack"],
    "vp9_iadst16_idct16_high": ["full_p2", "full_p2_word"],
    "vp9_iadst4_high": ["full_p4"],
    "vp9_idct16": [
        "dc_p4_word",
        "eob10_p2_word_pack",
        "eob38_p2_word_pack",
        "full_p2",
        "full_p2_word_pack",
    ],
    "vp9_idct16_high": ["dc_p4_word", "eob38_p2_word", "full_p2"],
    "vp9_idct16_iadst16": ["full_p2", "full_p2_word_pack"],
    "vp9_idct16_iadst16_high": ["full_p2", "full_p2_word"],
    "vp9_idct32": [
        "dc_p2_word",
        "eob135_p2_word_pack",
        "eob34_p2_word_pack",
        "full_p2",
        "full_p2_word_pack",
    ],
    "vp9_idct32_high": ["dc_p2_word", "eob135_p2_word", "eob34_p2_word", "full_p2", "full_p2_word"],
    "vp9_idct4_iadst4_high": ["full_p4"],
    "vp9_lpf1616_h": ["full_p2", "full_p2_word_signs_early"],
    "vp9_lpf1616_high_h": ["full_p2", "full_p2_word_signs_early"],
    "vp9_lpf1616_high_v": ["full_p2", "full_p2_word_signs_early"],
    "vp9_lpf1616_v": ["full_p2", "full_p2_word_signs_early"],
    "vp9_lpf16_h": ["full_p2", "full_p2_word_signs_early"],
    "vp9_lpf16_high_h": ["full_p2", "full_p2_word_signs_early"],
    "vp9_lpf16_high_v": ["full_p2", "full_p2_word_signs_early"],
    "vp9_lpf16_v": ["full_p2", "full_p2_word_signs_early"],
    "vp9_scaled_16": ["full_p4_word_unaligned"],
    "vp9_scaled_16_avg": ["full_p4_word_unaligned"],
    "vp9_scaled_16_avg_high": ["full_p4_word_unaligned"],
    "vp9_scaled_16_high": ["full_p4_word_unaligned"],
    "vp9_scaled_32": ["full_p4_word_unaligned"],
    "vp9_scaled_32_avg": ["full_p4_word_unaligned"],
    "vp9_scaled_32_avg_high": ["full_p4_word_unaligned"],
    "vp9_scaled_32_high": ["full_p4_word_unaligned"],
    "vp9_scaled_4": ["full_p4_word_unaligned"],
    "vp9_scaled_4_avg": ["full_p4_word_unaligned"],
    "vp9_scaled_4_high": ["full_p4_word_unaligned"],
    "vp9_scaled_64": ["bilinear_p8_word_unaligned", "full_p8", "full_p8_word_unaligned"],
    "vp9_scaled_64_avg": ["bilinear_p8_word_unaligned", "full_p8", "full_p8_word_unaligned"],
    "vp9_scaled_64_avg_high": ["bilinear_p8_word_unaligned", "full_p8", "full_p8_word_unaligned"],
    "vp9_scaled_64_high": ["bilinear_p8_word_unaligned", "full_p8", "full_p8_word_unaligned"],
    "vp9_scaled_8": ["full_p4_word_unaligned"],
    "vp9_scaled_8_avg": ["full_p4_word_unaligned"],
    "vp9_scaled_8_avg_high": ["full_p4_word_unaligned"],
    "vp9_scaled_8_high": ["full_p4_word_unaligned"],
}


def test_nothing_else_in_the_library_is_kept_in_memory(
    stats: dict, variants: dict[str, dict]
) -> None:
    """Others are there for the tuner, which finds out."""
    held = (0, 0, False)
    kept = {n for n, s in stats.items() if (s["spills"], s["fills"], s["memory"]) != held}
    names = {f"daedalus_{kernel}__glsl_{name}" for kernel, own in KEPT.items() for name in own}
    assert {n for n in kept if variants[n]["prod"]} == names


@pytest.mark.parametrize("kernel", EXPERT)
def test_the_best_variant_is_as_good_as_an_experts(
    kernel: str, stats: dict, variants: dict[str, dict]
) -> None:
    best = min(
        stats[name]["an_item"]
        for name, v in variants.items()
        if v["kernel"] == kernel and v["class"] == WHOLE.get(kernel, "full")
    )
    assert best <= 1.05 * EXPERT[kernel]


DUMP = """\
SHADER-DB-x - MESA_SHADER_COMPUTE shader: 9 inst, 4 threads, 0 loops, 2 uniforms, 9 max-temps, 3:4 spills:fills
0x1 nop ; nop
0x2 add tmua, rf0, rf9 ; nop ; ldunif (spill_offset)
SHADER-DB-x - MESA_SHADER_COMPUTE shader: 3 inst, 2 threads, 0 loops, 5 uniforms, 7 max-temps, 0:0 spills:fills
0x3 nop                           ; nop                         ; ldtmu.rf10
0x4 add tmua, rf0, rf9            ; mov tmud, rf1
0x5 nop                           ; nop
"""  # noqa: E501


def test_the_last_program_counts() -> None:
    from daedalus.generator.compile.emit import entry_variants
    from daedalus.generator.compile.registry import find, load

    entry = find(load(), "h264_idct4")
    assert entry is not None
    v = next(v for v in entry_variants(entry, ("glsl",)) if v.options.name == "glsl_full_p4")
    s = statistics.read(DUMP, v, 64)
    assert (s.instructions, s.threads, s.uniforms, s.temps, s.an_item) == (3, 2, 5, 7, 0.2)
    assert (s.lookups, s.stored_words, s.loaded_words, s.nops, s.memory) == (1, 1, 1, 2, False)
