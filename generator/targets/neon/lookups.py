# SPDX-License-Identifier: BSD-2-Clause
"""What is looked up by the lane, in tables and in memory: entry by entry, between an index's
register and the result's."""

from collections.abc import Mapping

from daedalus.dsl.ir import DType, Node, Op
from daedalus.generator.targets.c.emit import access, with_values
from daedalus.generator.targets.neon import pieces
from daedalus.generator.targets.neon.forms import Need, signed_as
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import Group, Lines
from daedalus.generator.targets.shell import table_name


def lookup(scope: Scope, out: Lines, node: Node, groups: Mapping[Need, Group]) -> Group:
    """The entries that a TABLE has on the lanes; `groups` are the indices that differ by lane."""
    table, lanes = scope.kernel.table(node.attr[0]), scope.lanes
    ends = (len(table.rows) - 1, len(table.rows[0]) - 1)
    varying = {need[0]: need for need in groups}
    entries = []
    for item in range(scope.items):
        for lane in range(lanes.count):
            at = ""
            for x, end in zip(node.args, ends, strict=False):
                if x.op is Op.CONST:
                    at += f"[{min(max(x.value, 0), end)}]"
                    continue
                text = scope.spelled(x, item) if x not in varying else _lane(
                    scope, varying[x], groups[varying[x]], item * lanes.padded + lane
                )  # fmt: skip
                at += f"[daedalus_clip64({text}, 0, {end})]"
            entries.append(f"{table_name(table)}{at}")
        entries += ["0"] * (lanes.padded - lanes.count)
    names = pieces.from_entries(scope, out, entries, table.dtype, node.name or f"t{node.seq}")
    return Group(names, table.dtype.bits, "s" if table.dtype.signed else "u")


def gather(scope: Scope, out: Lines, node: Node, groups: Mapping[Need, Group]) -> Group:
    """The elements that a LOAD has on the lanes, each at a place of its own; `groups` are what
    decides the places. These are limited to what they are for conformant items."""
    b, dtype = scope.kernel.buffer(node.attr[0]), scope.dtype(node)
    varying = {need[0]: need for need in groups}
    entries = []
    for n, place in enumerate(scope.lanes.places(node.index)):
        if place is None:
            entries.append("0")
            continue
        values = [
            _inside(scope, varying[x], groups[varying[x]], n)
            if x in varying
            else scope.spelled(x, place.item)
            for x in node.args
        ]
        name = scope.pointer(b.name, place.item)
        entries.append(access(b, with_values(place.index, values), name))
    names = pieces.from_entries(scope, out, entries, dtype, node.name or f"t{node.seq}")
    return Group(names, dtype.bits, "s" if dtype.signed else "u")


def _inside(scope: Scope, need: Need, g: Group, lane: int) -> str:
    """A lane of a value as a part of an index."""
    r = scope.ranges.of(need[0])
    return f"(int32_t)daedalus_clip64({_lane(scope, need, g, lane)}, {r.lo}, {r.hi})"


def _lane(scope: Scope, need: Need, g: Group, lane: int) -> str:
    """A lane of a value, over all its registers, as a scalar."""
    per = scope.shape.per_register(g.width)
    dtype = DType("", g.width, signed_as(need, scope.ranges))
    return pieces.lane_of(
        scope.typed(g, lane // per, dtype), dtype, scope.shape.bits(g.width), lane % per
    )
