# SPDX-License-Identifier: BSD-2-Clause
"""Passes that move or drop values, on programs that store to what they have read."""

import numpy as np
import pytest

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.dsl.lang import KernelBuilder, kernel, u8
from daedalus.dsl.ranges import Ranges
from daedalus.dsl.verify import verify
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower


@kernel(clause="a block that a class calls zero is rewritten, then read")
def made_block(k: KernelBuilder) -> None:
    block = k.block("block", u8, (8,), access="inout")
    out = k.block("out", u8, (8,), access="out")
    k.param("mode", u8, 0, 3)
    k.item_class("part", mode=(0, 0), nonzero={"block": (4,)})
    with k.stage(i=4) as i:
        block[i + 4] = block[i]
    with k.stage(i=4) as i:
        out[i] = block[i + 4]
        out[i + 4] = block[i]


@kernel(clause="a temp holds a constant, and then another value")
def made_constant(k: KernelBuilder) -> None:
    block = k.block("block", u8, (8,))
    other = k.block("other", u8, (8,))
    out = k.block("out", u8, (8,), access="out")
    k.param("mode", u8, 0, 3)
    k.item_class("part", mode=(0, 0), nonzero={"block": (4,)})
    tmp = k.temp("tmp", (8,))
    with k.stage(i=8) as i:
        tmp[i] = block[i]
    with k.stage(i=4) as i:
        tmp[i + 4] = other[i]
    with k.stage(i=4) as i:
        out[i] = tmp[i]
        out[i + 4] = tmp[i + 4]


@kernel(clause="what a temp keeps is overwritten where it came from")
def made_kept(k: KernelBuilder) -> None:
    block = k.block("block", u8, (8,), access="inout")
    out = k.block("out", u8, (8,), access="out")
    tmp = k.temp("tmp", (1,))
    with k.stage(i=1) as i:
        tmp[i] = block[0]
        block[i] = 255 - block[0]
    with k.stage(i=8) as i:
        out[i] = tmp[0]


@pytest.mark.parametrize("spec", [made_block, made_constant, made_kept])
def test_lowering_keeps_results(spec: object) -> None:
    made: Kernel = spec.kernels()[0]  # type: ignore[attr-defined]
    verify(made)
    items = vectors.make_items(made, 64, 1)
    want = interp.run(made, items)
    for target in ("c", "neon"):
        for name in made.class_names:
            mine = interp.in_class(made, name, items)
            got = interp.run(lower(made, options_of(target, name)), items)
            for buffer, values in want.buffers.items():
                assert np.array_equal(values[mine], got.buffers[buffer][mine])


def test_a_store_widens_what_an_inout_buffer_holds() -> None:
    @kernel(clause="stores more than is declared to be there")
    def made_wider(k: KernelBuilder) -> None:
        block = k.block("block", u8, (8,), access="inout", lo=0, hi=1)
        out = k.block("out", u8, (8,), access="out")
        with k.stage(i=8) as i:
            block[i] = block[i] * 200
        with k.stage(i=8) as i:
            out[i] = block[i]

    made = made_wider.kernels()[0]
    last = made.stages[-1].stores[0].value
    assert Ranges(made).of(last).within(0, 200)
    assert Ranges(made).of(last).hi == 200
