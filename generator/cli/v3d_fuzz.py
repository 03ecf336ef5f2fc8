# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d fuzz`: coverage-guided fuzzing of the toolkit."""

import json
import sys

import click

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.progress import progress, say
from daedalus.generator.base.tables import print_table
from daedalus.v3d import fuzz


@click.command(name="fuzz")
@click.option("--seconds", default=20, show_default=True, type=click.IntRange(1, 86400),
              help="How long each target runs.")  # fmt: skip
@click.option("--target", "chosen", multiple=True, metavar="NAME",
              help="Only this one; may be given several times.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(1, 2**32 - 1),
              help="Of the inputs' changes.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(seconds: int, chosen: tuple[str, ...], seed: int, as_json: bool) -> None:
    """Fuzzes assembler, disassembler, validator, simulator and device, one after the other.

    Inputs are changed so that they reach more code, under address and undefined-behaviour
    sanitizers.  What was reached is kept in build/v3d-fuzz/<target>, from which the next run goes
    on; with an empty one a run is a function of its seed and length.  Exit code 1 if an input
    fails: it is kept, and the command that runs it again is printed.  Exit code 3 without a clang
    that has libFuzzer.
    """
    known = list(fuzz.targets())
    for name in chosen:
        if name not in known:
            raise UserError(f"there is no fuzz target {name}", f"there are {', '.join(known)}")
    names = [n for n in known if n in chosen or not chosen]
    done = []
    with progress(quiet=as_json):
        programs = fuzz.build(names)
        for name in names:
            say(f"fuzzing {name} for {seconds} s")
            done.append(fuzz.run(name, programs[name], seconds, seed))
    if as_json:
        rows = [{**vars(c), "finding": str(c.finding) if c.finding else None} for c in done]
        print(json.dumps({"seed": seed, "compiler": fuzz.compiler(), "targets": rows}, indent=1))
    else:
        _print(done, seed)
    if any(c.finding for c in done):
        sys.exit(EXIT_FAILED)


def _print(done: list[fuzz.Campaign], seed: int) -> None:
    rows = [
        (c.target, round(c.seconds), c.executions, c.coverage, c.corpus,
         "FAILED" if c.finding else "none")
        for c in done
    ]  # fmt: skip
    print_table(("target", "seconds", "inputs run", "edges", "corpus", "findings"), rows)
    print(f"seed {seed}, {fuzz.compiler()}, sanitizers {fuzz.SANITIZERS}")
    for c in done:
        if c.finding:
            tell(f"{c.target}: {c.said}")
            tell(f"  replay: {c.replay}")
