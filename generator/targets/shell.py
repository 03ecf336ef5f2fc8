# SPDX-License-Identifier: BSD-2-Clause
"""What every C-like variant shares: argument lists, tables, and how a batch walks its items."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from daedalus.dsl.ir import Affine, Buffer, Kernel, Op, Panels, Table


@dataclass(frozen=True)
class Field:
    """A member of the meta struct."""

    name: str
    type: str
    offset: int
    count: int = 0  # array length; 0 for a scalar


def meta_fields(kernel: Kernel) -> tuple[tuple[Field, ...], int]:
    """Members and size of the kernel's meta: plane offsets, parameters, explicit padding."""
    fields: list[Field] = []
    at = 0

    def pad(alignment: int, name: str) -> None:
        nonlocal at
        gap = -at % alignment
        if gap:
            fields.append(Field(name, "uint8_t", at, gap))
            at += gap

    for b in kernel.buffers:
        if b.kind == "plane":
            fields.append(Field(f"{b.name}_off", "uint32_t", at))
            at += 4
    for n, p in enumerate(kernel.params):
        pad(p.dtype.bytes, f"reserved{n}")
        many = p.count if p.count > 1 else 0
        fields.append(Field(p.name, p.dtype.c, at, many))
        at += p.dtype.bytes * p.count
    pad(4, "reserved")
    if not fields:  # C has no empty structs
        fields, at = [Field("reserved", "uint8_t", 0, 4)], 4
    return tuple(fields), at


def fixed_names(kernel: Kernel) -> tuple[str, ...]:
    """What the arguments, temps and tables of a body are called."""
    names = [b.name for b in (*kernel.buffers, *kernel.temps)]
    names += [f"{b.name}_stride" for b in kernel.buffers]
    names += [p.name for p in kernel.params] + [table_name(t) for t in kernel.tables]
    return tuple(names)


def table_name(t: Table) -> str:
    """What a table is called in C, where headers may have taken a short name for a function."""
    return f"{t.name}_table"


def stage_remark(kernel: Kernel, number: int) -> str:
    """A comment that says which lanes a stage has and what it writes."""
    stage = kernel.stages[number]
    lanes = ", ".join(f"{name} = 0..{n - 1}" for name, n in stage.dims)
    into = ", ".join(dict.fromkeys(s.buffer for s in stage.stores))
    return f"/* stage {number + 1} of {len(kernel.stages)}: {lanes}; writes {into} */"


def pointer(b: Buffer) -> str:
    """The C type of a pointer to the buffer's elements."""
    assert b.dtype is not None
    return f"{'const ' if b.access == 'in' else ''}{b.dtype.c} *"


def used_params(kernel: Kernel) -> list[str]:
    """The parameters that the program reads, in declaration order."""
    used = {n.attr[0] for s in kernel.stages for n in s.nodes() if n.op is Op.PARAM}
    return [p.name for p in kernel.params if p.name in used]


def used_tables(kernel: Kernel) -> list[Table]:
    """The tables that the program reads, in declaration order."""
    used = {n.attr[0] for s in kernel.stages for n in s.nodes() if n.op in (Op.TABLE, Op.DOT)}
    return [t for t in kernel.tables if t.name in used]


def used_buffers(kernel: Kernel) -> list[Buffer]:
    """The buffers that the program touches."""
    used = {s.buffer for st in kernel.stages for s in st.stores}
    used |= {n.attr[0] for st in kernel.stages for n in st.nodes() if n.op is Op.LOAD}
    return [b for b in kernel.buffers if b.name in used]


@dataclass(frozen=True)
class Body:
    """The code for `items` items side by side: a static function and the calls of it."""

    name: str
    items: int
    lines: tuple[str, ...]
    arguments: tuple[str, ...]
    panel: "Body | None" = None  # a function that `lines` call, for a part of the item

    @property
    def every_line(self) -> tuple[str, ...]:
        return self.lines if self.panel is None else (*self.panel.lines, *self.lines)

    def call(self, kernel: Kernel) -> list[str]:
        """Argument expressions in the batch loop, where `item[k]` numbers the k-th item."""
        return batch_arguments(kernel, self.items)


# A constant, a pointer that stays, or a variable; what a variable gets later. Loops' counters and
# pointers that move have other forms.
_LOCAL = re.compile(r"(?:static |const )*\w+ (?:\*const )?(\w+)(?:\[\d+\])* = ")
_LATER = re.compile(r"(\w+) = ")
_WORD = re.compile(r"\w+")


