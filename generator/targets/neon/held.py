# SPDX-License-Identifier: BSD-2-Clause
"""What of a table, or of memory, registers can hold to be looked up in."""

from collections.abc import Collection

from daedalus.dsl.ir import Kernel, Node, Op, Table, walk
from daedalus.dsl.ranges import Ranges

REGISTER = 16  # bytes
MOST = 4 * REGISTER  # that one instruction looks up in


def registers(kernel: Kernel, ranges: Ranges, node: Node, varying: Collection[Node]) -> int:
    """How many registers hold all that a TABLE or a LOAD can name by these values, which differ by
    lane; 0 of what is not looked up in registers."""
    if kernel.items_per_vector > 1 or len(varying) != 1:
        return 0
    (x,) = varying
    if sum(a is x for a in node.args) != 1 or _known(x):
        return 0
    if node.op is Op.TABLE:
        table = kernel.table(node.attr[0])
        count = entries(table) if x is node.args[-1] else 0
        size = count * table.dtype.bytes
    else:
        r, index = ranges.of(x), node.index
        name = f"#{[a is x for a in node.args].index(True)}"
        still = all(lane.startswith("#") for a in index for lane, _ in a.terms)
        own = [a.coefficient(name) for a in index]
        alone = still and own[-1] == 1 and not any(own[:-1])
        size = (r.hi - r.lo + 1) * ranges.dtype(node.attr[0]).bytes if alone else 0
    return -(-size // REGISTER) if size <= MOST else 0


def entries(table: Table) -> int:
    """How many entries the last index of a lookup chooses among."""
    return len(table.rows) if table.vector else len(table.rows[0])


def _known(x: Node) -> bool:
    """Whether only the lane's number decides a value: what it looks up is a constant."""
    return all(n.op in (Op.LANE, Op.CONST) for n in walk((x,)) if not n.args)
