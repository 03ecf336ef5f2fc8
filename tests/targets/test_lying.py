# SPDX-License-Identifier: BSD-2-Clause
"""Items that lie about their class: a parameter that is narrow there still decides a place."""

from pathlib import Path

from spec_support import HEAD, kernel_of

from daedalus.dsl.ir import Kernel, Op
from daedalus.dsl.ranges import place_ranges
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.registry import legal_options
from daedalus.generator.compile.variants import make_variant
from daedalus.generator.options import options_of
from daedalus.generator.passes.specialise import specialise
from daedalus.generator.verify.qpu_trial import trials

SPEC = """\
    src = k.block("src", u8, (8,))
    dst = k.block("dst", u8, (8,), access="out")
    mode = k.param("mode", u8, 0, 40)
    k.item_class("few", mode=(0, 7))
    row = k.table("row", i32, [n**5 * 100003 for n in range(8)])
    with k.stage(i=8) as i:
        dst[i] = clip_u8((src[i] + row[mode]) >> 4)
"""


def kernel(tmp_path: Path) -> Kernel:
    return kernel_of(tmp_path, HEAD + SPEC)


def test_the_ranges_of_a_class_are_for_conformant_items_alone(tmp_path: Path) -> None:
    made = specialise(kernel(tmp_path), "few")
    (mode,) = made.params
    assert (mode.lo, mode.hi, mode.widest) == (0, 7, (0, 40))
    hostile = place_ranges(made)
    assert hostile.conformant is not None
    found = [n for s in made.stages for n in s.nodes() if n.op is Op.PARAM]
    assert {(hostile.of(n).hi, hostile.conformant.of(n).hi) for n in found} == {(40, 7)}


def test_a_qpu_reads_inside_the_table(tmp_path: Path) -> None:
    made = kernel(tmp_path)
    for kind, outcome in trials(made, options_of("qpu", "few", points=1), 100):
        assert outcome.good, f"{kind}: {outcome.first}"


def test_a_shader_limits_the_index(tmp_path: Path) -> None:
    made = kernel(tmp_path)
    options = legal_options(made, "glsl_few")
    v = make_variant(environment(), made, options, prod=False, rank=1, spec="a spec")
    assert "clamp(mode_, 0, 7)" in v.text
