# SPDX-License-Identifier: BSD-2-Clause
"""The items that are measured with: conformant, with what the interpreter makes of them.

The file's format stands in runtime/tune/items.h. It is a function of the specs and the seed.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Buffer, Kernel
from daedalus.generator.base.outputs import write_output
from daedalus.generator.compile import layout
from daedalus.generator.targets.shell import meta_fields

MAGIC = b"DAEDBEN2"


def write(
    path: Path, kernels: Sequence[tuple[Kernel, frozenset[str]]], distinct: int, seed: int
) -> None:
    """Writes so many items a class, each kernel with what its variants take for granted."""
    parts = [MAGIC, _numbers(len(kernels), seed)]
    for kernel, assume in kernels:
        parts += _kernel(kernel, assume, distinct, seed)
    write_output(path, b"".join(parts))


def _numbers(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def _kernel(kernel: Kernel, assume: frozenset[str], distinct: int, seed: int) -> list[bytes]:
    items = vectors.make_items(kernel, distinct * len(kernel.class_names), seed)
    conformant = interp.run(kernel, items).conformant(kernel.defaults | assume)
    items = items.take(np.flatnonzero(conformant))
    result = interp.run(kernel, items)
    _, size = meta_fields(kernel)
    parts = [
        kernel.id.encode().ljust(128, b"\0"),
        _numbers(size, items.count, len(kernel.buffers)),
        _metas(kernel, items),
    ]
    for b in kernel.buffers:
        given = items.buffers[b.name].astype(layout.numpy_type(b))
        rows, row_bytes, first_row, first_column = _window(b)
        output = b.access != "in"
        parts += [_numbers(rows, row_bytes, first_row, first_column, int(output)), given.tobytes()]
        if output:
            parts.append(result.buffers[b.name].astype(layout.numpy_type(b)).tobytes())
    return parts


def _metas(kernel: Kernel, items: interp.Items) -> bytes:
    offsets = {f"{b.name}_off": np.zeros(items.count, np.int64) for b in kernel.buffers}
    return layout.meta(kernel, items, offsets)


def _window(b: Buffer) -> tuple[int, int, int, int]:
    """Rows, bytes of a row, first row, and first column in bytes."""
    assert b.dtype is not None
    size = b.dtype.bytes
    if b.kind == "plane":
        (r0, r1), (c0, c1) = b.shape
        return r1 - r0, (c1 - c0) * size, r0, c0 * size
    return 1, int(np.prod(b.extents)) * size, 0, 0
