# SPDX-License-Identifier: BSD-2-Clause
"""A kernel as text, complete and reproducible: for people, dumps and hashes."""

from daedalus.dsl.ir import Buffer, Index, Kernel, Node, Op


def show(kernel: Kernel) -> str:
    """The whole lane program, a line a declaration and a node; source lines are left out."""
    lines = [f"kernel {kernel.id}{' (wide)' if kernel.wide else ''}"]
    lines += [f"  {buffer_text(b)}" for b in (*kernel.buffers, *kernel.temps)]
    lines += [
        f"  param {p.name}{f'[{p.count}]' if p.count > 1 else ''}: {p.dtype} in [{p.lo}, {p.hi}]"
        for p in kernel.params
    ]
    lines += [f"  table {t.name}: {t.dtype} = {t.rows}" for t in kernel.tables]
    lines += [
        f"  assumption {a.name}" + ("" if a.default else " (off)") for a in kernel.assumptions
    ]
    for c in kernel.classes:
        when = " and ".join(f"{lo} <= {p} <= {hi}" for p, lo, hi in c.when)
        lines.append(f"  class {c.name}: {when}; non-zero {dict(c.nonzero)}")
    if kernel.items_per_vector > 1:
        lines.append(f"  items side by side: {kernel.items_per_vector}")
    for stage in kernel.stages:
        dims = ", ".join(f"{name}={n}" for name, n in stage.dims)
        number = {node: n for n, node in enumerate(stage.nodes())}
        given = f" given %{number[stage.given]}" if stage.given else ""
        limits = "".join(f", {lane} < %{number[n]}" for lane, n in stage.limits)
        lines.append(f"  stage {dims}{limits}{given}")
        for node, n in number.items():
            name = f"  # {node.name}" if node.name else ""
            lines.append(f"    %{n} = {node_text(node, number)}{name}")
        for s in stage.stores:
            mask = f" where %{number[s.mask]}" if s.mask else ""
            how = f"{s.combine}= " if s.combine else "= "
            lines.append(f"    {s.buffer}{index_text(s.index)} {how}%{number[s.value]}{mask}")
    return "\n".join(lines) + "\n"


def index_text(index: Index) -> str:
    return "[" + ", ".join(str(a) for a in index) + "]"


def buffer_text(b: Buffer) -> str:
    """A buffer's or temp's declaration."""
    shape = " x ".join(f"{lo}..{hi - 1}" for lo, hi in b.shape)
    if b.kind == "temp":
        return f"temp {b.name}: {shape}" + ("" if b.init is None else f" = {b.init}")
    owns = f", owns {b.owns}" if b.owns else ""
    return f"{b.kind} {b.name}: {b.access} {b.dtype} {shape} in [{b.lo}, {b.hi}]{owns}"


def node_kind(node: Node) -> str:
    """What a value is, in a word or two: its operation, or what a leaf reads."""
    if node.op in (Op.LOAD, Op.PARAM):
        return f"{node.op} {node.attr[0]}"
    return str(node.op)


def node_text(node: Node, number: dict[Node, int]) -> str:
    """What a value is computed from; arguments by their numbers."""
    args = [f"%{number[a]}" for a in node.args]
    match node.op:
        case Op.CONST:
            return str(node.value)
        case Op.PARAM:
            return str(node.attr[0]) + (index_text(node.index) if node.index else "")
        case Op.LANE:
            return f"lane {node.attr[0]}"
        case Op.LOAD:
            given = "".join(f", #{n} = {a}" for n, a in enumerate(args))
            return f"{node.attr[0]}{index_text(node.index)}{given}"
    return f"{node.op}({', '.join([*args, *(str(a) for a in node.attr)])})"
