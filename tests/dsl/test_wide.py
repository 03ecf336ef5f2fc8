# SPDX-License-Identifier: BSD-2-Clause
"""Wide kernels: values of more than 32 bits between memory and memory, where a spec asks for it."""

from pathlib import Path

import numpy as np
from spec_support import HEAD, USUAL, kernel_of, load_text, refusal

from daedalus.dsl import interp, vectors
from daedalus.dsl.ranges import Ranges
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.c.emit import emit as emit_c
from daedalus.generator.targets.neon.emit import emit as emit_neon

WIDE = HEAD.replace('clause="a test"', 'clause="a test", wide=True') + USUAL
PRODUCT = """\
    with k.stage(i=8) as i:
        square = c[0, i] * c[1, i]
        large = square * p  # <-
        px[0, i] = clip_u8(large >> 30)
"""


def test_a_wide_value_needs_a_wide_kernel(tmp_path: Path) -> None:
    error = refusal(tmp_path / "narrow", HEAD + USUAL + PRODUCT)
    assert error.message == "mul large can be [-107370905600, 107374182400]: more than 32 bits"
    kernel = kernel_of(tmp_path / "wide", WIDE + PRODUCT)
    items = vectors.make_items(kernel, 500, 1, "boundary")
    a, b = (items.buffers["c"][:, n].astype(object) for n in (0, 1))
    exact = a * b * items.params["p"].astype(object)[:, None] // 2**30
    got = interp.run(kernel, items).buffers["px"][:, 0]
    assert (got == np.minimum(np.maximum(exact, 0), 255)).all()
    assert len(np.unique(got)) > 10


def test_63_bits_are_the_end(tmp_path: Path) -> None:
    body = PRODUCT.replace("square * p", "square * square * 4")
    error = refusal(tmp_path, WIDE + body)
    assert error.message == "mul large can be [0, 4611686018427387904]: more than 63 bits"
    assert error.hint.endswith("lies within [-4611686018427387904, 4611686018427387903]")
    kernel_of(tmp_path / "below", WIDE + PRODUCT.replace("square * p", "square * square * 2"))


def test_memory_stays_at_32_bits(tmp_path: Path) -> None:
    declared, rest = '    t = k.temp("t", (8,))  # <-\n', PRODUCT.replace("  # <-", "")
    stored = rest.replace("px[0, i] = clip_u8(large >> 30)", "t[i] = large")
    read = "    with k.stage(i=8) as i:\n        px[0, i] = clip_u8(t[i])\n"
    error = refusal(tmp_path, WIDE + declared + stored + read)
    assert error.message == "temp t holds [-107370905600, 107374182400]: no element type does"


def test_portable_c_and_neon_compute_in_64_bits(tmp_path: Path) -> None:
    text = WIDE + PRODUCT
    (entry,) = load_text(tmp_path, text)
    (body,) = emit_c(lower(entry.kernel, options_of("c")))
    assert any("int64_t large" in line or "(int64_t)square * p" in line for line in body.lines)
    assert Ranges(entry.kernel, hostile=True).wraps == set()
    (body,) = emit_neon(lower(entry.kernel, options_of("neon")))
    assert any("mull" in line and "s32" in line for line in body.lines)
