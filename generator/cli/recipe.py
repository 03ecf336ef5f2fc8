# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus recipe`: from a journal to the table that the library follows."""

import json
from dataclasses import replace
from pathlib import Path

import click

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.tables import print_table
from daedalus.generator.cli.tune_store import FILE, default_journal, load
from daedalus.generator.compile.manifest import manifest
from daedalus.generator.tuning import compare
from daedalus.generator.tuning.entries import Mixed
from daedalus.generator.tuning.point import COMPILERS, ROUTES, parse_point
from daedalus.generator.tuning.recipe import (
    Library,
    Recipe,
    data_of,
    library_of,
    make,
    text_of,
    with_gpu,
)
from daedalus.generator.tuning.rules import QPU


@click.command("recipe")
@click.option("--journal", type=FILE, help="Measurements; default: build/tune/journal.jsonl.")
@click.option("--fingerprint", default="", metavar="ID",
              help="Whose results, where the journal holds several machines': the id's beginning "
                   "will do.")  # fmt: skip
@click.option("--output", type=FILE, help="The recipe; default: build/tune/daedalus.recipe. "
                   "Missing folders are made; a folder, device or FIFO is refused.")  # fmt: skip
@click.option("--route", type=click.Choice(ROUTES), default=None,
              help="By which the QPU is reached; default: the better one.")  # fmt: skip
@click.option("--compiler", type=click.Choice(COMPILERS), default=None,
              help="Of the library; default: gcc where it was measured.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the decisions as JSON.")
def command(
    journal: Path | None, fingerprint: str, output: Path | None, route: str | None,
    compiler: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Decides, from measurements, where each kernel's items belong, and writes it down.

    R is the QPU's throughput against one core's. From 1 on (GREEN) the QPU does the work; below
    (YELLOW from 0.5, ORANGE from 0.1, RED) M4 decides, both at work at once. Intervals that overlap
    are a tie, and the simplest wins; what a model cannot tell is undecided and means the CPU. The
    library follows the recipe where DAEDALUS_RECIPE or daedalus_config.recipe names it, or where
    `daedalus build --recipe` has built it in.
    """
    path = journal or default_journal()
    entries = load(path).entries
    library = generated_library()
    mixed = [e for e in entries if isinstance(e, Mixed)]
    found = compare.sides(entries)
    side = with_gpu(_side(path, found, fingerprint, compiler or ""), found.values(), mixed, library)
    _check_generator(path, side, library)
    recipe = make(side, mixed, library, compiler=compiler or "", route=route or "")
    if not recipe.decisions:
        raise UserError(
            f"{path} holds no result with a time on the CPU under {side.words()}",
            "./daedalus tune measures; ./daedalus tune show says what there is",
        )
    target = output or build_dir() / "tune" / "daedalus.recipe"
    write_recipe(recipe, target)
    if as_json:
        click.echo(json.dumps({"recipe": str(target), **data_of(recipe)}, indent=1))
    else:
        print_recipe(recipe, target)


def generated_library() -> Library:
    """The code that this checkout's libraries are built of."""
    return library_of(manifest())


def _side(path: Path, found: dict[str, compare.Side], wanted: str, compiler: str) -> compare.Side:
    """The one machine's results that a recipe is made of, and of one compiler."""
    if not found:
        raise UserError(f"{path} holds no results", "./daedalus tune measures")
    fitting = [s for s in found.values() if s.fingerprint.startswith(wanted)]
    words = "".join(f"\n  {s.words()}: {len(s.results)} results" for s in found.values())
    if not fitting:
        raise UserError(f"{path} holds no results under {wanted}:{words}", "name one of these")
    fitting = _by_compiler(fitting, compiler)
    if len(fitting) > 1:
        raise UserError(
            f"{path} holds results of several machines, which are never mixed:{words}",
            "give --fingerprint ID for one",
        )
    if fitting[0].described is None:
        raise UserError(
            f"{path}: no line describes the fingerprint {fitting[0].fingerprint}, so nobody can "
            "tell which generated code was measured",
            "measure again, or merge the journal that the lines come from",
        )
    return fitting[0]


def _by_compiler(sides: list[compare.Side], wanted: str) -> list[compare.Side]:
    """Of fingerprints that differ in the compiler alone those of gcc, or of the wanted one."""
    machines = {replace(s.described, compiler="-") for s in sides if s.described is not None}
    if len(machines) != 1 or any(s.described is None for s in sides):
        return sides
    for name in (wanted,) if wanted else COMPILERS:
        own = [s for s in sides if s.described and s.described.compiler.startswith(name)]
        if own:
            return own
    return sides


def _check_generator(path: Path, side: compare.Side, library: Library) -> None:
    assert side.described is not None
    if side.described.generator != library.generator:
        raise UserError(
            f"{path} was measured with the code of generator {side.described.generator}, and "
            f"generated/ is of {library.generator}: no library built here would follow the recipe",
            "run ./daedalus tune again",
        )


def write_recipe(recipe: Recipe, target: Path) -> None:
    """Puts it there, or leaves what is there as it is."""
    write_output(target, text_of(recipe))


def print_recipe(recipe: Recipe, target: Path) -> None:
    """What was chosen and why, in a table and a line each."""
    rows = []
    for d in recipe.decisions:
        p = parse_point(d.chosen.point)
        where = f"QPU by {p.route}" if d.substrate == QPU else "CPU"
        shape = f"{p.options}, {p.workgroup}" if p.workgroup else p.options
        ratio = f"{d.r.mid:.2f} ({d.r.low:.2f}..{d.r.high:.2f})" if d.r else "-"
        rows.append((d.kernel, d.item_class, where, shape, ratio, d.verdict))
    print_table(("kernel", "class", "runs on", "by", "R", "verdict"), rows)
    click.echo("")
    for d in recipe.decisions:
        click.echo(f"{d.kernel} {d.item_class}: {d.reason}")
    on_qpu = sum(d.substrate == QPU for d in recipe.decisions)
    click.echo(
        f"\n{target}: {len(recipe.decisions)} classes, {on_qpu} on the QPU; "
        f"{recipe.side.words()}"
    )
    _remark(recipe)


def _remark(recipe: Recipe) -> None:
    """What the table does not say."""
    for (kernel, item_class), r in recipe.faster.items():
        tell(
            f"note: {kernel} {item_class}: {parse_point(r.point).variant} is faster, and not in "
            "libdaedalus.a: its spec does not mark it for that"
        )
    for (kernel, item_class), why in recipe.undecided.items():
        tell(f"note: {kernel} {item_class}: no choice: {why}")
    if recipe.foreign:
        tell(
            f"warning: {len(recipe.foreign)} points are of code that generated/ has not, and left "
            f"out: {recipe.foreign[0]} is the first"
        )
