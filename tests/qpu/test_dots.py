# SPDX-License-Identifier: BSD-2-Clause
"""Sums of bytes that are dot products, with numbers at the ends of 32 bits, on the interpreter of
virtual programs against the reference interpreter."""

import pytest

from daedalus.dsl import vectors
from daedalus.dsl.ir import Kernel
from daedalus.dsl.lang import KernelBuilder, clip_u8, kernel, round_shift, u8
from daedalus.generator.options import options_of
from daedalus.generator.verify.qpu_trial import interpreted, selected, trial


def _kernel(number: int, shift: int) -> Kernel:
    """Stores of the rounding shift of a sum of bytes and a number, so that its sign matters."""

    @kernel(clause="none: a test")
    def test_summed(k: KernelBuilder) -> None:
        """Sums."""
        src = k.plane("src", u8, rows=(0, 1), cols=(0, 16), access="in")
        dst = k.plane("dst", u8, rows=(0, 1), cols=(0, 16), access="out")
        with k.stage(x=4) as x:
            for n in range(4):
                total = number - sum(w * src[0, 4 * n + w - 1] for w in range(1, 5))
                dst[0, 4 * x + n] = clip_u8(round_shift(total, shift) - (number >> shift) + 300)

    return test_summed.kernels()[0]


@pytest.mark.parametrize("number", [0, 2**31 - 1, 2**31, 2**32 - 9])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_shifts_of_sums_near_the_ends(number: int, shift: int) -> None:
    made = _kernel(number, shift)
    options = options_of("qpu", points=4, dot=True, word=True)
    s = selected(made, options)
    assert any("v8dot" in str(p) for p in s.programs)
    outcome = trial(made, options, vectors.make_items(made, 24, 1), 3, run=interpreted, s=s)
    assert outcome.good, outcome
