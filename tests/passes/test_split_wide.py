# SPDX-License-Identifier: BSD-2-Clause
"""Sums of more than 32 bits in two parts: exact at the ends of all ranges, where they fit."""

import numpy as np
import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import interp
from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Kernel, Op, smallest_dtype
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.split_wide import split_wide

LO, HI = -(1 << 17), (1 << 17) - 1
TOP = f"""
c = k.block("c", i32, (4, 64), lo={LO}, hi={HI})
out = k.block("out", i32, (64,), access="out")
with k.stage(i=64) as i:
    x, y, z, w = c[:, i]
"""
SUMS = {
    "rotation": "round_shift(x * 15137 - y * 6270, 14)",
    "of a sum": "round_shift((x + y) * 11585, 14)",
    "three": "x * 16069 - (y * 3196 - z * 13623) >> 14",
    "power": "round_shift(x * 16384 + y * 16384 + w, 14)",
    "negative": "round_shift(x * -16305 - y * 16305, 13)",
    "beside a product": "x * 32768 - (z >> 2) * (w >> 2) >> 15",
    "nested": "round_shift(round_shift(x * 15137 + y * 15137, 14) * 15137 + z * 15137, 14)",
}


def _kernel(folder, value: str) -> Kernel:
    body = f"{TOP}    out[i] = clip({value}, -(1 << 31), (1 << 31) - 1)\n"
    head = HEAD.replace('clause="a test"', 'clause="a test", wide=True')
    return kernel_of(folder, head + body.replace("\n", "\n    ").rstrip(" "))


def _widest(kernel: Kernel) -> bool:
    """Whether 32 bits hold every value."""
    r = Ranges(kernel)
    of = [r.of(n) for s in kernel.stages for n in s.nodes() if not n.is_bool]
    return all(smallest_dtype(x.lo, x.hi) is not None for x in of)


@pytest.mark.parametrize("name", SUMS)
def test_both_parts_give_the_sum(name: str, tmp_path) -> None:
    kernel = _kernel(tmp_path, SUMS[name])
    assert kernel.wide and not _widest(kernel)
    split = split_wide(kernel)
    assert not split.wide and _widest(split)
    rng = np.random.default_rng(1)
    ends = np.array([LO, LO + 1, -1, 0, 1, HI - 1, HI, 8192, -8191])
    c = np.where(
        rng.random((60, 4, 64)) < 0.5, rng.choice(ends, (60, 4, 64)),
        rng.integers(LO, HI + 1, (60, 4, 64)),
    )  # fmt: skip
    items = Items({"c": c}, {})
    want, got = (interp.run(k, items).buffers["out"] for k in (kernel, split))
    assert (got == want).all()


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_64_bits_are_kept(name: str, tmp_path) -> None:
    kernel = _kernel(tmp_path, SUMS[name])
    assert split_wide(kernel, long_sums=True) is kernel


def test_a_sum_with_a_number_of_32_bits_without_sign_is_split(tmp_path) -> None:
    kernel = _kernel(tmp_path, "((x + 131072) * 16000 + y) >> 14")
    made = split_wide(kernel, long_sums=True)
    assert kernel.wide and not made.wide and _widest(made)


@pytest.mark.parametrize(
    "value", ["x * y * z >> 14", "(x * 15137 >> 14) + (x * y * 3 >> 9)", "(x * 40000) >> 1"]
)
def test_what_has_no_such_form_stays(value: str, tmp_path) -> None:
    kernel = _kernel(tmp_path, value)
    assert split_wide(kernel) is kernel


def test_what_fits_is_left_alone(tmp_path) -> None:
    kernel = _kernel(tmp_path, "round_shift(x * 8192 - y, 14)")
    made = split_wide(kernel)
    assert not made.wide
    assert sum(n.op is Op.MUL for n in made.stages[0].nodes()) == 1
