# SPDX-License-Identifier: BSD-2-Clause
"""What of a table, or of memory, registers can hold to be looked up in."""

from collections.abc import Collection
from dataclasses import dataclass, field

from daedalus.dsl.ir import Kernel, Node, Op, Table, walk
from daedalus.dsl.ranges import Interval, Ranges, place_ranges
from daedalus.dsl.verify import load_bounds
from daedalus.generator.targets.neon.lanes import Lanes

REGISTER = 16  # bytes
MOST = 4 * REGISTER  # that one instruction looks up in


@dataclass
class Held:
    """What the lookups of a stage are done in.

    windows  of the LOADs that differ in a constant alone, by what they have in common, the elements
             that one of them can name, about the place without the constant
    """

    kernel: Kernel
    ranges: Ranges
    lanes: Lanes
    windows: dict[tuple[object, ...], Interval] = field(default_factory=dict)

    def __post_init__(self) -> None:
        uniform = self.lanes.uniform_nodes()
        for n in self.lanes.stage.nodes():
            varying = [x for x in dict.fromkeys(n.args) if x not in uniform]
            if n.op is Op.LOAD and len(varying) == 1 and self._fits(n, varying[0]):
                key, reach = _key(n), self._reach(n, varying[0])
                both = self.windows.get(key, reach) | reach
                if (both.hi - both.lo + 1) * self.ranges.dtype(n.attr[0]).bytes <= MOST:
                    self.windows[key] = both

    def registers(self, node: Node, varying: Collection[Node]) -> int:
        """How many registers hold all that a TABLE or a LOAD can name by these values, which differ
        by lane; 0 of what is not looked up in registers."""
        if self.kernel.items_per_vector > 1 or len(varying) != 1:
            return 0
        (x,) = varying
        if sum(a is x for a in node.args) != 1 or _known(x):
            return 0
        if node.op is Op.TABLE:
            table = self.kernel.table(node.attr[0])
            count = entries(table) if x is node.args[-1] else 0
            size = count * table.dtype.bytes
        else:
            size = self._size(node, self.window(node, x)) if self._fits(node, x) else 0
        return -(-size // REGISTER) if size <= MOST else 0

    def window(self, node: Node, x: Node) -> Interval:
        """The elements that a LOAD's registers hold, about its place without the constant where the
        value that differs by lane is 0.

        They are those of all LOADs near it, so that these share them, unless its own are in fewer
        registers, and these full without reading any but the others' elements.
        """
        own = self._reach(node, x)
        shared = self.windows.get(_key(node), own)
        if not own.within(shared.lo, shared.hi):
            return own
        many = -(-self._size(node, own) // REGISTER)
        full = many * REGISTER // self.ranges.dtype(node.attr[0]).bytes
        if many * REGISTER >= self._size(node, shared):
            return shared
        first = min(own.lo, shared.hi + 1 - full)
        return Interval(first, first + full - 1)

    def _size(self, node: Node, r: Interval) -> int:
        """Bytes of so many elements."""
        return (r.hi - r.lo + 1) * self.ranges.dtype(node.attr[0]).bytes

    def _reach(self, node: Node, x: Node) -> Interval:
        r, const = self.ranges.of(x), node.index[-1].const
        return Interval(r.lo + const, r.hi + const)

    def _fits(self, node: Node, x: Node) -> bool:
        """Whether a LOAD's window lies in one row of its buffer, wherever that is.

        It holds what the value can be on all points, and an axis cut into strips may have some
        beyond its end: no lane is there, but what lanes there would name was shown of nobody.
        """
        if not self._alone(node, x):
            return False
        ranges = place_ranges(self.kernel)
        low, high = load_bounds(self.kernel, self.lanes.stage, node, ranges)[-1]
        first, end = self.kernel.buffer(node.attr[0]).shape[-1]
        return first <= low and high < end

    def _alone(self, node: Node, x: Node) -> bool:
        """Whether a value is all that moves a LOAD's place between lanes, within a row."""
        across, name = {axis for axis, _ in self.lanes.axes}, f"#{node.args.index(x)}"
        still = all(lane not in across for a in node.index for lane, _ in a.terms)
        own = [a.coefficient(name) for a in node.index]
        return still and own[-1] == 1 and not any(own[:-1])


def _key(node: Node) -> tuple[object, ...]:
    """What LOADs have in common that differ in the constant of their column alone."""
    *others, last = node.index
    return (node.attr[0], tuple(others), last.terms, node.args)


def entries(table: Table) -> int:
    """How many entries the last index of a lookup chooses among."""
    return len(table.rows) if table.vector else len(table.rows[0])


def _known(x: Node) -> bool:
    """Whether only the lane's number decides a value: what it looks up is a constant."""
    return all(n.op in (Op.LANE, Op.CONST) for n in walk((x,)) if not n.args)
