# SPDX-License-Identifier: BSD-2-Clause
"""What loading and storing need to know of the stage they are in."""

from collections.abc import Callable
from dataclasses import dataclass

from daedalus.dsl.ir import Affine, Buffer, DType, Kernel, Node, Op
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.c.emit import access, with_values
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.neon.lanes import Lanes, Place
from daedalus.generator.targets.neon.vectors import Group, Shape, cast


@dataclass(frozen=True)
class Scope:
    """A stage, its lanes, and how values that are the same on all of them are spelled in C."""

    kernel: Kernel
    ranges: Ranges
    names: Names
    lanes: Lanes
    shape: Shape
    spelled: Callable[[Node, int], str]  # a uniform value, of an item

    @property
    def items(self) -> int:
        return self.lanes.items

    def pointer(self, name: str, item: int) -> str:
        """C text of an item's buffer, temp or array parameter."""
        return f"{name}[{item}]" if self.items > 1 else name

    def element(self, b: Buffer, place: Place, args: tuple[Node, ...] = ()) -> str:
        """C text of a place as an lvalue; `args` are what its run-time terms stand for."""
        index = with_values(place.index, [self.spelled(a, place.item) for a in args])
        return access(b, index, self.pointer(b.name, place.item))

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
