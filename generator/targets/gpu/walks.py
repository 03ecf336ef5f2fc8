# SPDX-License-Identifier: BSD-2-Clause
"""How a stage's lanes walk buffers: what accesses share a pointer, and where each is beside it."""

from dataclasses import dataclass

from daedalus.dsl.ir import Affine, Buffer, Index
from daedalus.generator.targets.c.emit import flat

Terms = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Walk:
    """What accesses share a pointer: the lanes' part of row and column, the latter in bytes."""

    buffer: str
    rows: Terms
    cols: Terms


def byte_place(b: Buffer, index: Index) -> tuple[Affine, Affine]:
    """The row, which counts strides, and the byte inside it; only planes have rows."""
    assert b.dtype is not None
    row, col = (index[0], index[1]) if b.kind == "plane" else (Affine(0), flat(b, index))
    size = b.dtype.bytes
    return row, Affine(col.const * size, tuple((lane, c * size) for lane, c in col.terms))


def lanes_of(a: Affine) -> Terms:
    """The terms of lanes."""
    return tuple(sorted(t for t in a.terms if not t[0].startswith("#")))


def walk_of(b: Buffer, index: Index) -> tuple[Walk, int, int]:
    """The walk of an access, its row and its byte."""
    row, col = byte_place(b, index)
    return Walk(b.name, lanes_of(row), lanes_of(col)), row.const, col.const
