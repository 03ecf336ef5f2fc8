# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus tune run`: the points of the space, and what they take on a device."""

import json
from collections import Counter
from collections.abc import Sequence

import click

from daedalus.generator.cli.common import UserError
from daedalus.generator.cli.kernels import one
from daedalus.generator.cli.tables import print_table
from daedalus.generator.modelled.compare import wishes
from daedalus.generator.registry import Entry
from daedalus.generator.schedule import TARGETS
from daedalus.generator.tuning.facts import Facts
from daedalus.generator.tuning.space import CONSTRAINTS, Space, space


@click.command("run")
@click.argument("kernels", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Print the points and what rejects others; no more.")
@click.option("--target", "targets", multiple=True, type=click.Choice(TARGETS),
              help="Points of this target alone; may be repeated.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(
    kernels: tuple[str, ...], dry_run: bool, targets: tuple[str, ...], as_json: bool
) -> None:
    """Tries the schedules of the KERNELS (default: the eleven of tools/bench/qpu.toml)."""
    entries = wanted(kernels)
    spaces = spaces_of(entries, targets or TARGETS)
    if dry_run:
        if as_json:
            click.echo(json.dumps([_data(s) for s in spaces], indent=1))
        else:
            print_spaces(spaces)
        return
    raise UserError("give --dry-run")


def wanted(kernels: Sequence[str]) -> list[Entry]:
    """The named kernels, or those that all bars are of."""
    names = kernels or [w.kernel for w in wishes()]
    return list({e.kernel.id: e for e in map(one, names)}.values())


def spaces_of(entries: Sequence[Entry], targets: Sequence[str]) -> list[Space]:
    """Their spaces."""
    out = []
    for entry in entries:
        facts = Facts(entry.kernel)
        out += [space(entry, t, facts) for t in TARGETS if t in targets]
    return out


def print_spaces(spaces: Sequence[Space]) -> None:
    """The points of each kernel and target, and how many a constraint rejected."""
    for s in spaces:
        for point in s.points:
            click.echo(str(point))
    click.echo("")
    rows = [
        (s.kernel_id, s.target, s.tried, len(s.candidates), rejections(s.rejected)) for s in spaces
    ]
    print_table(("kernel", "target", "choices", "points", "rejected by"), rows)
    total: Counter[str] = sum((s.rejected for s in spaces), Counter())
    click.echo("")
    print_table(
        ("constraint", "rejects", "of", "says"),
        [
            (c.name, total[c.name], ", ".join(c.targets), c.words)
            for c in CONSTRAINTS
            if set(c.targets) & {s.target for s in spaces}
        ],
    )
    points, tried = sum(len(s.candidates) for s in spaces), sum(s.tried for s in spaces)
    click.echo(f"\n{points} points of {tried} choices")


def rejections(counts: Counter[str]) -> str:
    """Counts in the order in which constraints are asked."""
    return ", ".join(f"{c.name} {counts[c.name]}" for c in CONSTRAINTS if counts[c.name])


def _data(s: Space) -> dict[str, object]:
    return {
        "kernel": s.kernel_id, "target": s.target, "choices": s.tried,
        "points": [str(p) for p in s.points], "rejected": dict(s.rejected),
    }  # fmt: skip
