# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus tune merge|compare|export|show`: what is kept of measurements, and what it says."""

import json
from pathlib import Path
from typing import Any

import click

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.outputs import refuse_special, write_output
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.tables import print_table
from daedalus.generator.cli.tune_show import as_json, print_shown, shown
from daedalus.generator.compile.kernels import one
from daedalus.generator.tuning import compare, export, journal
from daedalus.generator.tuning.merge import merge

FILE = click.Path(dir_okay=False, path_type=Path)


def default_journal() -> Path:
    """Where results are kept unless another file is named."""
    return build_dir() / "tune" / "journal.jsonl"


def load(path: Path) -> journal.Journal:
    """A journal that exists; its problems are told."""
    if not path.exists():
        raise UserError(f"there is no journal {path}", "./daedalus tune writes one")
    found = journal.read(path)
    tell_problems(found.problems)
    return found


def tell_problems(problems: tuple[journal.Problem, ...]) -> None:
    """Says which lines are skipped."""
    for p in problems:
        tell(f"warning: {p}")


def _side(path: Path, wanted: str, option: str) -> compare.Side:
    """The results of a journal that are under one fingerprint."""
    found = compare.sides(load(path).entries)
    fitting = [s for s in found.values() if s.fingerprint.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    words = "".join(f"\n  {s.words()}" for s in found.values())
    if not found:
        raise UserError(f"{path} holds no results")
    what = f"{len(fitting)} fingerprints that begin with {wanted}" if wanted else "several"
    raise UserError(f"{path} holds results under {what}:{words}", f"give {option} ID for one")


@click.command("merge")
@click.argument("out", type=FILE)
@click.argument("sources", metavar="IN...", nargs=-1, required=True, type=FILE)
@click.option("--json", "json_wanted", is_flag=True, help="Print the counts as JSON.")
def merge_command(out: Path, sources: tuple[Path, ...], json_wanted: bool) -> None:
    """Adds to the journal OUT what the journals IN hold and it does not, each line once.

    Lines are the same where fingerprint, key and time are. OUT is only appended to; lines with
    problems are told and skipped, and stay where they are.
    """
    refuse_special(out)
    try:
        done = merge(out, sources)
    except FileNotFoundError as e:
        raise UserError(f"there is no journal {e.filename}") from None
    except OSError as e:
        raise UserError(f"cannot add to {out}: {e.strerror or e}", "name another file") from None
    tell_problems(done.problems)
    for c in done.conflicts:
        tell(f"warning: {c}")
    if json_wanted:
        places = {
            "conflicts": [str(c) for c in done.conflicts],
            "problems": [str(p) for p in done.problems],
        }
        click.echo(json.dumps({"added": done.added, "known": done.known, **places}, indent=1))
    else:
        click.echo(
            f"{out}: {done.added} lines added, {done.known} were there,"
            f" {len(done.problems)} skipped"
        )


@click.command("compare")
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@click.option(
    "--a-fingerprint", default="", metavar="ID", help="Of A's results, by its first digits."
)
@click.option(
    "--b-fingerprint", default="", metavar="ID", help="Of B's results, by its first digits."
)
@click.option("--modelled-too", is_flag=True, help="Let modelled results meet measured ones.")
@click.option("--json", "json_wanted", is_flag=True, help="Print the comparison as JSON.")
def compare_command(
    a: Path, b: Path, a_fingerprint: str, b_fingerprint: str, modelled_too: bool, json_wanted: bool
) -> None:
    """Sets the results of journal B beside those of A: B's time by A's, point by point.

    The interval of a ratio follows from those of the times; where those overlap it is a tie.
    """
    one = _side(a, a_fingerprint, "--a-fingerprint")
    other = _side(b, b_fingerprint, "--b-fingerprint")
    if one.modelled != other.modelled and not modelled_too:
        which = a if one.modelled else b
        raise UserError(
            f"the results of {which} are modelled, the others measured",
            "give --modelled-too to compare them all the same",
        )
    found = compare.compare(one, other)
    if json_wanted:
        click.echo(json.dumps(_compared(found), indent=1))
    else:
        _print_compared(found)


def _compared(c: compare.Comparison) -> dict[str, Any]:
    """The comparison as JSON has it."""

    def side(s: compare.Side) -> dict[str, Any]:
        parts = vars(s.described) if s.described else None
        return {"fingerprint": s.fingerprint, "parts": parts, "modelled": s.modelled}

    def pair(p: compare.Pair) -> dict[str, Any]:
        found: dict[str, Any] = {"point": p.a.point, "scenario": p.a.scenario, "says": p.says}
        if p.both_timed:
            found |= {"a": p.a.median, "b": p.b.median}
            found |= dict(zip(("ratio", "low", "high"), p.ratio, strict=True))
        return found

    return {
        "a": side(c.a), "b": side(c.b), "counts": c.counts(),
        "points": [pair(p) for p in c.pairs],
        "only_a": [{"point": p, "scenario": s} for p, s in c.only_a],
        "only_b": [{"point": p, "scenario": s} for p, s in c.only_b],
    }  # fmt: skip


def _print_compared(c: compare.Comparison) -> None:
    if c.a.fingerprint == c.b.fingerprint:
        click.echo(f"both: {c.a.words()}")
    else:
        click.echo(f"A: {c.a.words()}\nB: {c.b.words()}")
    if c.a.modelled != c.b.modelled:
        click.echo(f"{'A' if c.a.modelled else 'B'} is modelled, the other measured")
    rows = []
    for p in c.pairs:
        figures: tuple[str, ...] = ("", "", "", "")
        if p.both_timed:
            ratio, low, high = p.ratio
            figures = (f"{p.a.median:.2f}", f"{p.b.median:.2f}", f"{ratio:.3f}",
                       f"{low:.3f}..{high:.3f}")  # fmt: skip
        rows.append((p.a.point, p.a.scenario, *figures, p.says))
    if rows:
        print_table(("point", "scenario", "A ns", "B ns", "B/A", "interval", "B is"), rows)
    for name, only in (("A", c.only_a), ("B", c.only_b)):
        for point, scenario in only:
            click.echo(f"only in {name}: {point}, {scenario}")
    click.echo(", ".join(f"{n} {what}" for what, n in c.counts().items()))


@click.command("export")
@click.option("--t4", required=True, metavar="FILE", type=FILE,
              help="Write Kernel Tuner's T4 results, version 1.0.0, to FILE. Missing "
                   "folders are made; a folder, device or FIFO is refused.")  # fmt: skip
@click.option("--journal", "path", type=FILE, help="The journal; default build/tune/journal.jsonl.")
@click.option("--fingerprint", default="", metavar="ID",
              help="Whose results, by the first digits.")  # fmt: skip
@click.option("--json", "json_wanted", is_flag=True, help="Print what was written as JSON.")
def export_command(t4: Path, path: Path | None, fingerprint: str, json_wanted: bool) -> None:
    """Writes the results of one machine in the form that other autotuners' tools read."""
    path = path or default_journal()
    side = _side(path, fingerprint, "--fingerprint")
    write_output(t4, json.dumps(export.t4(side), indent=1) + "\n")
    if json_wanted:
        told = {"file": str(t4), "results": len(side.results), "fingerprint": side.fingerprint}
        click.echo(json.dumps(told, indent=1))
    else:
        click.echo(f"{t4}: {len(side.results)} results of {side.words()}")


@click.command("show")
@click.argument("kernel", required=False)
@click.option("--journal", "path", type=FILE, help="The journal; default build/tune/journal.jsonl.")
@click.option("--json", "json_wanted", is_flag=True, help="Print it as JSON.")
def show_command(kernel: str | None, path: Path | None, json_wanted: bool) -> None:
    """The best of each kernel, class and target, what ties with it, and what was rejected.

    Intervals that overlap are a tie; the simplest point is taken. Modelled results stand apart.
    """
    path = path or default_journal()
    entries = load(path).entries
    found = shown(entries, kernel or "")
    if kernel and not (found.groups or found.mixed):
        kernel = one(kernel).kernel.id  # an alias, or an error that says what was perhaps meant
        found = shown(entries, kernel)
    if not found.groups and not found.mixed:
        what = f" of {kernel}" if kernel else ""
        raise UserError(f"{path} holds no results{what}")
    if json_wanted:
        click.echo(json.dumps(as_json(found), indent=1))
    else:
        print_shown(found)


COMMANDS = (merge_command, compare_command, export_command, show_command)
