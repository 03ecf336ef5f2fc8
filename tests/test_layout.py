# SPDX-License-Identifier: BSD-2-Clause
"""Items in memory: with guards between them, or as close as one append allows."""

import numpy as np
import pytest

from daedalus.dsl import vectors
from daedalus.dsl.ir import Kernel
from daedalus.dsl.verify import written_box
from daedalus.generator.compile import layout
from daedalus.generator.compile.registry import load

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


@pytest.mark.of_many
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("close", [False, True])
def test_planes_are_aligned_as_asked(kernel: Kernel, close: bool) -> None:
    items = vectors.make_items(kernel, 40, 1, "conformant")
    align = {b.name: 8 for b in kernel.buffers}
    for upwards in (False, True):
        made = layout.place(
            kernel, items, np.random.default_rng(1), upwards=upwards, close=close, align=align
        )
        meta = np.frombuffer(made.meta, np.uint32).reshape(items.count, -1)
        planes = [b for b in made.buffers if b.buffer.kind == "plane"]
        for n, b in enumerate(planes):  # their offsets are the first words of the meta
            assert b.origin % 8 == 0 and b.stride % 8 == 0 and len(b.bytes) % 8 == 0
            assert (meta[:, n] % 8 == 0).all()
            # What the meta says is where the items are.
            (r0, _), (c0, _) = b.buffer.shape
            size = b.elements.itemsize
            first = b.origin + meta[:, n].astype(int) + r0 * b.stride + c0 * size
            assert (first == b.where[:, 0, 0] * size).all()


def test_items_in_a_row_keep_their_order() -> None:
    kernel = next(e.kernel for e in load() if e.kernel.id == "vp9_idct8")
    items = vectors.make_items(kernel, 20, 1, "conformant")
    made = layout.place(
        kernel, items, np.random.default_rng(1), upwards=False, close=True, across=5
    )
    dst = made.buffers[0]
    columns = dst.where[:, 0, 0] % dst.stride
    rows = dst.where[:, 0, 0] // dst.stride
    assert (columns == np.tile(np.arange(5) * 8, 4)).all()
    assert (rows == np.repeat(np.arange(4) * 8, 5)).all()
