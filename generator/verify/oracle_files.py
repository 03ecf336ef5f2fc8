# SPDX-License-Identifier: BSD-2-Clause
"""The files that the oracle programs read and write; their format stands in tools/oracle/main.c."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Buffer, Kernel

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Answer:
    """What a program made of items: the planes afterwards, the blocks, and how many it spoiled."""

    strayed: int
    planes: Mapping[str, Array]
    blocks: Array


def encode(
    kernel: Kernel,
    items: Items,
    planes: tuple[str, ...],
    block: str,
    params: tuple[str, ...],
    *,
    assembly: bool | None,
) -> bytes:
    """A file of these items; their planes and parameters in the program's order.

    `assembly` says whether the decoder must have some, must have none, or (None) may have some.
    """
    n = items.count
    coefficients = np.zeros((n, 0), "<i2")
    if block:
        dtype = stored_type(kernel.buffer(block))
        coefficients = items.buffers[block].astype(dtype).reshape(n, -1).view("<i2")
    values = [items.params[p].reshape(n, -1) for p in params]
    arguments = np.concatenate([np.empty((n, 0)), *values], axis=1).astype("<i4")
    header = [
        n,
        len(planes),
        coefficients.shape[1],
        arguments.shape[1],
        {None: 0, True: 1, False: 2}[assembly],
    ]
    for name in planes:
        (row, _), (col, _) = kernel.buffer(name).shape
        header += [
            *_area(kernel.buffer(name)),
            -row,
            -col * stored_type(kernel.buffer(name)).itemsize,
        ]
    regions = [
        items.buffers[p].astype(stored_type(kernel.buffer(p))).reshape(n, -1) for p in planes
    ]
    parts = [a.view(np.uint8).reshape(n, -1) for a in (*regions, coefficients, arguments) if a.size]
    return b"DDLITEMS" + np.array(header, "<u4").tobytes() + np.hstack(parts).tobytes()


def decode(data: bytes, kernel: Kernel, planes: tuple[str, ...], count: int) -> Answer:
    """What a program wrote for `count` items."""
    records = np.frombuffer(data[4:], np.uint8).reshape(count, -1)
    found: dict[str, Array] = {}
    at = 0
    for name in planes:
        plane = kernel.buffer(name)
        size = int(np.prod(_area(plane)))
        raw = np.ascontiguousarray(records[:, at : at + size])
        found[name] = raw.view(stored_type(plane)).reshape(count, *plane.extents)
        at += size
    blocks = np.ascontiguousarray(records[:, at:]).view("<i2")
    return Answer(int.from_bytes(data[:4], "little"), found, blocks)


def stored_type(plane: Buffer) -> np.dtype[Any]:
    """How the program stores an element of a buffer."""
    assert plane.dtype is not None
    return np.dtype(plane.dtype.c.removesuffix("_t")).newbyteorder("<")


def _area(plane: Buffer) -> tuple[int, int]:
    """Rows, and bytes a row."""
    rows, cols = plane.extents
    return rows, cols * stored_type(plane).itemsize
