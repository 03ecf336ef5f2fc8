# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus report`: one page of everything that is known of the kernels."""

from pathlib import Path

import click

from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.inputs import read_input
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.cli.tune_store import FILE, default_journal, load
from daedalus.generator.compile.kernels import chosen
from daedalus.generator.compile.registry import meaning
from daedalus.generator.report.drawings import Drawn, drawings
from daedalus.generator.report.page import render
from daedalus.generator.report.sources import Sources, latest_record, read_json


@click.command("report")
@click.option("--journal", "journals", multiple=True, type=FILE,
              help="Measurements; may be repeated. Default: build/tune/journal.jsonl, if there "
                   "is one.")  # fmt: skip
@click.option("--recipe", type=FILE, help="A recipe to show beside them.")
@click.option("--model", type=FILE,
              help="What `bench --qpu --json` printed, for the roofline; default: the last record "
                   "in docs/benchmarks.")  # fmt: skip
@click.option("--neon", type=FILE, help="What `bench --model --json` printed, for NEON's bounds.")
@click.option("--kernel", "kernels", multiple=True, metavar="ID",
              help="Only this kernel; may be repeated.")  # fmt: skip
@click.option("--output", type=FILE, help="The page; default: build/report.html. Missing "
                   "folders are made; a folder, device or FIFO is refused.")  # fmt: skip
@click.option("--no-drawings", is_flag=True, help="Leave out the flow graphs.")
def command(
    journals: tuple[Path, ...], recipe: Path | None, model: Path | None, neon: Path | None,
    kernels: tuple[str, ...], output: Path | None, no_drawings: bool,
) -> None:  # fmt: skip
    """Writes one HTML file: what is bit-exact, how fast, where each kernel belongs, and why.

    The page needs nothing beside itself: no network, no scripts. Measured and modelled times stand
    apart, as do those of different machines. What was not measured or is not there is said.
    """
    root = repo_root()
    entries = chosen(kernels)
    record = model or latest_record(root)
    sources = Sources(
        root=root,
        kernels=tuple(e.kernel.id for e in entries),
        manifest=_json(root / "generated" / "manifest.json"),
        verified=records.by_variant(records.VERIFIED),
        journals={p.resolve(): load(p) for p in journals or _default()},
        recipe=(recipe.resolve(), _lines(recipe)) if recipe else None,
        modelled=(record.resolve(), _record(record, "unique_bytes", "bench --qpu"))
        if record
        else None,
        neon=(neon.resolve(), _record(neon, "port_bound", "bench --model")) if neon else None,
        refused={
            e.kernel.id: known.get("refused", {})
            for e in entries
            if e.by_rule
            and (known := records.read(e.kernel.id, records.OPTIONS)).get("of") == meaning(e.kernel)
        },
    )
    drawn = (
        {k: Drawn("", "left out by --no-drawings") for k in sources.kernels}
        if no_drawings else drawings(entries)
    )  # fmt: skip
    target = (output or build_dir() / "report.html").resolve()
    page = render(sources, drawn, target)
    write_output(output or target, page)
    results = sum(type(e).__name__ == "Result" for e in sources.entries)
    click.echo(f"{target}: {len(sources.kernels)} kernels, {results} results, {len(page):,} bytes")


def _default() -> tuple[Path, ...]:
    """The journal that `tune` writes, if it has written one."""
    return (default_journal(),) if default_journal().is_file() else ()


def _json(path: Path) -> dict[str, object]:
    try:
        found = read_json(path)
    except ValueError as e:
        raise UserError(str(e)) from None
    if not isinstance(found, dict):
        raise UserError(f"{path} is no JSON object")
    return found


def _record(path: Path, member: str, verb: str) -> dict[str, object]:
    """A record whose kernels have a member, by which it is told from others."""
    found = _json(path)
    kernels = found.get("kernels")
    if not (isinstance(kernels, list) and all(isinstance(k, dict) and member in k
                                              for k in kernels)):  # fmt: skip
        raise UserError(
            f"{path} is no record of {verb}: its kernels have no {member}",
            f"./daedalus {verb} --json prints one",
        )
    return found


def _lines(path: Path) -> list[str]:
    text = read_input(path, "./daedalus recipe writes one").decode(errors="replace")
    lines = text.splitlines()
    if not lines or not lines[0].startswith("daedalus-recipe "):
        raise UserError(f"{path} is no recipe: its first line is not daedalus-recipe 1")
    return lines
