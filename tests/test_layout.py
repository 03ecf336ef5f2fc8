# SPDX-License-Identifier: BSD-2-Clause
"""Items in memory: with guards between them, or as close as one append allows."""

import numpy as np
import pytest

from daedalus.dsl import vectors
from daedalus.dsl.ir import Kernel
from daedalus.dsl.verify import written_box
from daedalus.generator import layout
from daedalus.generator.registry import load

KERNELS = [pytest.param(e.kernel, id=e.kernel.id) for e in load()]


def placed(kernel: Kernel, *, close: bool, upwards: bool = False) -> layout.Placed:
    items = vectors.make_items(kernel, 40, 1, "boundary")
    return layout.place(kernel, items, np.random.default_rng(1), upwards=upwards, close=close)


def users(b: layout.PlacedBuffer, windows: np.ndarray) -> np.ndarray:
    """Per element of the image: how many items have it in their window."""
    count = np.zeros(len(b.elements), dtype=int)
    for window in windows:
        count[window.ravel()] += 1
    return count


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("upwards", [False, True])
def test_no_item_writes_in_the_window_of_another(kernel: Kernel, upwards: bool) -> None:
    for b in placed(kernel, close=True, upwards=upwards).buffers:
        box = written_box(kernel, b.buffer)
        if box is not None:
            spans = tuple(
                slice(lo - base, hi - base)
                for (lo, hi), (base, _) in zip(box, b.buffer.shape, strict=True)
            )
            own = b.where[(slice(None), *spans)]
            assert (users(b, b.where)[own] == 1).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_close_items_touch_or_share(kernel: Kernel) -> None:
    close, apart = placed(kernel, close=True), placed(kernel, close=False)
    for near, far in zip(close.buffers, apart.buffers, strict=True):
        assert near.elements[near.where].tolist() == close.items.buffers[near.buffer.name].tolist()
        if near.buffer.kind == "plane":
            assert (users(far, far.where) <= 1).all()
            shared = (users(near, near.where) > 1).any()
            assert shared == (written_box(kernel, near.buffer) != near.buffer.shape)
            width = near.buffer.extents[1]
            rows = np.sort(near.where[:, 0, 0])
            assert (np.diff(rows) <= width).any()


def test_a_withheld_buffer_has_no_memory() -> None:
    kernel = next(e.kernel for e in load() if e.kernel.buffers[-1].access == "in")
    name = kernel.buffers[-1].name
    items = vectors.make_items(kernel, 5, 1)
    made = layout.place(kernel, items, np.random.default_rng(1), upwards=False, withheld=name)
    sizes = {b.buffer.name: len(b.bytes) for b in made.buffers}
    assert sizes.pop(name) == 0 and all(sizes.values())
