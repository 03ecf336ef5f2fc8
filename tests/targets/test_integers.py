# SPDX-License-Identifier: BSD-2-Clause
"""Integers bit by bit on every target: what is written, and that it computes what the interpreter
does. On the CPU test_forms.py runs the same kernels.
"""

import re
from pathlib import Path

import pytest
from integer_specs import INTEGER_FORMS
from shader_runs import run

from daedalus.dsl import vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.registry import legal_options
from daedalus.generator.compile.variants import Variant, make_variant
from daedalus.generator.options import options_of
from daedalus.generator.verify.qpu_trial import interpreted, selected, trial
from daedalus.v3d import vkrun

KERNELS = {k.id: k for f in INTEGER_FORMS for k in f.spec.kernels()}
GLSL = ("glsl_full", "glsl_full_p4_word_signs", "glsl_full_p8_word_unaligned_swar")
QPU = [
    options_of("qpu", points=4),
    options_of("qpu", points=2, word=True),
    options_of("qpu", points=8, word=True, pair=True),
    options_of("qpu", points=4, unaligned=True, keep=True),
]

# By kernel and target, regular expressions of what its text must have.
TEXTS = {
    ("ints_bytes", "c"): (
        r"\)\(p & q\)",
        r"p \| q",
        r"p \^ q",
        r"p & \(~q\)",
        r"daedalus_wrap\(~r, 8, 0\)",
    ),
    ("ints_bytes", "glsl"): (r"p & q", r"p \| q", r"p \^ q", r"p & \(~q\)"),
    ("ints_signed", "c"): (r"x & \(-16\)", r"\(uint32_t\)\(t\d+ \^ t", r"& \(-256\)\) \| "),
    ("ints_signed", "glsl"): (r"x & -16", r"uint\(t\d+ \^ t", r"& 4294967040u\) \| uint"),
    ("ints_shifted", "c"): (
        r"\(int32_t\)\(\(uint32_t\)x << \(n & 31\)\)",
        r"\(uint32_t\)1 << \(int32_t\)daedalus_wrap\(own, 3,\s+0\)",
        r"\(uint32_t\)1 << \(\(own >> 1\) &\s+31\)",
        r"\(int64_t\)\(\(uint64_t\)y << daedalus_clip\(own, 0, 24\)\)",
    ),
    ("ints_shifted", "glsl"): (
        r"x << n_",
        r"1 << \(own & 7\)",
        r"1 << clamp\(\(own >> 1\), 0, 31\)",
        r"uint\(y\) << ",
    ),
    ("ints_shifted", "vector"): (r"vshlvq_n_[us]\d+\(", r"vshlq_[us]\d+\("),
    ("ints_single", "c"): (r"daedalus_wrap\(x >> \(n & 31\), 1, 0\)",),
    ("ints_single", "glsl"): (r"x >> \w+\) & 1",),
}


def made(kernel: Kernel, name: str) -> Variant:
    options = legal_options(kernel, name)
    return make_variant(environment(), kernel, options, prod=False, rank=1, spec="a spec")


@pytest.mark.parametrize(("name", "target"), TEXTS)
def test_texts(name: str, target: str) -> None:
    text = made(KERNELS[name], f"{target}_full").text
    for pattern in TEXTS[name, target]:
        assert re.search(pattern, text), f"no {pattern} in\n{text}"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("ints_bytes", {"and", "or", "xor"}), ("ints_signed", {"and", "or", "xor"}),
     ("ints_single", {"and", "asr"}), ("ints_shifted", {"shl", "and"})],
)  # fmt: skip
def test_operations_of_the_qpu(name: str, wanted: set[str]) -> None:
    programs = selected(KERNELS[name], options_of("qpu", points=4)).programs
    loops = [p.loop for p in programs if p.loop is not None]
    forms = [f for loop in loops for i in loop.body for f in getattr(i, "forms", ())]
    assert wanted <= {f.op for f in forms}


@pytest.mark.parametrize("name", KERNELS)
def test_shaders(name: str, tmp_path: Path) -> None:
    kernel = KERNELS[name]
    for o in run(kernel, [made(kernel, w) for w in GLSL], vkrun.lavapipe(), tmp_path, 60):
        assert o.good, o.failures


@pytest.mark.parametrize("options", QPU, ids=lambda o: o.name)
@pytest.mark.parametrize("name", KERNELS)
def test_programs_of_the_qpu(name: str, options: object) -> None:
    kernel = KERNELS[name]
    items = vectors.make_items(kernel, 60, 5)
    outcome = trial(kernel, options, items, 5, upwards=True, run=interpreted)
    assert outcome.good, outcome
