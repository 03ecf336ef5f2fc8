# SPDX-License-Identifier: BSD-2-Clause
"""Lays a batch of items out in memory as a caller would: planes with strides, packed blocks, meta.

Between the items' rectangles lie guard elements of a random pattern, or nothing; strides are odd
multiples of the element size, or of what a buffer is to be aligned to, and rows may run upwards
(negative stride). A buffer that no item may touch can be withheld: it then has no memory at all.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Buffer, Kernel
from daedalus.dsl.verify import written_box
from daedalus.generator.targets.shell import meta_fields

_GUARD = 3  # elements between items


@dataclass(frozen=True)
class PlacedBuffer:
    """A buffer's memory.

    bytes   the image, uint8
    origin  byte position that the buffer's pointer points at
    stride  bytes from a row to the next; 0 for a block
    where   element numbers in the image of every element of every item: [items, *extents]
    """

    buffer: Buffer
    bytes: Array
    origin: int
    stride: int
    where: Array

    @property
    def elements(self) -> Array:
        """The image as elements."""
        return self.bytes.view(numpy_type(self.buffer))


@dataclass(frozen=True)
class Placed:
    """All of a batch's memory."""

    kernel: Kernel
    items: Items
    buffers: tuple[PlacedBuffer, ...]
    meta: bytes


def numpy_type(b: Buffer) -> np.dtype[np.generic]:
    assert b.dtype is not None
    return np.dtype(f"<{'i' if b.dtype.signed else 'u'}{b.dtype.bytes}")


def place(
    kernel: Kernel, items: Items, rng: np.random.Generator, *, upwards: bool, close: bool = False,
    withheld: str = "", align: Mapping[str, int] | None = None, across: int = 0, down: int = 0,
) -> Placed:  # fmt: skip
    """The items in memory; `upwards` gives planes a negative stride.

    With `close` they lie as near to each other as the rules for one append allow: what one writes
    ends where another's window begins, and windows overlap where nothing is written. Elements that
    items share then have one value, so that the placed items differ from the given ones.

    The buffer `withheld` has no memory: tools/check puts pages there that cannot be touched.

    `align` gives for planes by name what pointer, stride and offsets are multiples of, in bytes.
    With `across` so many items stand in a row, in their order; else in any order. With `down` so
    many rows lie from an item to the one below it, in all planes.
    """
    placed: list[PlacedBuffer] = []
    offsets: dict[str, Array] = {}
    held = dict(items.buffers)
    for b in kernel.buffers:
        if b.name == withheld:
            one = _nothing(b)
            offsets[f"{b.name}_off"] = np.zeros(items.count, dtype=np.int64)
        elif b.kind == "plane":
            steps = _closest(kernel, b) if close else [n + _GUARD for n in b.extents]
            grid = _Grid(
                (down or steps[0], steps[1]), _aligned_elements(b, align or {}), across, upwards
            )
            one, offsets[f"{b.name}_off"] = _plane(b, items, rng, grid)
            held[b.name] = one.elements[one.where].astype(np.int64)
        else:
            one = _block(b, items)
        placed.append(one)
    items = Items(held, items.params)
    return Placed(kernel, items, tuple(placed), meta(kernel, items, offsets))


