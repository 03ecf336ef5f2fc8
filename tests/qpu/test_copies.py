# SPDX-License-Identifier: BSD-2-Clause
"""Words that are copied whole: only where every element of the word is stored, from its place."""

import pytest

from daedalus.dsl import vectors
from daedalus.dsl.ir import Kernel
from daedalus.dsl.lang import KernelBuilder, kernel, u8
from daedalus.generator.options import options_of
from daedalus.generator.verify.qpu_trial import interpreted, trial


def _kernel(first: int, end: int, source: int) -> Kernel:
    """A kernel that copies some of eight bytes from elsewhere, and keeps the others."""

    @kernel(clause="none: a test")
    def test_copied(k: KernelBuilder) -> None:
        """Copies."""
        dst = k.plane("dst", u8, rows=(0, 2), cols=(0, 8), access="out", owns="all")
        src = k.plane("src", u8, rows=(0, 1), cols=(0, 16))
        with k.stage(x=1):
            for n in range(first, end):
                dst[0, n] = src[0, source + n]
            for n in range(8):
                dst[1, n] = src[0, n] + src[0, 8 + n] >> 1  # reads all of them in words

    return test_copied.kernels()[0]


@pytest.mark.parametrize(
    ("first", "end"), [(0, 8), (4, 8), (0, 4), (2, 8), (0, 6), (2, 6), (3, 4), (1, 7)]
)
@pytest.mark.parametrize("source", [-2, 0, 1, 4])
@pytest.mark.parametrize("word", [False, True])
def test_what_is_not_stored_stays(first: int, end: int, source: int, word: bool) -> None:
    if first + source < 0:
        source += 4
    made = _kernel(first, end, source)
    items = vectors.make_items(made, 40, 1)
    outcome = trial(made, options_of("qpu", points=8, word=word), items, 1, run=interpreted)
    assert outcome.good, outcome
