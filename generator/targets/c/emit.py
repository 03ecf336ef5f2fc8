# SPDX-License-Identifier: BSD-2-Clause
"""Portable scalar C: a loop over the lanes of each stage, readable, defined for every input."""

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Affine, Buffer, Kernel, Node, Stage, smallest_dtype
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.c.scalar import Names, Scalars
from daedalus.generator.targets.shell import Body, body, element


def emit(kernel: Kernel) -> tuple[Body, ...]:
    """The bodies of a variant: one, for a single item."""
    ranges, hostile = Ranges(kernel), Ranges(kernel, hostile=True)
    fixed = [b.name for b in (*kernel.buffers, *kernel.temps)]
    fixed += [f"{b.name}_stride" for b in kernel.buffers] + [p.name for p in kernel.params]
    fixed += [t.name for t in kernel.tables]
    lines: list[str] = []
    for t in kernel.temps:
        dims = "".join(f"[{n}]" for n in t.extents)
        lines.append(f"{temp_type(t, ranges, kernel)} {t.name}{dims};")
    for stage in kernel.stages:
        lines += _stage(kernel, stage, ranges, hostile, tuple(fixed))
    return (body(kernel, 1, "one_item", lines),)


def temp_type(temp: Buffer, ranges: Ranges, kernel: Kernel) -> str:
    """The C element type of a temp: the narrowest that holds what conformant items store."""
    r = ranges.temps[temp.name]
    dtype = smallest_dtype(r.lo, r.hi)
    if dtype is None:
        raise SpecError("range", f"temp {temp.name} needs {r}", temp.loc, kernel.id)
    return dtype.c


def access(b: Buffer, index: tuple[Affine, ...], name: str) -> str:
    """A buffer's element as an lvalue."""
    if b.kind == "plane":
        return element(b, index[0], index[1], name)
    if b.kind == "temp":
        return name + "".join(f"[{a}]" for a in index)
    return f"{name}[{flat(b, index)}]"


def flat(b: Buffer, index: tuple[Affine, ...]) -> Affine:
    """The element number of a block's element inside its item."""
    const, terms = 0, dict[str, int]()
    for a, n in zip(index, b.extents, strict=True):
        const = const * n + a.const
        terms = {lane: c * n for lane, c in terms.items()}
        for lane, c in a.terms:
            terms[lane] = terms.get(lane, 0) + c
    return Affine(const, tuple(terms.items()))


def _stage(
    kernel: Kernel, stage: Stage, ranges: Ranges, hostile: Ranges, fixed: tuple[str, ...]
) -> list[str]:
    names = Names((*fixed, *(lane for lane, _ in stage.dims)))

    def load(n: Node) -> str:
        return access(kernel.buffer(n.attr[0]), n.index, n.attr[0])

    s = Scalars(kernel, ranges, hostile, names, load, lambda p: p)
    s.stage(stage, stage.roots())
    inner = list(s.lines)
    for store in stage.stores:
        b = kernel.buffer(store.buffer)
        ctype = temp_type(b, ranges, kernel) if b.dtype is None else b.dtype.c
        assign = f"{access(b, store.index, b.name)} = ({ctype}){s.operand(store.value)};"
        if store.mask is None:
            inner.append(assign)
        else:
            inner += [f"if ({s.text(store.mask)}) {{", assign, "}"]
    lines: list[str] = []
    for lane, n in stage.dims:
        lines.append(f"for (int {lane} = 0; {lane} < {n}; {lane}++) {{")
    return lines + inner + ["}"] * len(stage.dims)
