# SPDX-License-Identifier: BSD-2-Clause
"""Portable scalar C: a loop over the lanes of each stage, readable, defined for every input."""

from daedalus.dsl.ir import Affine, Buffer, Kernel, Node, Stage, Store
from daedalus.dsl.ranges import Ranges, both_ranges
from daedalus.generator.targets.c.scalar import Names, Scalars
from daedalus.generator.targets.shell import Body, body, element, fixed_names, stage_remark


def emit(kernel: Kernel) -> tuple[Body, ...]:
    """The bodies of a variant: one, for a single item."""
    ranges, hostile = both_ranges(kernel)
    lines: list[str] = []
    names = Names(fixed_names(kernel))
    for t in kernel.temps:
        dims = "".join(f"[{n}]" for n in t.extents)
        lines.append(f"{ranges.dtype(t.name).c} {t.name}{dims};")
        if t.init is not None:
            lines += filled(t.name, t.extents, t.init, names)
    for n, stage in enumerate(kernel.stages):
        lines.append(stage_remark(kernel, n))
        lines += _stage(kernel, stage, ranges, hostile, fixed_names(kernel))
    return (body(kernel, 1, "one_item", lines),)


def filled(array: str, extents: tuple[int, ...], value: int, names: Names) -> list[str]:
    """Gives every element of a temp's array its first value."""
    counters = [names.fresh("i") for _ in extents]
    lines = [
        f"for (int {i} = 0; {i} < {extent}; {i}++) {{"
        for i, extent in zip(counters, extents, strict=True)
    ]
    place = array + "".join(f"[{i}]" for i in counters)
    return [*lines, f"{place} = {value};", *(["}"] * len(counters))]


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


def with_values(index: tuple[Affine, ...], values: list[str]) -> tuple[Affine, ...]:
    """The index with its run-time terms spelled as C operands."""

    def spelled(name: str) -> str:
        return values[int(name[1:])] if name.startswith("#") else name

    return tuple(Affine(a.const, tuple((spelled(t), c) for t, c in a.terms)) for a in index)


def _wide(b: Buffer, load: Node, hostile: Ranges) -> bool:
    """Whether the sum that makes a place may leave 32 bits on the way, though it ends inside."""
    reach = 0
    for a in load.index:
        reach += abs(a.const)
        for name, c in a.terms:
            if name.startswith("#"):
                r = hostile.of(load.args[int(name[1:])])
                reach += abs(c) * max(abs(r.lo), abs(r.hi))
    return bool(load.args) and reach * (b.size if b.kind == "block" else 1) >= 2**30


def scalars(
    kernel: Kernel, ranges: Ranges, hostile: Ranges, names: Names, item: str = ""
) -> Scalars:
    """Scalars whose loads and parameters are those of an item; `item` is its subscript, if any."""

    def load(n: Node, values: Scalars) -> str:
        b = kernel.buffer(n.attr[0])
        spelled = [values.operand(a) for a in n.args]
        if _wide(b, n, hostile):
            spelled = [f"(int64_t){v}" for v in spelled]
        return access(b, with_values(n.index, spelled), f"{b.name}{item}")

    return Scalars(kernel, ranges, hostile, names, load, lambda p: f"{p}{item}")


def _stage(
    kernel: Kernel, stage: Stage, ranges: Ranges, hostile: Ranges, fixed: tuple[str, ...]
) -> list[str]:
    names = Names((*fixed, *(lane for lane, _ in stage.dims)))
    outer = scalars(kernel, ranges, hostile, names)
    limits = dict(stage.limits)
    deciding = [*limits.values()] + ([] if stage.given is None else [stage.given])
    outer.stage(stage, deciding)
    scoped = bool(outer.lines)  # a block of its own keeps the names apart
    lines = ["{", *outer.lines] if scoped else []
    if stage.given is not None:
        lines.append(f"if ({outer.text(stage.given)}) {{")
    for lane, n in stage.dims:
        most = outer.limited(limits[lane], n) if lane in limits else str(n)
        lines.append(f"for (int {lane} = 0; {lane} < {most}; {lane}++) {{")
    lines += point_lines(kernel, stage, scalars(kernel, ranges, hostile, names), ranges)
    return lines + ["}"] * (len(stage.dims) + (stage.given is not None) + scoped)


def point_lines(kernel: Kernel, stage: Stage, s: Scalars, ranges: Ranges) -> list[str]:
    """What a stage does at one point of its domain; the axes are variables in scope."""
    s.stage(
        stage, [n for store in stage.stores for n in (store.value, store.mask) if n is not None]
    )
    lines = list(s.lines)
    for store in stage.stores:
        b = kernel.buffer(store.buffer)
        ctype = ranges.dtype(b.name).c
        place = access(b, store.index, b.name)
        value = _stored(store, place, s)
        assign = f"{place} = ({ctype}){value};"
        if store.mask is None:
            lines.append(assign)
        else:
            lines += [f"if ({s.text(store.mask)}) {{", assign, "}"]
    return lines


def _stored(store: Store, place: str, s: Scalars) -> str:
    """What a store leaves in its element; sums of hostile items may wrap."""
    if not store.combine:
        return s.operand(store.value)
    value = s.text(store.value)
    if store.combine == "add":
        return f"((uint32_t){place} + (uint32_t){s.operand(store.value)})"
    return f"daedalus_{store.combine}64({place}, {value})"
