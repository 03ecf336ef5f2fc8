# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus count`: executed instructions, ours beside hand-written ones."""

import json
import sys

import click

from daedalus.generator import count
from daedalus.generator.cli.common import EXIT_FAILED, console
from daedalus.generator.cli.progress import progress
from daedalus.generator.cli.tables import print_table


@click.command(name="count")
@click.argument("kernels", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(kernels: tuple[str, ...], as_json: bool) -> None:
    """Counts the instructions that our NEON functions execute per call, and FFmpeg's.

    Without KERNELS, all that have a hand-written counterpart.  Exit code 1 when FFmpeg's count is
    not the recorded one (then the comparison is with another function), when one of ours leaves
    other pixels than FFmpeg's, or when our function with the decoder's signature executes more
    than its bar in tools/count/cases.toml.
    """
    with progress(quiet=as_json):
        counts = count.count_all(kernels)
    absent = [] if kernels else count.not_counted()
    theirs = {id(c.case): c.executed for c in counts if c.whose == "theirs"}
    if as_json:
        rows = [
            {
                "kernel": c.case.kernel,
                "case": c.case.name,
                "function": c.function,
                "whose": c.whose,
                "executed": c.executed,
                "same_pixels": not c.difference,
                "ratio": round(c.executed / theirs[id(c.case)], 3),
            }
            for c in counts
        ]
        print(json.dumps({"counts": rows, "not_counted": absent}, indent=2))
    else:
        lines = [
            (
                c.case.kernel,
                c.case.name,
                c.function,
                c.executed,
                "" if c.whose == "theirs" else f"{c.executed / theirs[id(c.case)]:.2f}",
            )
            for c in counts
        ]
        print_table(("kernel", "case", "function", "executed", "of theirs"), lines)
    if absent:
        console.print(
            f"{len(absent)} kernels not counted, as tools/count/cases.toml has no case for them:"
            f" {', '.join(absent)}",
            soft_wrap=True,
            markup=False,
        )
    wrong = [c for c in counts if c.difference]
    for c in wrong:
        console.print(
            f"failed: {c.function}, {c.case.name}: other pixels than {c.case.theirs}:"
            f" {c.difference}",
            soft_wrap=True,
            markup=False,
        )
    changed = [c for c in counts if c.whose == "theirs" and c.executed != c.case.anchor]
    for c in changed:
        console.print(
            f"failed: {c.function}, {c.case.name}: {c.executed} executed, {c.case.anchor} recorded "
            "in tools/count/cases.toml",
            soft_wrap=True,
        )
    above = [
        c
        for c in counts
        if c.function == c.case.entry
        and c.case.bar is not None
        and c.executed > c.case.bar * c.case.anchor
    ]
    for c in above:
        console.print(
            f"failed: {c.function}, {c.case.name}: {c.executed} executed, more than"
            f" {c.case.bar} x {c.case.anchor}",
            soft_wrap=True,
        )
    if wrong or changed or above:
        sys.exit(EXIT_FAILED)
