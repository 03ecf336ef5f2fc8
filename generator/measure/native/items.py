# SPDX-License-Identifier: BSD-2-Clause
"""The items that functions are timed on, and the file that tools/native_bench reads.

All planes have one grid of cells and one stride, and items begin at multiples of 16 bytes: what
other people's functions take for granted.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Buffer, Kernel
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.compile import layout
from daedalus.generator.compile.clearing import cleared_blocks
from daedalus.generator.verify.oracle import Entry

_ALIGN = 16  # bytes
_ACROSS = 8  # items in a row
_SEED = 11
_TRIES = 40


@dataclass(frozen=True)
class Case:
    """A kernel with the class and the parameters that are timed.

    fixed    parameters that have one value
    ranges   parameters drawn from a range
    theirs   whose functions it is compared with; "" for nobody's
    counts   whether it is in the mean
    filtered whether every position along the edge is written; as they come otherwise
    """

    kernel: str
    class_name: str
    theirs: str
    what: str
    fixed: Mapping[str, int] = field(default_factory=dict)
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    counts: bool = True
    filtered: bool = False


def draw(kernel: Kernel, case: Case, count: int) -> Items:
    """`count` conformant items of the case's class, as a decoder meets them.

    They meet the assumptions that are not made by default as well, which decoders' assembly makes.
    """
    assume = frozenset(a.name for a in kernel.assumptions)
    kept: list[Items] = []
    have = 0
    for attempt in range(_TRIES):
        items = vectors.make_items(kernel, max(256, 4 * count), _SEED + attempt, "typical")
        rng = np.random.default_rng(_SEED + attempt)
        params = dict(items.params)
        for name, value in case.fixed.items():
            params[name] = np.full_like(params[name], value)
        for name, (lo, hi) in case.ranges.items():
            params[name] = np.asarray(rng.integers(lo, hi + 1, params[name].shape))
        items = Items(items.buffers, params)
        wanted = interp.in_class(kernel, case.class_name, items)
        items = items.take(np.flatnonzero(wanted))
        if not items.count:
            continue
        result = interp.run(kernel, items)
        keep = result.conformant(assume)
        if case.filtered:
            keep &= _filtered(result.written["dst"])
        items = items.take(np.flatnonzero(keep))
        kept.append(items)
        have += items.count
        if have >= count:
            break
    else:
        raise UserError(
            f"{kernel.id}: only {have} of {count} items are conformant and {case.class_name}",
            "codecs/timed.toml asks for parameters that do not go together",
            EXIT_FAILED,
        )
    joined = Items(
        {n: np.concatenate([k.buffers[n] for k in kept]) for n in kept[0].buffers},
        {n: np.concatenate([k.params[n] for k in kept]) for n in kept[0].params},
    )
    return joined.take(np.arange(count))


def _filtered(written: Array) -> Array:
    """Per item of a loop filter: whether all positions along its edge are written."""
    rows, columns = np.any(written, axis=2), np.any(written, axis=1)
    return np.asarray(np.all(rows, axis=1) | np.all(columns, axis=1))


def _up(n: int, unit: int) -> int:
    return -(-n // unit) * unit


@dataclass(frozen=True)
class _Grid:
    """Cells of all planes: bytes and rows from one to the next, and where in a cell an item is."""

    step: int
    rows: int
    column: int  # bytes
    row: int
    pitch: int


def _bytes(b: Buffer) -> int:
    assert b.dtype is not None
    return b.dtype.bytes


def _grid(kernel: Kernel) -> _Grid:
    planes = [b for b in kernel.buffers if b.kind == "plane"]
    before = _up(max(-min(b.shape[1][0], 0) * _bytes(b) for b in planes), _ALIGN)
    after = max(b.shape[1][1] * _bytes(b) for b in planes)
    above = max(-min(b.shape[0][0], 0) for b in planes)
    below = max(b.shape[0][1] for b in planes)
    step = _up(before + after, _ALIGN)
    # An odd number of units: rows of one column do not all meet in one set of a cache.
    pitch = (_up(_ACROSS * step, 64) // 64 | 1) * 64
    return _Grid(step, above + below, before, above, pitch)


def place(kernel: Kernel, items: Items) -> layout.Placed:
    """The items in memory."""
    grid, number = _grid(kernel), np.arange(items.count)
    down = -(-items.count // _ACROSS)
    top = (number // _ACROSS) * grid.rows
    left = (number % _ACROSS) * grid.step
    rng = np.random.default_rng(_SEED)
    placed: list[layout.PlacedBuffer] = []
    offsets: dict[str, Array] = {}
    for b in kernel.buffers:
        dtype = layout.numpy_type(b)
        if b.kind != "plane":
            data = items.buffers[b.name].astype(dtype)
            where = np.arange(data.size).reshape(data.shape)
            raw = np.frombuffer(data.tobytes(), np.uint8).copy()
            placed.append(layout.PlacedBuffer(b, raw, 0, 0, where))
            continue
        (r0, r1), (c0, c1) = b.shape
        y = top[:, None, None] + grid.row + np.arange(r0, r1)[None, :, None]
        x = (left[:, None, None] + grid.column) // _bytes(b) + np.arange(c0, c1)[None, None, :]
        where = y * (grid.pitch // _bytes(b)) + x
        image = rng.integers(0, 256, down * grid.rows * grid.pitch, dtype=np.uint8).view(dtype)
        image[where] = items.buffers[b.name].astype(dtype)
        origin = grid.row * grid.pitch + grid.column
        placed.append(layout.PlacedBuffer(b, image.view(np.uint8), origin, grid.pitch, where))
        offsets[f"{b.name}_off"] = top * grid.pitch + left
    return layout.Placed(kernel, items, tuple(placed), layout.meta(kernel, items, offsets))


def job(kernel: Kernel, items: Items, theirs: Entry | None) -> bytes:
    """The file: the items, what must be there afterwards, and what the other function takes."""
    placed = place(kernel, items)
    result = interp.run(kernel, items)
    parts = [layout.job(placed, [], at_start=False)]
    for b in placed.buffers:
        if b.buffer.access == "in":
            parts.append(struct.pack("<q", 0))
            continue
        image = b.elements.copy()
        after = np.where(
            result.written[b.buffer.name],
            result.buffers[b.buffer.name],
            items.buffers[b.buffer.name],
        )
        image[b.where] = after.astype(image.dtype)
        parts += [struct.pack("<q", 1), image.tobytes()]
    names = [b.name for b in kernel.buffers]
    blocks = cleared_blocks(kernel)
    if blocks:
        number = names.index(min(blocks))
        block = kernel.buffers[number]
        parts.append(struct.pack("<qq", number, block.size * _bytes(block)))
    else:
        parts.append(struct.pack("<qq", 0, 0))
    planes, params = (theirs.planes, theirs.params) if theirs else ((), ())
    values = [items.params[p].reshape(items.count, -1) for p in params]
    table = np.concatenate([np.empty((items.count, 0)), *values], axis=1).astype("<i4")
    numbers = (len(planes), *map(names.index, planes), table.shape[1])
    parts += [struct.pack(f"<{len(numbers)}q", *numbers), table.tobytes()]
    return b"".join(parts)