def body(
    kernel: Kernel, items: int, name: str, lines: list[str], live: Collection[str] = ()
) -> Body:
    """A body without the locals that nothing reads, such as registers of a tile, or of lanes that
    a mask turned out to exclude. `live` are those that a loop reads in its next turn."""
    used: set[str] = set(live)
    kept: list[str] = []
    for line in reversed(lines):
        local = _LOCAL.match(line)
        given = local or _LATER.match(line)
        if given is not None and given[1] not in used:
            continue
        if local is not None:
            used.discard(local[1])  # what stands before it may mean another of that name
        used.update(_WORD.findall(line[given.end() :] if given else line))
        kept.append(line)
    arguments = body_arguments(kernel, items)
    ignored = [n for n in map(argument_name, arguments) if n not in used]
    return Body(name, items, (*(f"(void){n};" for n in ignored), *reversed(kept)), arguments)


def over_panels(kernel: Kernel, panels: Panels, panel: Body, more: tuple[str, ...] = ()) -> Body:
    """A body of one item that is done panel by panel; `more` arguments are passed on."""
    lines = [
        f"for (int n_panel = 0; n_panel < {panels.count}; n_panel++) {{",
        f"{panel.name}({', '.join([*item_call(kernel), *more])});",
        *(f"{name} += {panels.lanes};" for name in panels.planes),
        "}",
    ]
    return replace(body(kernel, 1, "one_item", lines), panel=panel)


def named(b: Body, variant: str) -> Body:
    """A body whose functions no other variant has, of which a file holds several."""
    if b.panel is None:
        return replace(b, name=f"{b.name}_{variant}")
    panel = replace(b.panel, name=f"{b.panel.name}_{variant}")
    call = re.compile(rf"^{b.panel.name}(?=\()")
    lines = tuple(call.sub(panel.name, line) for line in b.lines)
    return replace(b, name=f"{b.name}_{variant}", lines=lines, panel=panel)


def argument_name(declaration: str) -> str:
    """The name that a parameter's declaration gives."""
    return declaration.split()[-1].lstrip("*").partition("[")[0]


def body_arguments(kernel: Kernel, items: int) -> tuple[str, ...]:
    """Parameters of a body: pointers at the items, strides, used parameters."""
    many = f"[{items}]" if items > 1 else ""
    out: list[str] = []
    for b in used_buffers(kernel):
        out.append(f"{pointer(b)}const {b.name}{many}" if many else f"{pointer(b)}{b.name}")
        if b.kind == "plane":
            out.append(f"ptrdiff_t {b.name}_stride")
    for name in used_params(kernel):
        p = kernel.param(name)
        if p.count > 1:
            out.append(f"const {p.dtype.c} *{'const ' if many else ''}{name}{many}")
        else:
            out.append(f"{'const ' if many else ''}int32_t {name}{many}")
    return tuple(out)


def item_pointer(kernel: Kernel, b: Buffer, item: str) -> str:
    """The address of an item's origin in the batch loop; `item` is its number."""
    n = [x.name for x in kernel.buffers].index(b.name)
    data = f"buffers[{n}].data"
    if b.kind == "plane":
        raw = "const uint8_t" if b.access == "in" else "uint8_t"
        return f"({pointer(b)})(({raw} *){data} + meta[{item}].{b.name}_off)"
    return f"({pointer(b)}){data} + (size_t){item} * {b.size}"


def batch_arguments(kernel: Kernel, items: int) -> list[str]:
    """What the batch loop passes to a body."""
    names = ["item"] if items == 1 else [f"item[{k}]" for k in range(items)]

    def many(one: list[str], element: str) -> str:
        return one[0] if items == 1 else f"({element}[{items}]){{{', '.join(one)}}}"

    out: list[str] = []
    for n, b in enumerate(kernel.buffers):
        if b not in used_buffers(kernel):
            continue
        out.append(many([item_pointer(kernel, b, i) for i in names], f"{pointer(b)}const "))
        if b.kind == "plane":
            out.append(f"buffers[{n}].stride")
    for name in used_params(kernel):
        p = kernel.param(name)
        element = f"const {p.dtype.c} *const " if p.count > 1 else "const int32_t "
        out.append(many([f"meta[{i}].{name}" for i in names], element))
    return out


