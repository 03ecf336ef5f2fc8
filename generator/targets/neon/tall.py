# SPDX-License-Identifier: BSD-2-Clause
"""Bodies for one item, or several one below the other, whose rows of a temp overlap.

A filter of both directions computes rows above and below an item's own, of which the next item
needs most again. Here they stay in registers: what an item has at its end is what the next one
begins with, and only the rows between are computed anew.
"""

from collections.abc import Container
from dataclasses import replace

from daedalus.dsl.ir import Kernel, Op, Stage, Store, walk
from daedalus.generator.targets.neon.emit import Context, walked
from daedalus.generator.targets.neon.lanes import Lanes
from daedalus.generator.targets.neon.target import Target
from daedalus.generator.targets.neon.vectors import Group, Shape, cast
from daedalus.generator.targets.shell import Body, body, over_panels, tall_advance

COUNT = "n_pieces"  # an argument: how many items there are, at least one


def emit_tall(kernel: Kernel, most: int, target: Target) -> Body | None:
    """The body for items of so many rows each; None where nothing is common to two of them.

    The kernel's rows stand alone (compile/pieces.py): a row of the temp is what the rows that it is
    made of say, wherever it is.
    """
    found = _split(kernel, most)
    if found is None or kernel.items_per_vector > 1:
        return None
    shared, kernel = found
    context = Context(kernel, target, (COUNT,))
    ahead, *rest = (walked(context, w, None) for w in context.walks)
    rows = context.memory.temps.rows(kernel.temps[0].name) if context.memory.held else {}
    carried = _carried(context, rows, shared, most)
    if not carried:
        return None
    pointers = context.rows.declarations()
    lines = [
        *pointers, *context.constants.declarations(), *ahead,
        f"for (; {COUNT} > 0; {COUNT}--) {{", *pointers, *(x for part in rest for x in part),
        *carried, *tall_advance(kernel, most), "}",
    ]  # fmt: skip
    panel = kernel.panels is not None
    live = {name for y in range(shared) for name in rows[y].names}
    live |= {b.name for b in kernel.buffers}
    made = body(kernel, 1, "panel_of_all" if panel else "all_items", lines, live)
    made = replace(made, arguments=(*made.arguments, f"size_t {COUNT}"))
    if kernel.panels is None:
        return made
    whole = over_panels(kernel, kernel.panels, made, (COUNT,))
    return replace(whole, name="all_items", arguments=(*whole.arguments, f"size_t {COUNT}"))


def _split(kernel: Kernel, most: int) -> tuple[int, Kernel] | None:
    """How many rows of the temp two items have in common, and the kernel whose first stage computes
    these, and whose second one the others."""
    if len(kernel.stages) != 2 or len(kernel.temps) != 1:
        return None
    (temp,), (first, last) = kernel.temps, kernel.stages
    at = {s: s.index[0].const for s in first.stores if s.buffer == temp.name}
    still = all(not s.index[0].terms for s in at)
    # A row that a loop of the last stage names is another one in each turn.
    reads = [n for n in last.nodes() if n.op is Op.LOAD and n.attr[0] == temp.name]
    still = still and all(not n.index[0].terms for n in reads)
    shared = len(at) - most
    if len(at) != len(first.stores) or not still or shared <= 0:
        return None
    if sorted(at.values()) != [*range(len(at))]:
        return None

    def rows(which: Container[int]) -> Stage:
        return replace(first, stores=tuple(s for s in at if at[s] in which))

    needed = {s: _lowest_row(s, temp.name) for s in last.stores}
    stages, done = [rows(range(shared))], -1
    for y in range(shared, len(at)):
        ready = tuple(s for s in last.stores if done < needed[s] <= y)
        stages += [rows((y,)), *([replace(last, stores=ready)] if ready else [])]
        done = y
    return shared, replace(kernel, stages=tuple(stages))


def _lowest_row(store: Store, temp: str) -> int:
    """The last row of the temp that a store's value is made of, or whether it is stored."""
    roots = (store.value, *(() if store.mask is None else (store.mask,)))
    loads = [n for n in walk(roots) if n.op is Op.LOAD and n.attr[0] == temp]
    return max((n.index[0].const for n in loads), default=0)


def _carried(context: Context, rows: dict[int, Group], shared: int, most: int) -> list[str]:
    """What stands in the rows in common is then what the next item's are."""
    lines = []
    for y in range(shared):
        if y not in rows or y + most not in rows:
            return []
        to, of = rows[y], rows[y + most]
        bits = Shape(Lanes(context.walks[0].vector, 1).padded, context.target).bits(to.width)
        for name, value in zip(to.names, of.names, strict=True):
            if not name.isidentifier() or to.width != of.width:
                return []
            text = cast(value, (of.sign, of.width), (to.sign, to.width), bits)
            lines.append(f"{name} = {text};")
    return lines
