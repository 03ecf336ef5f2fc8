# SPDX-License-Identifier: BSD-2-Clause
"""Records of witnesses: the items of a kernel that `witness.py` found.

    {"buffers": {name: [item, ...]}, "params": {name: [item, ...]}}

An item is the text of its elements, last axis fastest. What items show is computed anew whenever
they are used.
"""

import numpy as np

from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.base import records


def _shapes(kernel: Kernel) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    buffers = {b.name: b.extents for b in kernel.buffers}
    return buffers, {p.name: (p.count,) if p.count > 1 else () for p in kernel.params}


def none(kernel: Kernel) -> Items:
    """No items."""
    buffers, params = _shapes(kernel)
    return Items(
        {n: np.zeros((0, *s), np.int64) for n, s in buffers.items()},
        {n: np.zeros((0, *s), np.int64) for n, s in params.items()},
    )


def read(kernel: Kernel) -> Items:
    """A kernel's items; none where none are on record, or of another shape than the kernel's."""
    found = records.read(kernel.id, records.WITNESSES)
    if not found:
        return none(kernel)
    buffers, params = _shapes(kernel)
    if set(found["buffers"]) != set(buffers) or set(found["params"]) != set(params):
        return none(kernel)
    counts = {len(v) for part in ("buffers", "params") for v in found[part].values()}
    try:
        items = Items(
            {n: _array(found["buffers"][n], s) for n, s in buffers.items()},
            {n: _array(found["params"][n], s) for n, s in params.items()},
        )
    except ValueError:  # the spec has changed since
        return none(kernel)
    return items if len(counts) == 1 else none(kernel)


def _array(texts: list[str], shape: tuple[int, ...]) -> Array:
    rows = [np.array([int(x) for x in t.split()], np.int64).reshape(shape) for t in texts]
    return np.stack(rows) if rows else np.zeros((0, *shape), np.int64)


def write(kernel: str, items: Items) -> None:
    """Puts a kernel's items on record, in the place of those that are."""
    parts = (("buffers", items.buffers), ("params", items.params))
    data = {part: {n: [_text(x) for x in a] for n, a in arrays.items()} for part, arrays in parts}
    records.write(kernel, records.WITNESSES, data if items.count else {})


def _text(values: Array) -> str:
    return " ".join(str(int(v)) for v in np.ravel(values))