def item_arguments(kernel: Kernel) -> list[str]:
    """Parameters of the single-item function: everything declared, used or not."""
    out: list[str] = []
    for b in kernel.buffers:
        out.append(f"{pointer(b)}{b.name}")
        if b.kind == "plane":
            out.append(f"ptrdiff_t {b.name}_stride")
    return out + [
        f"const {p.dtype.c} *{p.name}" if p.count > 1 else f"int32_t {p.name}"
        for p in kernel.params
    ]


def item_call(kernel: Kernel) -> list[str]:
    """What the single-item function passes on."""
    out: list[str] = []
    for b in used_buffers(kernel):
        out.append(b.name)
        if b.kind == "plane":
            out.append(f"{b.name}_stride")
    return out + used_params(kernel)


def unused_arguments(kernel: Kernel) -> list[str]:
    """Arguments of the single-item function that it does not pass on."""
    call = item_call(kernel)
    names = [argument_name(a) for a in item_arguments(kernel)]
    return [n for n in names if n not in call]


# ------------------------------------------------------------------ items one below the other


def tall_arguments(kernel: Kernel, rows: str) -> list[str]:
    """Parameters of a function for items with all of the rows that a parameter counts."""
    names = {f"int32_t {rows}"}
    return [*(a for a in item_arguments(kernel) if a not in names), "size_t n_pieces"]


def tall_call(lowered: Kernel, rows: str, most: int) -> list[str]:
    """What it passes on for each."""
    return [str(most) if n == rows else n for n in item_call(lowered)]


def tall_advance(lowered: Kernel, most: int) -> list[str]:
    """Statements that go down to the next."""
    steps = {b.name: f"{b.name}_stride" for b in lowered.buffers}
    return [_advance(b, str(most), steps) for b in used_buffers(lowered)]


def unused_tall_arguments(kernel: Kernel, lowered: Kernel, rows: str) -> list[str]:
    """Arguments of that function that it does not use."""
    call = item_call(lowered)
    names = [argument_name(a) for a in tall_arguments(kernel, rows)]
    return [n for n in names[:-1] if n not in call]


# ------------------------------------------------------------------ many items, laid out regularly


def items_arguments(kernel: Kernel) -> list[str]:
    """Parameters of a function for many items: of planes also what lies between two items."""
    out: list[str] = []
    for b in kernel.buffers:
        out.append(f"{pointer(b)}{b.name}")
        if b.kind == "plane":
            out += [f"ptrdiff_t {b.name}_stride", f"ptrdiff_t {b.name}_step"]
    out.append(f"size_t n_{kernel.item_noun}")
    if kernel.params:
        out += [f"const daedalus_{kernel.id}_meta *meta", "size_t meta_step"]
    return out


def items_call(kernel: Kernel, items: int, steps: Mapping[str, str]) -> list[str]:
    """What a loop over items passes to the body for the next ones; `steps` are those of planes."""

    def many(one: list[str], element: str) -> str:
        return one[0] if items == 1 else f"({element}[{items}]){{{', '.join(one)}}}"

    out: list[str] = []
    for b in used_buffers(kernel):
        places = [moved(b, times(k, steps.get(b.name, ""))) for k in range(items)]
        out.append(many(places, f"{pointer(b)}const "))
        if b.kind == "plane":
            out.append(f"{b.name}_stride")
    for name in used_params(kernel):
        p = kernel.param(name)
        element = f"const {p.dtype.c} *const " if p.count > 1 else "const int32_t "
        entries = ["meta"] + [f"meta[{times(k, 'meta_step')}]" for k in range(1, items)]
        dots = ["->"] + ["."] * (items - 1)
        values = [f"{e}{d}{name}" for e, d in zip(entries, dots, strict=True)]
        out.append(many(values, element))
    return out


def items_advance(kernel: Kernel, items: str, steps: Mapping[str, str]) -> list[str]:
    """Statements that go on by so many items, a number or a variable."""
    out = [_advance(b, items, steps) for b in used_buffers(kernel)]
    if used_params(kernel):
        out.append(f"meta += {times(items, 'meta_step')};")
    return out


