# SPDX-License-Identifier: BSD-2-Clause
"""Reads and writes `generated/witnesses.json`: the items that `witness.py` found, by kernel.

    {"version": 1, "kernels": {id: {"buffers": {name: [item, ...]}, "params": {name: [item, ...]}}}}

An item is the text of its elements, last axis fastest. The file is a record: what its items show
is computed anew whenever they are used.
"""

import json
from pathlib import Path

import numpy as np

from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import repo_root

NAME = "witnesses.json"


def path() -> Path:
    return repo_root() / "generated" / NAME


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


def read(kernel: Kernel, file: Path | None = None) -> Items:
    """A kernel's items; none where the file has none, or of another shape than the kernel's."""
    file = file or path()
    if not file.is_file():
        return none(kernel)
    found = json.loads(file.read_text()).get("kernels", {}).get(kernel.id)
    if found is None:
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


def write(found: dict[str, Items], file: Path | None = None) -> None:
    """Puts kernels' items into the file; other kernels' stay, and kernels without items go."""
    file = file or path()
    data = json.loads(file.read_text()) if file.is_file() else {"version": 1, "kernels": {}}
    kernels = data["kernels"]
    for name, items in found.items():
        kernels.pop(name, None)
        if items.count:
            kernels[name] = {
                part: {n: [_text(x) for x in a] for n, a in arrays.items()}
                for part, arrays in (("buffers", items.buffers), ("params", items.params))
            }
    data["kernels"] = dict(sorted(kernels.items()))
    write_output(file, json.dumps(data, indent=1) + "\n")


def _text(values: Array) -> str:
    return " ".join(str(int(v)) for v in np.ravel(values))
