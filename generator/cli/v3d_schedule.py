# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d schedule`: random virtual programs through the QPU scheduler."""

import click

from daedalus.generator.base.errors import EXIT_FAILED
from daedalus.generator.base.progress import progress
from daedalus.generator.targets.qpu.agree import compare
from daedalus.generator.targets.qpu.random_programs import make


@click.command("schedule")
@click.option("--programs", default=100, show_default=True, type=click.IntRange(1),
              help="How many.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Of the first; the next has the next.")
@click.option("--size", default=40, show_default=True, help="Operations of a body, at most about.")
@click.option("--budget", default=4000, show_default=True, help="Nodes that attempts schedule.")
def command(programs: int, seed: int, size: int, budget: int) -> None:
    """Compares random virtual programs, scheduled and run on the simulator, with their meaning.

    Prints the instructions a trip of all loops beside what their operations take at least. A
    program that differs is named by its seed: --programs 1 --seed N --size ... repeats it.
    """
    different = without = trips = bounds = 0
    with progress(quiet=True):
        for k in range(seed, seed + programs):
            verdict = compare(make(k, size), threads=4 if k % 4 == 0 else 2, budget=budget)
            if verdict.assembly is None:
                without += 1
                click.echo(f"not scheduled: {verdict.reason}")
                continue
            trips += verdict.assembly.trip
            bounds += verdict.assembly.bound
            if verdict.differing:
                different += 1
                click.echo(f"seed {k}, size {size}: {verdict.differing} bytes differ")
    click.echo(
        f"{programs} programs: {different} differ, {without} not scheduled; "
        f"{trips} instructions a trip, bound {bounds}"
    )
    if different:
        raise SystemExit(EXIT_FAILED)
