# SPDX-License-Identifier: BSD-2-Clause
"""Eight bytes that are stored as they were read go through a general register.

To load and to store that takes an operation less each than to load and to store half a vector
register, and neither wants a port that vectors are computed with.
"""

from daedalus.dsl.ir import Node, Op, Store
from daedalus.generator.targets.neon.lanes import run_length
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import Group, Lines

_BITS = 64


def moved(scope: Scope, node: Node) -> bool:
    """Whether a value is only moved: a run of 64 bits that is read, and stored in such runs."""
    stage, kernel = scope.lanes.stage, scope.kernel
    if node.op is not Op.LOAD or node.args or not scope.shape.target.moves or kernel.branches:
        return False
    if any(node in n.args for n in stage.nodes()):
        return False
    stores = [(n, s) for n, s in enumerate(stage.stores) if s.value is node]
    if any(s.mask is not None or s.combine or n in scope.alone for n, s in stores):
        return False
    places = [(node.attr[0], node.index), *((s.buffer, s.index) for _, s in stores)]
    width = scope.dtype(node).bits
    return all(
        kernel.buffer(name).kind == "plane"
        and scope.ranges.dtype(name).bits == width
        and scope.shape.lanes * width == _BITS
        and run_length(kernel.buffer(name), scope.lanes.places(index)) == scope.shape.lanes
        for name, index in places
    )


def load(scope: Scope, out: Lines, node: Node) -> Group:
    """The run, as a number of 64 bits."""
    name = scope.names.fresh(node.name or f"t{node.seq}")
    where = _where(scope, node.attr[0], node)
    out.lines.append(f"uint64_t {name} = *(const daedalus_any_u64 *)&{where};")
    return Group((name,), scope.dtype(node).bits, "u")


def store(scope: Scope, out: Lines, s: Store, value: Group) -> None:
    """Writes the run where a store names it."""
    where = _where(scope, s.buffer, s)
    out.lines.append(f"*(daedalus_any_u64 *)&{where} = {value.names[0]};")


def _where(scope: Scope, name: str, at: Node | Store) -> str:
    """C text of the first element."""
    place = scope.lanes.places(at.index)[0]
    assert place is not None
    return scope.element(scope.kernel.buffer(name), place)
