# SPDX-License-Identifier: BSD-2-Clause
"""Functions with a decoder's own signatures, from what the specs declare of them.

A spec's `decoders` gives the arguments of the table entry: `dst` is a pointer to a plane's item,
`dst.stride` its stride, `dst.stride=src.stride` one stride for both planes, `coeffs!` a block that
is to be cleared afterwards, a parameter's name its value.
"""

from collections.abc import Callable

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import FULL, Kernel
from daedalus.generator.registry import Entry
from daedalus.generator.variants import Variant


def decoder_files(
    render: Callable[..., str], entries: tuple[Entry, ...], variants: tuple[Variant, ...]
) -> tuple[dict[str, str], list[str]]:
    """Header and source for every decoder that a spec names; and the list of sources."""
    names = sorted({d for e in entries for d, _ in e.kernel.decoders})
    texts: dict[str, str] = {}
    sources: list[str] = []
    for decoder in names:
        functions = [
            _function(e.kernel, decoder, text, variants)
            for e in entries
            for d, text in e.kernel.decoders
            if d == decoder
        ]
        families = sorted(
            {e.kernel.family for e in entries if dict(e.kernel.decoders).get(decoder)}
        )
        data = {"decoder": decoder, "functions": functions, "families": families}
        texts[f"include/daedalus/{decoder}.h"] = render("decoder.h.j2", **data)
        texts[f"src/decoder_{decoder}.c"] = render("decoder.c.j2", **data)
        sources.append(f"src/decoder_{decoder}.c")
    return texts, sources


def _refuse(kernel: Kernel, decoder: str, message: str) -> SpecError:
    parts = [f"{b.name} {b.name}.stride" if b.kind == "plane" else b.name for b in kernel.buffers]
    parts += [p.name for p in kernel.params]
    return SpecError(
        "decoder", f"{decoder}: {message}", kernel.loc, kernel.id,
        hint=f"its arguments, in the decoder's order, are: {' '.join(parts)}",
    )  # fmt: skip


def _function(
    kernel: Kernel, decoder: str, signature: str, variants: tuple[Variant, ...]
) -> dict[str, object]:
    arguments: list[str] = []
    cleared: list[str] = []
    given: set[str] = set()
    buffers = {b.name: b for b in kernel.buffers}
    strides = {f"{b.name}.stride" for b in kernel.buffers if b.kind == "plane"}
    shared: dict[str, str] = {}
    for word in signature.split():
        first, *others = word.split("=")
        shared |= dict.fromkeys(others, first)
        if any(not x.endswith(".stride") or x not in strides for x in (first, *others) if others):
            raise _refuse(kernel, decoder, f"{word!r}: only planes' strides can be one argument")
        given.update(others)
        word, name = first, first.removesuffix("!")
        plane = buffers.get(name.removesuffix(".stride"))
        if name in given:
            raise _refuse(kernel, decoder, f"{name} is named twice")
        given.add(name)
        if word != name and (name not in buffers or buffers[name].kind != "block"):
            raise _refuse(kernel, decoder, f"{word!r}: only a block can be cleared")
        if name.endswith(".stride") and plane is not None and plane.kind == "plane":
            arguments.append(f"ptrdiff_t {name.replace('.', '_')}")
        elif name in buffers:
            b = buffers[name]
            assert b.dtype is not None
            const = "const " if b.access == "in" and not word.endswith("!") else ""
            arguments.append(f"{const}{b.dtype.c} *{name}")
            if word.endswith("!"):
                cleared.append(name)
        elif any(p.name == name for p in kernel.params):
            p = kernel.param(name)
            arguments.append(f"const {p.dtype.c} *{name}" if p.count > 1 else f"int {name}")
        else:
            raise _refuse(kernel, decoder, f"{word!r} is no buffer, plane's stride or parameter")
    wanted = {b.name for b in kernel.buffers} | {p.name for p in kernel.params}
    wanted |= strides
    if given != wanted:
        raise _refuse(kernel, decoder, f"{', '.join(sorted(wanted - given))} is missing")
    call: list[str] = []
    for b in kernel.buffers:
        call.append(b.name)
        if b.kind == "plane":
            stride = f"{b.name}.stride"
            call.append(shared.get(stride, stride).replace(".", "_"))
    call += [p.name for p in kernel.params]
    return {
        "name": f"daedalus_{decoder}_{kernel.id}",
        "kernel": kernel,
        "arguments": arguments,
        "cleared": cleared,
        "call": ", ".join(call),
        "classes": [_class(kernel, c, cleared, variants) for c in kernel.class_names],
    }


def _class(
    kernel: Kernel, class_name: str, cleared: list[str], variants: tuple[Variant, ...]
) -> dict[str, object]:
    """How the items of a class are done: the best item function per target, and the clearing."""
    best: dict[str, str] = {}
    for v in variants:
        if v.prod and v.kernel.id == kernel.id and v.schedule.class_name == class_name:
            best.setdefault(v.schedule.target, v.item_name)
    condition = ""
    nonzero: dict[str, tuple[int, ...]] = {}
    if class_name != FULL:
        c = kernel.item_class(class_name)
        condition = " && ".join(f"{p} >= {lo} && {p} <= {hi}" for p, lo, hi in c.when)
        nonzero = dict(c.nonzero)
    clear: list[str] = []
    for name in cleared:
        b = kernel.buffer(name)
        assert b.dtype is not None
        extents = nonzero.get(name, b.extents)
        if extents == b.extents:
            clear.append(f"memset({name}, 0, {b.size} * sizeof(*{name}));")
        else:
            clear += _clear_rows(name, b.extents, extents)
    return {"condition": condition, "neon": best.get("neon"), "c": best["c"], "clearing": clear}


def _clear_rows(name: str, full: tuple[int, ...], extents: tuple[int, ...]) -> list[str]:
    """Clears the leading part of a block: the runs of its last axis."""
    starts = [0]
    for k in range(len(full) - 1):
        scale = 1
        for n in full[k + 1 :]:
            scale *= n
        starts = [s + i * scale for s in starts for i in range(extents[k])]
    return [f"memset({name} + {s}, 0, {extents[-1]} * sizeof(*{name}));" for s in starts]
