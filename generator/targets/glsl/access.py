# SPDX-License-Identifier: BSD-2-Clause
"""Elements of buffers and temps as GLSL lvalues.

Places are counted in units of a view: an aliased storage block that sees a buffer as an array of
elements. Of a plane a stage gets a pointer for each way its lanes walk it and each row, the next
made of the one before by adding the stride: V3D has no cheap multiplication.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from daedalus.dsl.ir import Affine, Buffer, DType, Kernel, Node, Op, Stage
from daedalus.generator.targets.c.emit import flat
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.glsl.temps import TempLayout
from daedalus.generator.targets.glsl.values import Values

Terms = tuple[tuple[str, int], ...]


def element_type(t: DType) -> str:
    """The type of an element in memory."""
    if t.bits == 32:
        return "int" if t.signed else "uint"
    return f"{'int' if t.signed else 'uint'}{t.bits}_t"


@dataclass
class View:
    """A buffer as an array: how it is declared."""

    binding: int
    name: str
    type: str
    written: bool = False
    alone: bool = True  # no other view is of the same buffer


@dataclass
class Views:
    """The views that a shader declares, by name."""

    kernel: Kernel
    used: dict[str, View] = field(default_factory=dict)

    def of(self, b: Buffer, *, write: bool = False) -> str:
        """The array of the buffer's elements."""
        assert b.dtype is not None
        name = f"{b.name}_{b.dtype.name}"
        number = [x.name for x in self.kernel.buffers].index(b.name)
        view = self.used.setdefault(name, View(number, name, element_type(b.dtype)))
        view.written |= write
        return name


class Places:
    """The places that a stage touches, as texts; `lines` declare the pointers that they use."""

    def __init__(self, kernel: Kernel, temps: TempLayout, names: Names) -> None:
        self._kernel, self._temps, self._names = kernel, temps, names
        self.lines: list[str] = []
        self._pointers: dict[tuple[str, Terms, Terms], str] = {}
        self._rows: dict[tuple[str, Terms, Terms, int], str] = {}
        self._offsets: dict[tuple[str, Terms, Terms, tuple[Node, ...]], str] = {}

    def prepare(self, stage: Stage) -> None:
        """Declares the pointers of all that the stage loads and stores."""
        wanted: dict[tuple[str, Terms, Terms], set[int]] = {}
        uses = [(n.attr[0], n.index) for n in stage.nodes() if n.op is Op.LOAD]
        uses += [(s.buffer, s.index) for s in stage.stores]
        for name, index in uses:
            b = self._kernel.buffer(name)
            row, col = self._row_and_col(b, index)
            wanted.setdefault((name, _lanes(row), _lanes(col)), set()).add(row.const)
        for (name, row_terms, col_terms), rows in wanted.items():
            self._declare(self._kernel.buffer(name), row_terms, col_terms, sorted(rows))

    def _row_and_col(self, b: Buffer, index: tuple[Affine, ...]) -> tuple[Affine, Affine]:
        """The row, which counts strides, and the units inside it; only planes have rows."""
        if b.kind == "plane":
            return index[0], index[1]
        if b.kind == "temp":
            return Affine(0), self._temps.flat(b, index)
        return Affine(0), flat(b, index)

    def _declare(self, b: Buffer, row: Terms, col: Terms, rows: list[int]) -> None:
        start = f"{b.name}_at"
        lanes = _sum([("", start)], Affine(0, col)) if col else start
        at = rows[0]
        if row or at:
            text = str(Affine(at, row))
            times = f"({text})" if not text.lstrip("-").isalnum() else text
            lanes = f"{lanes} + {times} * {b.name}_stride"
        name = start
        if lanes != start:
            name = self._names.fresh(f"{b.name}_p")
            self.lines.append(f"const int {name} = {lanes};")
        self._rows[b.name, row, col, at] = name
        for at, r in pairwise(rows):
            gap = r - at
            step = f"{b.name}_stride" if gap == 1 else f"{gap} * {b.name}_stride"
            fresh = self._names.fresh(f"{b.name}_p")
            self.lines.append(f"const int {fresh} = {name} + {step};")
            self._rows[b.name, row, col, r] = name = fresh

    def at(
        self, b: Buffer, index: tuple[Affine, ...], args: tuple[Node, ...] = (),
        values: Values | None = None,
    ) -> str:  # fmt: skip
        """The place of an element in its view; places known only at run time by their offset."""
        row, col = self._row_and_col(b, index)
        pointer = self._rows[b.name, _lanes(row), _lanes(col), row.const]
        if args:
            assert values is not None
            pointer = self._moved(b, pointer, _runtime(row), _runtime(col), args, values)
        if col.const:
            return f"{pointer} {'+' if col.const > 0 else '-'} {abs(col.const)}"
        return pointer

    def _moved(
        self, b: Buffer, pointer: str, row: Terms, col: Terms, args: tuple[Node, ...], v: Values
    ) -> str:
        """A pointer moved by what is known only at run time; opposite moves share the offset."""
        for sign, op in ((1, "+"), (-1, "-")):
            known = self._offsets.get((b.name, _times(row, sign), _times(col, sign), args))
            if known:
                return f"{pointer} {op} {known}"
        terms = [(c, f"{v.operand(args[int(n[1:])], 'int')} * {b.name}_stride") for n, c in row]
        terms += [(c, v.operand(args[int(n[1:])], "int")) for n, c in col]
        text = ""
        for c, t in terms:
            minus, size = ("-" if c < 0 else "+"), ("" if abs(c) == 1 else f"{abs(c)} * ")
            text += f" {minus} {size}{t}" if text else f"{'-' if c < 0 else ''}{size}{t}"
        name = self._names.fresh(f"{b.name}_by")
        v.lines.append(f"const int {name} = {text};")
        self._offsets[b.name, row, col, args] = name
        return f"{pointer} + {name}"


def _lanes(a: Affine) -> Terms:
    return tuple(sorted(t for t in a.terms if not t[0].startswith("#")))


def _runtime(a: Affine) -> Terms:
    return tuple(sorted(t for t in a.terms if t[0].startswith("#")))


def _times(terms: Terms, sign: int) -> Terms:
    return tuple((n, c * sign) for n, c in terms)


def _sum(start: list[tuple[str, str]], a: Affine) -> str:
    text = "".join(t for _, t in start)
    return f"{text} + {a}".replace("+ -", "- ")


Read = Callable[[Node, Values], str]
