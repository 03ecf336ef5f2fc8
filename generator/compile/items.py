# SPDX-License-Identifier: BSD-2-Clause
"""Public functions for many items that are laid out regularly: no batch, and no work an item but
the item's own.

A function takes runs of items of one class and hands each to the best variant compiled in. Where a
kernel has one class, or all items one set of parameters, that is one call.
"""

from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.clearing import cleared_blocks
from daedalus.generator.compile.decoders import ways
from daedalus.generator.compile.variants import Variant, writable
from daedalus.generator.targets import shell


def items_functions(kernel: Kernel, variants: tuple[Variant, ...]) -> list[dict[str, object]]:
    """The kernel's functions for many items, for the codec's header and items.c.

    None where no variant of the kernel is made, as where only the tables are wanted.
    """
    own = tuple(v for v in variants if v.kernel.id == kernel.id)
    if not own:
        return []
    arguments = shell.items_arguments(kernel)
    found = [_function(kernel, own, "items", arguments, ())]
    cleared = cleared_blocks(kernel)
    if cleared:
        clearing = writable(kernel, arguments)
        found.append(_function(kernel, own, "clearing_items", clearing, cleared))
    return found


def _function(
    kernel: Kernel, own: tuple[Variant, ...], what: str, arguments: list[str],
    cleared: tuple[str, ...],
) -> dict[str, object]:  # fmt: skip
    clears = bool(cleared)
    steps = shell.plane_steps(kernel)
    names = [shell.argument_name(a) for a in arguments]
    count = f"n_{kernel.item_noun}"
    classes = ways(kernel, own, lambda v: v.clearing_items_name if clears else v.items_name, {})
    decides = {p for c in kernel.classes for p, _, _ in c.when}
    return {
        "name": f"daedalus_{what}_{kernel.id}",
        "aliases": [f"daedalus_{what}_{a}" for a in kernel.aliases],
        "kernel": kernel.id,
        "what": what,
        "arguments": arguments,
        "cleared": cleared,
        "count": count,
        "params": bool(kernel.params),
        "ignores": ([] if steps else ["steps"]) + ([] if kernel.params else ["meta", "meta_step"]),
        "classes": classes,
        "decides": [p.name for p in kernel.params if p.name in decides],
        "call": ", ".join(names),
        "run": ", ".join("n_run" if n == count else n for n in names),
        "advance": shell.every_advance(kernel, "n_run", steps),
        "passed": _passed(kernel, cleared),
    }


def _passed(kernel: Kernel, cleared: tuple[str, ...]) -> str:
    """What a function of the table of all functions for items passes on: see daedalus/table.h."""
    out: list[str] = []
    for n, b in enumerate(kernel.buffers):
        kind = shell.pointer(b)
        kind = kind.removeprefix("const ") if b.name in cleared else kind
        out.append(f"({kind})buffers[{n}].data")
        if b.kind == "plane":
            out += [f"buffers[{n}].stride", f"steps[{n}]"]
    out.append("n_items")
    if kernel.params:
        out += [f"(const daedalus_{kernel.id}_meta *)meta", "meta_step"]
    return ", ".join(out)


def tall_entry(v: Variant) -> dict[str, object]:
    """For the table of all functions for items: a variant's one for items one below the other."""
    kernel = v.kernel
    out: list[str] = []
    for n, b in enumerate(kernel.buffers):
        out += [f"({shell.pointer(b)})buffers[{n}].data", f"buffers[{n}].stride"]
    others = [p.name for p in kernel.params if p.name != v.rows]
    out += [f"((const daedalus_{kernel.id}_meta *)meta)->{name}" for name in others]
    return {
        "name": v.tall_name,
        "guard": v.guard,
        "ignores": ["steps", "meta_step", *([] if others else ["meta"])],
        "passed": ", ".join([*out, "n_items"]),
    }
