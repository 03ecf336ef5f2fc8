# SPDX-License-Identifier: BSD-2-Clause
"""Places in memory as texts.

Of a plane a stage gets a pointer for each way its lanes walk it and each row, the next made of the
one before by adding the stride: V3D has no cheap multiplication. Pointers count units of a view.
"""

from daedalus.dsl.ir import Affine, Buffer, Index, Kernel, Node
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.glsl.values import Values
from daedalus.generator.targets.gpu.walks import Parts, Walk, byte_place, runtime, walk_of


class Bases:
    """Where buffers begin for an item, and their strides, in units; declared once a shader."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.used: dict[tuple[str, int], None] = {}

    def start(self, b: Buffer, unit: int) -> str:
        self.used.setdefault((b.name, unit))
        return f"{b.name}_at{unit if unit > 1 else ''}"

    def stride(self, b: Buffer, unit: int) -> str:
        self.used.setdefault((b.name, unit))
        return f"{b.name}_stride{unit if unit > 1 else ''}"


class Pointers:
    """The pointers of a stage; `lines` are the declarations that nobody took yet."""

    def __init__(self, bases: Bases, names: Names) -> None:
        self._bases, self._names = bases, names
        self._rows: dict[tuple[Walk, int], dict[int, str]] = {}
        self._wanted: dict[tuple[Walk, int], set[int]] = {}
        self._offsets: dict[tuple[str, Parts, Parts], str] = {}
        self.lines: list[str] = []

    def want(self, walk: Walk, unit: int, row: int) -> None:
        """Says that a row will be pointed at, before the first is."""
        self._wanted.setdefault((walk, unit), set()).add(row)

    def at(self, b: Buffer, walk: Walk, unit: int, row: int, byte: int) -> str:
        """The place of a byte, which is a multiple of the unit."""
        pointer = self._pointer(b, walk, unit, row)
        return plus(pointer, byte // unit)

    def _pointer(self, b: Buffer, walk: Walk, unit: int, row: int) -> str:
        known = self._rows.setdefault((walk, unit), {})
        if row in known:
            return known[row]
        before = [r for r in known if r < row]
        if before:
            near = max(before)
            gap, stride = row - near, self._bases.stride(b, unit)
            text = f"{known[near]} + {stride if gap == 1 else f'{gap} * {stride}'}"
        else:
            first = min(self._wanted.get((walk, unit), {row}) | {row})
            if first < row:
                self._pointer(b, walk, unit, first)
                return self._pointer(b, walk, unit, row)
            text = self._first(b, walk, unit, row)
        if text != self._bases.start(b, unit):
            name = self._names.fresh(f"{b.name}_p")
            self.lines.append(f"const int {name} = {text};")
            text = name
        known[row] = text
        return text

    def _first(self, b: Buffer, walk: Walk, unit: int, row: int) -> str:
        start = self._bases.start(b, unit)
        cols = Affine(0, tuple((lane, c // unit) for lane, c in walk.cols))
        text = f"{start} + {cols}".replace("+ -", "- ") if walk.cols else start
        if walk.rows or row:
            rows = str(Affine(row, walk.rows))
            rows = rows if rows.lstrip("-").isalnum() else f"({rows})"
            text += f" + {rows} * {self._bases.stride(b, unit)}"
        return text

    def moved(
        self, b: Buffer, index: Index, args: tuple[Node, ...], unit: int, values: Values
    ) -> str:
        """The place of an element whose index has parts known only at run time."""
        row, col = byte_place(b, index)
        pointer = self._pointer(b, walk_of(b, index)[0], unit, row.const)
        rows, cols = runtime(row, 1, args), runtime(col, unit, args)
        const = col.const // unit
        for sign, op in ((1, "+"), (-1, "-")):
            known = self._offsets.get((b.name, _times(rows, sign), _times(cols, sign)))
            if known:
                return plus(f"{pointer} {op} {known}", const)
        stride = self._bases.stride(b, unit)
        terms = [(c, f"{values.operand(n, 'int')} * {stride}") for n, c in rows]
        terms += [(c, values.operand(n, "int")) for n, c in cols]
        name = self._names.fresh(f"{b.name}_by")
        self.lines.append(f"const int {name} = {_signed_sum(terms)};")
        self._offsets[b.name, rows, cols] = name
        return plus(f"{pointer} + {name}", const)


def plus(text: str, const: int) -> str:
    """A text and a number added to it."""
    return f"{text} {'+' if const > 0 else '-'} {abs(const)}" if const else text


def _times(moves: Parts, sign: int) -> Parts:
    return tuple((n, c * sign) for n, c in moves)


def _signed_sum(terms: list[tuple[int, str]]) -> str:
    text = ""
    for c, t in terms:
        size = "" if abs(c) == 1 else f"{abs(c)} * "
        minus = "-" if c < 0 else "+"
        text += f" {minus} {size}{t}" if text else f"{'-' if c < 0 else ''}{size}{t}"
    return text