def every_advance(kernel: Kernel, items: str, steps: Mapping[str, str]) -> list[str]:
    """The same for all arguments of a function for many items, used or not."""
    signed = f"(ptrdiff_t){items}"
    out = [_advance(b, signed if b.kind == "plane" else items, steps) for b in kernel.buffers]
    return out + ([f"meta += {times(items, 'meta_step')};"] if kernel.params else [])


def _advance(b: Buffer, items: str, steps: Mapping[str, str]) -> str:
    by = times(items, steps[b.name]) if b.kind == "plane" else times(items, str(b.size))
    if b.kind == "block" or (b.dtype is not None and b.dtype.bytes == 1):
        return f"{b.name} += {by};"
    return f"{b.name} = {moved(b, by)};"


def plane_steps(kernel: Kernel) -> dict[str, str]:
    """The arguments that say how far apart two items lie, by plane."""
    return {b.name: f"{b.name}_step" for b in kernel.buffers if b.kind == "plane"}


def adjoining_steps(kernel: Kernel) -> dict[str, str]:
    """What they are, in bytes, where items lie beside each other without a gap."""
    return {
        b.name: str(b.extents[1] * b.dtype.bytes)
        for b in kernel.buffers
        if b.kind == "plane" and b.dtype is not None
    }


def moved(b: Buffer, by: str) -> str:
    """A pointer to the buffer's elements, moved: of a plane by bytes, of a block by items."""
    if by == "0":
        return b.name
    if b.kind == "block":
        return f"{b.name} + {times(by, str(b.size))}"
    assert b.dtype is not None
    if b.dtype.bytes == 1:
        return f"{b.name} + {by}"
    raw = "const uint8_t" if b.access == "in" else "uint8_t"
    return f"({pointer(b)})(({raw} *){b.name} + {by})"


def times(count: int | str, step: str) -> str:
    """The text of a product; of two numbers the number."""
    if str(count) == "0":
        return "0"
    if step == "" or step == "1":
        return str(count)
    if str(count) == "1":
        return step
    if str(count).isdecimal() and step.isdecimal():
        return str(int(count) * int(step))
    return f"{count} * {step}"


def unused_items_arguments(kernel: Kernel, lowered: Kernel) -> list[str]:
    """Arguments of the function for many items of the kernel that what is left of it ignores."""
    used = {b.name for b in used_buffers(lowered)}
    out: list[str] = []
    for b in kernel.buffers:
        if b.name not in used:
            out.append(b.name)
            out += [f"{b.name}_stride", f"{b.name}_step"] if b.kind == "plane" else []
    return out + (["meta", "meta_step"] if kernel.params and not used_params(lowered) else [])


def table_text(t: Table) -> str:
    """The definition of a constant table."""
    if t.vector:
        entries = ", ".join(str(r[0]) for r in t.rows)
        return f"static const {t.dtype.c} {table_name(t)}[{len(t.rows)}] = {{{entries}}};"
    rows = ",\n".join("  {" + ", ".join(map(str, r)) + "}" for r in t.rows)
    shape = f"[{len(t.rows)}][{len(t.rows[0])}]"
    return f"static const {t.dtype.c} {table_name(t)}{shape} = {{\n{rows}\n}};"


def element(b: Buffer, row: Affine, col: Affine, pointer_text: str) -> str:
    """An element of a plane as an lvalue; the stride is in bytes."""
    assert b.dtype is not None
    if b.dtype.bytes == 1:
        return f"{pointer_text}[{joined(row_offset(b, row), str(col))}]"
    raw = "const uint8_t" if b.access == "in" else "uint8_t"
    offset = row_offset(b, row)
    base = f"({raw} *){pointer_text}{'' if offset.startswith('-') else ' + '}{offset}"
    return f"(({pointer(b)})({base if offset else pointer_text}))[{col}]"


def row_offset(b: Buffer, row: Affine) -> str:
    """The byte offset of a row: a text that is empty for row 0."""
    if not row.terms:
        factor = {0: None, 1: "", -1: "-"}.get(row.const, f"{row.const} * ")
        return "" if factor is None else f"{factor}{b.name}_stride"
    text = str(row)
    return f"{text if text.isidentifier() else f'({text})'} * {b.name}_stride"


def joined(a: str, b: str) -> str:
    """The sum of two terms, without superfluous zeros and signs."""
    if not a:
        return b
    if b == "0":
        return a
    return f"{a} - {b[1:]}" if b.startswith("-") else f"{a} + {b}"
