# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus explain`: what a kernel computes, value by value, and what a back end makes of it."""

import json
from pathlib import Path

import click

from daedalus.dsl.show import buffer_text
from daedalus.generator.base.tables import table_lines
from daedalus.generator.compile import qpu_text
from daedalus.generator.compile.inventory import bits_needed
from daedalus.generator.compile.kernels import one, options_named
from daedalus.generator.compile.registry import Entry
from daedalus.generator.options import VECTOR_TARGETS
from daedalus.generator.report import explain
from daedalus.generator.targets.glsl.mapping import mapping


@click.command("explain")
@click.argument("kernel")
@click.option("--variant", metavar="NAME",
              help="A variant, as neon_full: show what its back end gets and makes.")  # fmt: skip
@click.option("--code", is_flag=True,
              help="With --variant: print its code instead: C, GLSL or assembly.")  # fmt: skip
@click.option("--svg", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Draw the program as a flow graph into FILE as well.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(kernel: str, variant: str | None, code: bool, svg: Path | None, as_json: bool) -> None:
    """Shows the lane program of KERNEL: every value with its proven range and its source line.

    With --variant, the program after that variant's passes, and for each value what selection
    made of it: demand (what a use wants, and the lane's width), rule, instruction, registers and
    cost, as docs/lowering.md has them. Any legal variant will do, also one that is not listed in
    options.toml. With --code as well, its functions in C are printed, its GLSL, or its assembly; of
    the latter two generated/ has only what was made of them. Targets that cannot do the kernel are
    named with the reason.
    """
    if code and (variant is None or as_json):
        raise click.UsageError("--code prints the code of a --variant, and takes no --json")
    entry = one(kernel)
    options = options_named(entry, variant) if variant else None
    refused = [] if code else explain.refusals(entry)
    shown = explain.view(entry, options)
    if svg is not None:
        from daedalus.generator.report.graph.svg import draw  # only who draws needs graphviz

        draw(shown.kernel, svg, options.name if options else "")
    if code:
        click.echo(shown.text, nl=False)
        return
    if as_json:
        click.echo(json.dumps(explain.record(entry, shown, refused), indent=1))
        return
    for line in text_of(entry, shown, refused):
        click.echo(line)


def text_of(entry: Entry, shown: explain.View, refused: list[explain.Refusal]) -> list[str]:
    """The lines that the verb prints."""
    k = entry.kernel
    lines = [f"{k.id}: {k.doc.splitlines()[0]}", f"  computes {k.clause}", f"  in {k.loc}"]
    if shown.options is not None:
        side = f", {shown.items} items side by side" if shown.items > 1 else ""
        if shown.options.target == "glsl":
            side = f", {mapping(shown.kernel).invocations} invocations an item"
        needs = "".join(f", needs {n}" for n in shown.options.needs)
        lines.append(f"  variant {shown.options.name}{side}{needs}")
        if shown.code is not None:
            lines += [f"  {x}" for x in qpu_text.facts(k, shown.code)]
    lines.append(f"  the program after {shown.after}")
    lines.append("")
    kept = shown.kernel
    lines += [f"  {buffer_text(b)}" for b in (*k.buffers, *kept.temps)]
    lines += [f"  param {p.name}: {p.dtype} in [{p.lo}, {p.hi}]" for p in k.params]
    for a in k.assumptions:
        lines.append(f"  assumption {a.name}{'' if a.default else ' (off)'}: {a.why}")
    for n, s in enumerate(shown.stages, 1):
        dims = ", ".join(f"{axis}={count}" for axis, count in s.stage.dims)
        lines += ["", f"stage {n} of {len(shown.stages)}: {dims} ({s.stage.loc})"]
        lines += [f"  {x}" for x in _frame(s)]
        lines += [f"  {x}" for x in _stage_table(shown, s)]
        lines += [f"  store {x}" for x in s.stores]
        if s.cost:
            each = " a vector" if s.vectors and s.vectors.loops else ""
            lines.append(f"  cost {s.cost:g}{each}; what loads and stores shuffle is not in it")
    for r in refused:
        lines += ["", f"{r.target} has no form of it: {r.error.loc}: {r.error.message}"]
        if r.error.hint:
            lines.append(f"  hint: {r.error.hint}")
    return lines


# What stands before the number of a deciding value.
_CONDITIONS = {"given": "runs where", "any": "leaves the item unless some lane has"}


def _frame(s: explain.StageView) -> list[str]:
    """Under what conditions a stage runs, and how its lanes are spread over vectors and loops."""
    lines = []
    for condition in s.conditions:
        word, _, value = condition.partition(" ")
        lines.append(
            f"{_CONDITIONS[word]} {value}" if word in _CONDITIONS else f"while {condition}"
        )
    v = s.vectors
    if v is not None and (v.loops or len(v.axes) > 1):
        across = ", ".join(axis for axis, _ in v.axes)
        most = "at most " if v.strip or s.stage.limits else ""
        around = (
            f"; {most}{v.count} vectors, in loops over {', '.join(axis for axis, _ in v.loops)}"
        )
        lines.append(f"across a vector: {across}{around if v.loops else ''}")
    if v is not None and v.strip:
        lines.append(
            f"{v.strip} ends with the last whole vector; scalar C does the points left over"
        )
    return lines


def _stage_table(shown: explain.View, s: explain.StageView) -> list[str]:
    """The values of a stage; of one with several forms, a line a form."""
    target = shown.options.target if shown.options else ""
    headings = ["", "value", "name", "range", "bits"]
    forms_shown = target in VECTOR_TARGETS
    if forms_shown:
        headings += ["demand", "rule", "instruction", "registers", "cost"]
    elif target == "c":
        headings.append("type")
    headings.append("line")
    rows: list[list[str]] = []
    for line in s.lines:
        r = line.range
        bits = "mask" if line.node.is_bool else str(bits_needed(r))
        head = [f"%{line.number}", line.text, line.node.name, "" if line.node.is_bool else str(r),
                bits]  # fmt: skip
        at = str(line.node.loc)
        if forms_shown:
            forms = [
                [f.demand, f.rule, f.instruction, str(f.registers), f"{f.cost:g}"]
                for f in line.forms
            ] or [["", "", "", "", ""]]
            rows.append([*head, *forms[0], at])
            rows += [["", "", "", "", "", *f, ""] for f in forms[1:]]
        else:
            rows.append([*head, *([line.c_type] if target == "c" else []), at])
    return table_lines(headings, rows)
