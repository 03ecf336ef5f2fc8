# SPDX-License-Identifier: BSD-2-Clause
"""GLSL variants run on lavapipe, with subgroups of 8 and of 16, and give what the interpreter does.

Without the runtime, so that a fault is the shader's; `check --target glsl` runs all of them.
"""

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from lane_specs import GATHERS, SIZES, lanes_kernel, sized_kernel
from random_programs import accepted_kernels
from shader_runs import run, run_text
from spec_support import HEAD, spec_text

from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.emit import entry_variants, environment
from daedalus.generator.compile.registry import find, legal_options, load
from daedalus.generator.compile.variants import Variant, make_variant
from daedalus.v3d import vkrun

RANDOM = accepted_kernels(5)
WAYS = (
    "glsl_full", "glsl_few", "glsl_full_p2_signs", "glsl_few_p4_word_pack",
    "glsl_full_p4_word_unaligned_swar_pack", "glsl_full_p8_word_swar_signs_pack",
)  # fmt: skip
UNLISTED = {  # other ways, and what no GLSL variant is listed of
    "av1_cdef_dir": ("glsl_full", "glsl_full_p4_word_signs_pack"),  # accumulation
    "vp9_idct8": ("glsl_full", "glsl_full_p8_word"),  # all of a block, without shared memory
    "vp9_lpf16_high_h": ("glsl_full", "glsl_full_p2_word_signs"),  # 16 bits a pixel
    "sand128_nv12": ("glsl_full", "glsl_full_p16_word"),
}


def made(kernel: Kernel, *names: str) -> list[Variant]:
    return [
        make_variant(
            environment(), kernel, legal_options(kernel, name), prod=False, rank=1, spec="a spec"
        )
        for name in names
    ]


def kernel_of(name: str) -> Kernel:
    entry = find(load(), name)
    assert entry is not None
    return entry.kernel


@pytest.mark.parametrize("bits", [256, 512])
@pytest.mark.parametrize("kernel", RANDOM, ids=lambda k: k.id)
def test_random_programs(kernel: Kernel, bits: int, tmp_path: Path) -> None:
    for o in run(kernel, made(kernel, *WAYS), vkrun.lavapipe(bits), tmp_path, 40):
        assert o.good, o.failures


REDUCED = """
src = k.plane("src", i16, rows=(0, 4), cols=(0, 8))
out = k.plane("out", i32, rows=(0, 4), cols=(0, 8), access="out")
with k.stage(y=4, x=8) as (y, x):
    px[y, x] = 1
    rows = k.sum("rows", src[y, x], over=x)
    low = k.smallest("low", src[y, x], over=y, start=9)
    with k.when(src[y, x] < p):
        high = k.largest("high", src[y, x], start=-9)
with k.stage(y=4, x=8) as (y, x):
    out[y, x] = rows[y] - low[x] + high[0]
"""


@pytest.mark.parametrize("options", ["glsl_full", "glsl_full_p4_word_signs"])
def test_reductions(options: str, tmp_path: Path) -> None:
    """Compared as all others are."""
    assert "atomic" in run_text(tmp_path, spec_text(REDUCED), options).text


MIXED = """
big = k.plane("big", u32, rows=(0, 1), cols=(0, 8), lo=2**32 - 9, hi=2**32 - 1)
less = k.plane("less", u32, rows=(0, 1), cols=(0, 8))
near = k.plane("near", u32, rows=(0, 1), cols=(0, 8), lo=2**32 - 9, hi=2**32 - 1)
out = k.plane("out", u32, rows=(0, 3), cols=(0, 8), access="out")
with k.stage(x=8) as x:
    small = round_shift(less[0, x], 10)
    out[0, x] = min(small, big[0, x]) >> 2
    out[1, x] = max(small, big[0, x]) >> 2
    out[2, x] = absdiff(big[0, x], near[0, x])
"""


def test_the_smaller_of_two_kinds_of_numbers(tmp_path: Path) -> None:
    """Compared as unsigned ones, and small enough for a signed one; and how far apart two are."""
    text = run_text(tmp_path, HEAD + textwrap.indent(MIXED, "    "), "glsl_full").text
    assert "int(min(" in text


