# SPDX-License-Identifier: BSD-2-Clause
"""How a stage's lanes walk buffers: what accesses share a pointer, and where each is beside it."""

from dataclasses import dataclass

from daedalus.dsl.ir import Affine, Buffer, Index, Node, Op
from daedalus.generator.targets.c.emit import flat

Terms = tuple[tuple[str, int], ...]
Parts = tuple[tuple[Node, int], ...]  # of a row or a byte: values, each with how often it is taken
Moves = tuple[Parts, Parts] | tuple[()]


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


def moved_place(b: Buffer, n: Node) -> tuple[Walk, int, Moves, int]:
    """The walk of a LOAD whose index has parts that are known only at run time, its row, these
    parts and its byte."""
    assert b.dtype is not None
    walk, row, byte = walk_of(b, n.index)
    rows, cols = byte_place(b, n.index)
    return walk, row, (runtime(rows, 1, n.args), runtime(cols, b.dtype.bytes, n.args)), byte


def runtime(a: Affine, unit: int, args: tuple[Node, ...]) -> Parts:
    """The parts of an index that are values, each with how often it is taken, in units.

    A multiple of a value counts as that value: what goes as far backwards as something else goes
    forwards is then seen.
    """
    found = []
    for name, c in a.terms:
        if name.startswith("#"):
            node = args[int(name[1:])]
            while node.op is Op.MUL and node.args[1].op is Op.CONST:
                node, c = node.args[0], c * node.args[1].value
            found.append((node, c // unit))
    return tuple(sorted(found, key=lambda t: t[0].seq))
