# SPDX-License-Identifier: BSD-2-Clause
"""What is looked up by the lane, in tables and in memory.

What registers hold is looked up there, all lanes at once: up to 64 bytes, of one table or of one
row, at a place that one value decides. Anything else goes entry by entry, between an index's
register and the result's.
"""

from collections.abc import Mapping

from daedalus.dsl.ir import Affine, DType, Node, Op
from daedalus.generator.targets.c.emit import access, with_values
from daedalus.generator.targets.neon import pieces
from daedalus.generator.targets.neon.forms import Need, signed_as
from daedalus.generator.targets.neon.held import REGISTER, entries
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import Group, Lines, cast, ctype
from daedalus.generator.targets.shell import table_name


def _at_once(
    scope: Scope, out: Lines, node: Node, groups: Mapping[Need, Group]
) -> tuple[str, ...] | None:
    """Registers of what is looked up in registers; None of anything else."""
    if not scope.shape.target.looks_up or len(groups) != 1:
        return None
    ((need, index),) = groups.items()
    x, _ = need
    table = scope.kernel.table(node.attr[0]) if node.op is Op.TABLE else None
    dtype = table.dtype if table else scope.dtype(node)
    many = scope.lookups.registers(node, (x,))
    if not many or index.width != dtype.bits or (table and signed_as(need, scope.ranges)):
        return None
    width, bits = dtype.bits, scope.shape.bits(dtype.bits)
    q = "q" if bits == 128 else ""
    wanted, r = node.name or f"t{node.seq}", scope.ranges.of(x)
    first, end, const = 0, entries(table) - 1 if table else 0, 0
    if table is None:
        window, const = scope.lookups.window(node, x), node.index[-1].const
        first, end = window.lo, window.hi
    begin = table_row(scope, node) if table else _row(scope, node, x, first)
    held = _loaded(scope, out, wanted, begin, (end - first + 1) * dtype.bytes, many)
    unsigned = ("u", width)
    names = []
    for number, name in enumerate(index.names):
        at = cast(name, (index.sign, width), unsigned, bits)
        if first != const:
            low = (first - const) & ((1 << width) - 1)
            at = f"vsub{q}_u{width}({at}, vdup{q}_n_u{width}({low}))"
        if r.hi + const > end:
            at = f"vmin{q}_u{width}({at}, vdup{q}_n_u{width}({end}))"
        if width > 8:  # the number of an entry's first byte, and of those behind it
            each = sum(dtype.bytes << 8 * k for k in range(dtype.bytes))
            behind = sum(k << 8 * k for k in range(dtype.bytes))
            at = f"vmul{q}_n_u{width}({at}, {each:#x})"
            at = f"vadd{q}_u{width}({at}, vdup{q}_n_u{width}({behind:#x}))"
        at = cast(at, unsigned, ("u", 8), bits)
        found = f"vqtbl{many}{q}_u8({held}, {at})"
        own = ("s" if dtype.signed else "u", width)
        text = cast(found, ("u", 8), own, bits)
        called = f"{wanted}_{number}" if len(index.names) > 1 else wanted
        names.append(out.let(called, own[0], width, bits, text))
    return tuple(names)


def table_row(scope: Scope, node: Node) -> str:
    """C text of a pointer to the entries that a table's last index chooses among."""
    table = scope.kernel.table(node.attr[0])
    name = table_name(table)
    if table.vector:
        return name
    row, last = node.args[0], len(table.rows) - 1
    if row.op is Op.CONST:
        return f"{name}[{min(max(row.value, 0), last)}]"
    return f"{name}[daedalus_clip64({scope.spelled(row, 0)}, 0, {last})]"


def _row(scope: Scope, node: Node, x: Node, first: int) -> str:
    """C text of a pointer to the element in such a column, about what all lanes share."""
    b = scope.kernel.buffer(node.attr[0])
    *others, last = node.index
    terms = tuple((name, c) for name, c in last.terms if name != f"#{node.args.index(x)}")
    place = next(
        p for p in scope.lanes.places((*others, Affine(first, terms))) if p is not None
    )  # fmt: skip
    values = ["0" if a is x else scope.spelled(a, place.item) for a in node.args]
    return f"&{access(b, with_values(place.index, values), scope.pointer(b.name, place.item))}"


def _loaded(scope: Scope, out: Lines, wanted: str, begin: str, size: int, many: int) -> str:
    """So many bytes in registers, as a variable; nothing behind them is read. They are loaded once,
    but where the first who wants them may be in a branch."""
    key = (begin, size)
    if key in scope.wide and not scope.kernel.branches:
        return scope.wide[key]
    parts = []
    for k in range(many):
        left = min(size - REGISTER * k, REGISTER)
        parts.append(f"daedalus_bytes({begin}, {REGISTER * k}, {left})")
    name = scope.wide[key] = scope.names.fresh(f"{wanted}_table")
    kind = ctype("u", 8, 128).removesuffix("_t") + (f"x{many}_t" if many > 1 else "_t")
    if many == 1:
        (value,) = parts
    elif (
        size == many * REGISTER
    ):  # gcc puts registers that are loaded one by one together in memory
        value = f"vld1q_u8_x{many}((const uint8_t *){begin})"
    else:
        value = f"{{{{{', '.join(parts)}}}}}"
    out.lines.append(f"{kind} {name} = {value};")
    return name


def lookup(scope: Scope, out: Lines, node: Node, groups: Mapping[Need, Group]) -> Group:
    """The entries that a TABLE has on the lanes; `groups` are the indices that differ by lane."""
    table, lanes = scope.kernel.table(node.attr[0]), scope.lanes
    sign = "s" if table.dtype.signed else "u"
    at_once = _at_once(scope, out, node, groups)
    if at_once is not None:
        return Group(at_once, table.dtype.bits, sign)
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
    return Group(names, table.dtype.bits, sign)


def gather(scope: Scope, out: Lines, node: Node, groups: Mapping[Need, Group]) -> Group:
    """The elements that a LOAD has on the lanes, each at a place of its own; `groups` are what
    decides the places. These are limited to what they are for conformant items."""
    b, dtype = scope.kernel.buffer(node.attr[0]), scope.dtype(node)
    at_once = _at_once(scope, out, node, groups)
    if at_once is not None:
        return Group(at_once, dtype.bits, "s" if dtype.signed else "u")
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
