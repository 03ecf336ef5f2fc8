# SPDX-License-Identifier: BSD-2-Clause
"""Records of witnesses: the items of a kernel that `search.py` found, and what it did not find.

    {"buffers": {name: [item, ...]}, "params": {name: [item, ...]},
     "not found": {"variant function": [goal, ...]}, "of": hash}

An item is the text of its elements, last axis fastest. What items show is computed anew whenever
they are used. Goals are named by `proof_file.key`; they stand here because the search's work was
done before it found a witness, and nobody has said why there can be none. The hash is of the code
that was looked at last, with nothing missing.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.base import records
from daedalus.generator.compile.variants import Variant

_NOT_FOUND, _OF = "not found", "of"


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


def known(kernel: str) -> bool:
    """Whether a search's result is on record."""
    return bool(records.read(kernel, records.WITNESSES))


def listed(kernel: str) -> dict[str, list[str]]:
    """The goals that a search did not find a witness of, by function."""
    found: dict[str, list[str]] = records.read(kernel, records.WITNESSES).get(_NOT_FOUND, {})
    return found


def are_of(kernel: str, variants: Sequence[Variant]) -> bool:
    """Whether nothing was missing of the code as it is."""
    return records.read(kernel, records.WITNESSES).get(_OF) == _hash(variants)


def note(kernel: str, variants: Sequence[Variant]) -> None:
    """Puts on record that nothing is missing of this code."""
    known = records.read(kernel, records.WITNESSES)
    if known and known.get(_OF) != _hash(variants):
        records.write(kernel, records.WITNESSES, {**known, _OF: _hash(variants)})


def _hash(variants: Sequence[Variant]) -> str:
    hashes = sorted(v.input_hash for v in variants if v.options.target == "neon")
    return hashlib.sha256(" ".join(hashes).encode()).hexdigest()[:16]


def write(kernel: str, items: Items, not_found: Mapping[str, Collection[str]] = {}) -> None:
    """Puts a kernel's items on record, in the place of those that are, and what has none."""
    parts = (("buffers", items.buffers), ("params", items.params))
    data: dict[str, object] = {
        part: {n: [_text(x) for x in a] for n, a in arrays.items()} for part, arrays in parts
    }
    if not_found:
        data[_NOT_FOUND] = {place: list(goals) for place, goals in sorted(not_found.items())}
    records.write(kernel, records.WITNESSES, data if items.count or not_found else {})


def _text(values: Array) -> str:
    return " ".join(str(int(v)) for v in np.ravel(values))
