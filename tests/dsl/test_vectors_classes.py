# SPDX-License-Identifier: BSD-2-Clause
"""Items of classes whose parameter has a range that nobody should list."""

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.dsl.lang import KernelBuilder, i32, kernel, u8


@kernel(clause="a class of a parameter of 31 bits")
def made_wide(k: KernelBuilder) -> None:
    block = k.block("block", u8, (8,))
    out = k.block("out", u8, (8,), access="out")
    k.param("n", i32, 0, 2**31 - 1)
    k.item_class("part", n=(0, 3), nonzero={"block": (4,)})
    with k.stage(i=8) as i:
        out[i] = block[i]


def test_items_of_all_classes_are_found() -> None:
    made: Kernel = made_wide.kernels()[0]
    items = vectors.make_items(made, 200, 1)
    part = interp.in_class(made, "part", items)
    assert 0 < part.sum() < items.count
    assert items.params["n"][~part].max() > 2**24
