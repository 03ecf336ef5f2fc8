# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus tune optimum`: what the tuner finds on the model, by the least of all points."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.tables import print_table
from daedalus.generator.cli import tune_store
from daedalus.generator.cli.tune_run import wanted
from daedalus.generator.tuning import compare
from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.model_device import ModelDevice
from daedalus.generator.tuning.optimum import Found, Judged, judge
from daedalus.generator.tuning.point import parse_point


@click.command("optimum")
@click.argument("kernels", nargs=-1)
@click.option("--target", "targets", multiple=True, type=click.Choice(ModelDevice.targets),
              help="Points of this target alone; may be repeated.")  # fmt: skip
@click.option("--journal", "path", type=tune_store.FILE,
              help="The journal; default build/tune/journal.jsonl.")  # fmt: skip
@click.option("--fingerprint", default="", metavar="ID",
              help="Whose results, by the first digits; default: of each class those of whom most"
              " points are known.")  # fmt: skip
@click.option("--complete", is_flag=True,
              help="Exit with 1 as well where points are missing or none has a time.")  # fmt: skip
@click.option("--json", "json_wanted", is_flag=True, help="Print it as JSON.")
def command(
    kernels: tuple[str, ...], targets: tuple[str, ...], path: Path | None, fingerprint: str,
    complete: bool, json_wanted: bool,
) -> None:  # fmt: skip
    """Holds what the tuner finds on the model against all points and against what is on record.

    The journal has the results, all of them after `tune --device model --exhaustive`; the searches
    of the KERNELS (default: the usual of tools/bench/qpu.toml) are done again on these. Exits with
    1 where the tuner's best is not the least of all, or slower than a variant on record; with
    --complete also where points of a class are missing, which is said in any case.
    """
    path = path or tune_store.default_journal()
    found = compare.sides(tune_store.load(path).entries).values()
    sides = [s for s in found if s.modelled and s.fingerprint.startswith(fingerprint)]
    asked = [t for t in ModelDevice.targets if not targets or t in targets]
    judged = judge(wanted(kernels), asked, ModelDevice.listed, sides)
    if not judged:
        raise UserError(
            f"{path} holds no modelled results of these kernels and targets",
            "./daedalus tune --device model --exhaustive",
        )
    bad = any(j.complaint for j in judged)
    if complete:
        bad |= not all(j.complete for j in judged) or all(j.optimum is None for j in judged)
    if json_wanted:
        click.echo(json.dumps(_data(judged), indent=1))
    else:
        _print(judged)
    sys.exit(EXIT_FAILED if bad else 0)


def _print(judged: Sequence[Judged]) -> None:
    for side in dict.fromkeys(j.side.fingerprint for j in judged):
        click.echo(next(j.side.words() for j in judged if j.side.fingerprint == side))
    print_table(
        ("kernel", "class", "target", "points", "known", "timed", "optimum", "ns", "tuner by it",
         "of points", "quick by it", "of points", "half by it", "on record by it"),
        [_row(j) for j in judged],
    )  # fmt: skip
    click.echo("")
    for j in judged:
        if j.complaint:
            click.echo(f"{j.kernel} {j.class_name} {j.target}: {j.complaint}")
    whole = [j for j in judged if j.complete]
    timed = [j for j in whole if j.optimum is not None]
    quick = [j.quick.visited for j in judged if j.quick]
    click.echo(
        f"{len(judged)} classes, {len(whole)} of which all points are known"
        f" ({sum(j.points for j in whole)} of {sum(j.points for j in judged)} points);"
        f" {len(timed)} have an optimum, the tuner finds"
        f" {sum(j.tuned.ns == j.optimum.median for j in timed if j.optimum)},"
        f" a quick run {sum(_is(j, j.quick) for j in timed)} with {sum(quick)} points"
    )
    if len(whole) < len(judged):
        click.echo(
            f"not complete: of {len(judged) - len(whole)} classes points are missing, so what they"
            " have is no optimum yet: ./daedalus tune --device model --exhaustive"
        )
    if all(j.optimum is None for j in judged):
        click.echo("no class has a time: nothing is said of the tuner")


def _is(j: Judged, found: Found | None) -> bool:
    return found is not None and j.optimum is not None and found.ns == j.optimum.median


def _row(j: Judged) -> tuple[object, ...]:
    head = (j.kernel, j.class_name, j.target, j.points, j.known, j.timed)
    if j.optimum is None:
        return (*head, "none has a time", "", "", j.tuned.visited, "", _visited(j.quick), "", "")
    p = parse_point(j.optimum.point)
    how = " ".join([p.options, p.compiler, str(p.workgroup or "")]).strip()
    recorded = _by(j, j.recorded.median) if j.recorded else "no time"
    return (
        *head, how, f"{j.optimum.median:.2f}", _by(j, j.tuned.ns), j.tuned.visited,
        _by(j, j.quick.ns if j.quick else None), _visited(j.quick), _by(j, j.half.ns), recorded,
    )  # fmt: skip


def _visited(found: Found | None) -> str:
    return str(found.visited) if found else "none"


def _by(j: Judged, ns: float | None) -> str:
    if ns is None or j.optimum is None or not j.optimum.median:
        return "none"
    return f"{ns / j.optimum.median:.3f}"


def _data(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    return [
        {
            "kernel": j.kernel, "class": j.class_name, "target": j.target,
            "fingerprint": j.side.fingerprint, "points": j.points, "known": j.known,
            "timed": j.timed, "complete": j.complete, "optimum": _result(j.optimum),
            "tuned": _found(j.tuned), "quick": _found(j.quick), "half": _found(j.half),
            "recorded": _result(j.recorded), "complaint": j.complaint,
        }
        for j in judged
    ]  # fmt: skip


def _result(r: Result | None) -> dict[str, Any] | None:
    return None if r is None else {"point": r.point, "ns": r.median}


def _found(f: Found | None) -> dict[str, Any] | None:
    if f is None:
        return None
    return {"best": _result(f.taken), "visited": f.visited, "unknown": f.unknown}
