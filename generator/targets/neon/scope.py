# SPDX-License-Identifier: BSD-2-Clause
"""What loading and storing need to know of the stage they are in."""

from collections.abc import Callable
from dataclasses import dataclass, field

from daedalus.dsl.ir import Affine, Buffer, DType, Kernel, Node, Op
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.c.emit import access, flat, with_values
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.neon.held import Held
from daedalus.generator.targets.neon.lanes import Lanes, Place
from daedalus.generator.targets.neon.rows import RowPointers
from daedalus.generator.targets.neon.vectors import Group, Lines, Shape, cast
from daedalus.generator.targets.shell import joined, pointer, row_offset


@dataclass(frozen=True)
class Scope:
    """A stage, its lanes, and how values that are the same on all of them are spelled in C."""

    kernel: Kernel
    ranges: Ranges
    names: Names
    lanes: Lanes
    shape: Shape
    spelled: Callable[[Node, int], str]  # a uniform value, of an item
    asked: Callable[[Node, int, dict[str, str]], str]  # a condition, of an item's lane
    rows: RowPointers | None  # None where what is conditional may not exist
    alone: frozenset[int]  # stores that nothing may be woven with
    held: frozenset[str]  # temps that registers hold
    out: Lines  # where statements go that an address needs
    offsets: dict[str, str]  # run-time offsets, as C text -> the variable that holds it
    lookups: Held
    wide: dict[object, str] = field(default_factory=dict)  # 128 bits of a block -> the variable

    @property
    def items(self) -> int:
        return self.lanes.items

    def pointer(self, name: str, item: int) -> str:
        """C text of an item's buffer, temp or array parameter."""
        return f"{name}[{item}]" if self.items > 1 else name

    def element(self, b: Buffer, place: Place, args: tuple[Node, ...] = ()) -> str:
        """C text of a place as an lvalue; `args` are what its run-time terms stand for."""
        index, name = place.index, self.pointer(b.name, place.item)
        fixed = not any(lane.startswith("#") for a in index for lane, _ in a.terms)
        if not fixed and all(lane.startswith("#") for a in index for lane, _ in a.terms):
            return self._moved(b, place, args)
        if b.kind == "plane" and self.rows is not None and not index[0].terms:
            name = self.rows.name(b, name, index[0].const)
            index = (Affine(0), index[1])
        return access(b, with_values(index, [self.spelled(a, place.item) for a in args]), name)

    def _moved(self, b: Buffer, place: Place, args: tuple[Node, ...]) -> str:
        """A place that only run-time values move: a fixed one, and an offset computed once."""
        values = [f"(ptrdiff_t){self.spelled(a, place.item)}" for a in args]
        terms = with_values(tuple(Affine(0, a.terms) for a in place.index), values)
        still = tuple(Affine(a.const) for a in place.index)
        if b.kind == "plane":
            row, col = terms
            offset = joined(row_offset(b, row), f"({col})" if len(col.terms) > 1 else str(col))
            assert b.dtype is not None
            if b.dtype.bytes > 1:
                offset = joined(row_offset(b, row), f"({col}) * {b.dtype.bytes}")
        else:
            offset = str(flat(b, terms))
        name = self.offsets.get(offset)
        if name is None:
            name = self.offsets[offset] = self.names.fresh(f"{b.name}_offset")
            self.out.lines.append(f"const ptrdiff_t {name} = {offset};")
        fixed = self.element(b, Place(place.item, still))
        if b.dtype is None or b.kind != "plane" or b.dtype.bytes == 1:
            return f"(&{fixed})[{name}]"
        raw = "const uint8_t" if b.access == "in" else "uint8_t"
        return f"(({pointer(b)})(({raw} *)&{fixed} + {name}))[0]"

    def parameter(self, node: Node, place: Place) -> str:
        """C text of an element of an array parameter."""
        at: Affine = place.index[0]
        return f"{self.pointer(node.attr[0], place.item)}[{at}]"

    def dtype(self, node: Node) -> DType:
        """The element type that a LOAD, or a PARAM of an array, reads."""
        if node.op is Op.PARAM:
            return self.kernel.param(node.attr[0]).dtype
        return self.ranges.dtype(node.attr[0])

    def typed(self, g: Group, r: int, dtype: DType) -> str:
        """A register of a group as a vector of the element type."""
        new = ("s" if dtype.signed else "u", dtype.bits)
        return cast(g.names[r], (g.sign, g.width), new, self.shape.bits(g.width))