def _closest(kernel: Kernel, b: Buffer) -> list[int]:
    """Rows and columns from an item to the next, of which none writes in another's window."""
    box = written_box(kernel, b)
    if box is None:
        return [-(-n // 2) for n in b.extents]
    return [max(r1 - w0, w1 - r0) for (r0, r1), (w0, w1) in zip(b.shape, box, strict=True)]


def _block(b: Buffer, items: Items) -> PlacedBuffer:
    data = items.buffers[b.name].astype(numpy_type(b))
    where = np.arange(data.size).reshape(data.shape)
    return PlacedBuffer(b, np.frombuffer(data.tobytes(), np.uint8).copy(), 0, 0, where)


def _nothing(b: Buffer) -> PlacedBuffer:
    """No memory; rows would be close together, so that all of an item lies near the pointer."""
    assert b.dtype is not None
    stride = b.extents[1] * b.dtype.bytes if b.kind == "plane" else 0
    return PlacedBuffer(b, np.empty(0, np.uint8), 0, stride, np.empty((0, *b.extents), int))


@dataclass(frozen=True)
class _Grid:
    """How items stand in a plane.

    steps    rows and columns from an item to the next
    unit     elements that columns, lines and the image's ends are multiples of
    across   items in a row, in their order; 0: about as many as rows, in any order
    """

    steps: tuple[int, ...]
    unit: int
    across: int
    upwards: bool


def _aligned_elements(b: Buffer, align: Mapping[str, int]) -> int:
    assert b.dtype is not None
    return max(1, align.get(b.name, 1) // b.dtype.bytes)


def _cells(count: int, grid: _Grid, rng: np.random.Generator) -> tuple[Array, int]:
    """The cell of every item, and how many cells a row has.

    The first and the last cell are taken, so that the image ends where an item ends.
    """
    if grid.across:
        return np.arange(count), grid.across
    across = max(1, int(np.sqrt(count)))
    down = -(-count // across)
    middle = 1 + rng.permutation(down * across - 2)[: max(count - 2, 0)]
    return rng.permutation(np.array([0, down * across - 1, *middle])[:count]), across


def _plane(
    b: Buffer, items: Items, rng: np.random.Generator, grid: _Grid
) -> tuple[PlacedBuffer, Array]:
    """A grid of cells, so many rows and columns apart; the image ends where an item ends, or with
    the unit in which that is."""
    (r0, _), (c0, _) = b.shape
    rows, cols = b.extents
    count, upwards, unit = items.count, grid.upwards, grid.unit
    cell, across = _cells(count, grid, rng)
    steps = (grid.steps[0], -(-grid.steps[1] // unit) * unit)
    last_used = (across - 1) * steps[1] + cols
    pitch = last_used + _GUARD + 5  # elements; an odd number of units
    pitch = (-(-pitch // unit) | 1) * unit
    down = int(cell.max()) // across + 1
    height = (down - 1) * steps[0] + rows
    top = (cell // across) * steps[0]
    left = (cell % across) * steps[1]
    y = top[:, None, None] + np.arange(rows)[None, :, None]
    x = left[:, None, None] + np.arange(cols)[None, None, :]
    size = (height - 1) * pitch + last_used
    dtype = numpy_type(b)
    assert b.dtype is not None
    line = height - 1 - y if upwards else y
    where = line * pitch + x
    lead = c0 % unit  # then an item's origin lies at a multiple of the unit
    where += lead
    size += lead + -(size + lead) % unit
    image = rng.integers(0, 256, size * b.dtype.bytes, dtype=np.uint8).view(dtype)
    image[where] = items.buffers[b.name].astype(dtype)
    # The pointer is such that the smallest meta offset is zero.
    stride = -pitch if upwards else pitch
    element = where[:, -r0 if 0 <= -r0 < rows else 0, -c0 if 0 <= -c0 < cols else 0].astype(
        np.int64
    )
    element -= stride * (r0 + (-r0 if 0 <= -r0 < rows else 0))
    element -= c0 + (-c0 if 0 <= -c0 < cols else 0)
    first = int(element.min())
    offsets = (element - first) * b.dtype.bytes
    placed = PlacedBuffer(
        b, image.view(np.uint8), first * b.dtype.bytes, stride * b.dtype.bytes, where
    )
    return placed, offsets


def meta(kernel: Kernel, items: Items, offsets: dict[str, Array]) -> bytes:
    """The items' meta structs; `offsets` are those of the planes, in bytes, as <plane>_off."""
    fields, size = meta_fields(kernel)
    out = np.zeros((items.count, size), dtype=np.uint8)
    types = {p.name: p.dtype for p in kernel.params}
    for f in fields:
        if f.name.startswith("reserved"):
            continue
        if f.name in types:
            t = types[f.name]
            dtype = np.dtype(f"<{'i' if t.signed else 'u'}{t.bytes}")
            values = items.params[f.name].astype(dtype)
        else:
            values = offsets[f.name].astype("<u4")
        raw = np.frombuffer(values.tobytes(), np.uint8).reshape(items.count, -1)
        out[:, f.offset : f.offset + raw.shape[1]] = raw
    return out.tobytes()


def job(placed: Placed, runs: list[tuple[str, Array]], *, at_start: bool) -> bytes:
    """The file of tools/check/job.h."""

    def name(text: str) -> bytes:
        return text.encode().ljust(128, b"\0")

    def number(*values: int) -> bytes:
        return struct.pack(f"<{len(values)}q", *values)

    k = placed.kernel
    _, meta_size = meta_fields(k)
    parts = [b"DAEDCHK1", name(k.id)]
    parts.append(
        number(int(at_start), len(placed.buffers), meta_size, placed.items.count, len(runs))
    )
    for b in placed.buffers:
        parts += [number(len(b.bytes), b.origin, b.stride), b.bytes.tobytes()]
    parts.append(placed.meta)
    for variant, items in runs:
        parts += [name(variant), number(len(items)), items.astype("<u8").tobytes()]
    return b"".join(parts)


def may_write(kernel: Kernel, placed: PlacedBuffer) -> Array:
    """Per element of the image: whether some item may write it."""
    allowed = np.zeros(len(placed.elements), dtype=bool)
    box = written_box(kernel, placed.buffer)
    if box is not None:
        inside = tuple(
            slice(lo - base, hi - base)
            for (lo, hi), (base, _) in zip(box, placed.buffer.shape, strict=True)
        )
        allowed[placed.where[(slice(None), *inside)].ravel()] = True
    return allowed