# 2,048 elements each: a word an element, two of them are as much shared memory as there is.
IN_TURN = """
t0, t1, t2, t3 = (k.temp(f"t{n}", (64, 32)) for n in range(4))
with k.stage(y=64, x=32) as (y, x):
    t0[y, x] = px[0, 0] + k.lane(x) * 3 - k.lane(y)
with k.stage(y=64, x=32) as (y, x):
    t1[y, x] = t0[63 - y, x] * 2
with k.stage(y=64, x=32) as (y, x):
    t2[y, x] = t1[y, 31 - x] + 1
with k.stage(y=64, x=32) as (y, x):
    t3[y, x] = t2[63 - y, 31 - x] - k.lane(y)
with k.stage(y=8, x=8) as (y, x):
    px[y, x] = wrap(t3[y + 5, x + 21] + p, u8)
"""


def test_temps_lie_in_one_place_where_all_are_too_many(tmp_path: Path) -> None:
    """Whoever writes there waits for those that read what lay there before."""
    v = run_text(tmp_path, spec_text(IN_TURN), "glsl_full_p8")
    assert v.shader is not None and v.shader.shared_bytes == 16384
    assert len(v.shader.shared) == 2 and v.shader.lines.count("barrier();") == 4
    few = spec_text(IN_TURN.replace("64", "16").replace("63", "15"))
    own = run_text(tmp_path / "few", few, "glsl_full_p8")
    assert own.shader is not None and len(own.shader.shared) == 4  # there is room for all


@pytest.mark.parametrize("name", UNLISTED)
def test_other_ways(name: str, tmp_path: Path) -> None:
    kernel = kernel_of(name)
    for o in run(kernel, made(kernel, *UNLISTED[name]), vkrun.lavapipe(), tmp_path, 40):
        assert o.good, o.failures


@pytest.mark.parametrize("name", SIZES)
def test_domains_of_any_size(name: str, tmp_path: Path) -> None:
    """Of more points than a workgroup has invocations, and not of powers of two."""
    kernel = sized_kernel(tmp_path, name)
    variants = made(kernel, "glsl_full", "glsl_full_p4_word", "glsl_full_p4_signs_pack")
    for o in run(kernel, variants, vkrun.lavapipe(), tmp_path, 40):
        assert o.good, o.failures


def test_places_that_differ_by_lane(tmp_path: Path) -> None:
    kernel = lanes_kernel(tmp_path, GATHERS)
    variants = made(kernel, "glsl_full", "glsl_full_p8_word_unaligned_pack")
    for o in run(kernel, variants, vkrun.lavapipe(), tmp_path, 40):
        assert o.good, o.failures


@pytest.mark.parametrize("name", ["h264_deblock_luma_v", "h264_idct8", "vp9_mc_8h_avg"])
def test_every_size_of_a_workgroup(name: str, tmp_path: Path) -> None:
    entry = find(load(), name)
    assert entry is not None
    variants = entry_variants(entry, ("glsl",))
    sizes = (16, 32, 64, 128, 256)
    for o in run(entry.kernel, variants, vkrun.lavapipe(256), tmp_path, 30, workgroups=sizes):
        assert o.good, o.failures


def test_a_wrong_shader_is_noticed(tmp_path: Path) -> None:
    """One whose rounding is off by one, and one that writes beyond its item."""
    kernel = kernel_of("h264_qpel_mc20")
    (good,) = made(kernel, "glsl_full")
    rounding = replace(good, text=good.text.replace("+ 16) >> 5", "+ 15) >> 5"))
    beyond = replace(good, text=good.text.replace("dst_u8[dst_p] =", "dst_u8[dst_p + 1] ="))
    assert rounding.text != good.text != beyond.text
    (o,) = run(kernel, [rounding], vkrun.lavapipe(), tmp_path, 30)
    assert o.mismatches > 0 and not o.good
    with pytest.raises(AssertionError, match="wrote beyond dst"):
        run(kernel, [beyond], vkrun.lavapipe(), tmp_path, 30)


UNSIGNED = """
w = k.block("w", u32, (16,))
few = k.table("few", u8, [7, 6, 5, 3, 1, 0, 2, 4, 9, 200, 100, 50, 25, 12, 61, 33])
out = k.plane("out", u8, rows=(0, 1), cols=(0, 16), access="out")
with k.stage(x=16) as x:
    out[0, x] = few[w[x]]
"""


def test_a_row_beyond_signed_numbers_is_the_last_one(tmp_path: Path) -> None:
    run_text(tmp_path, HEAD + textwrap.indent(UNSIGNED, "    "), "glsl_full")
