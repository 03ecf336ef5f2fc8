# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d programs`: other people's programs on the simulated device."""

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path

import click

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.host import native
from daedalus.v3d import programs, programs_checkout, programs_debian


@click.command(name="programs")
@click.option("--list", "only_list", is_flag=True, help="Run nothing; name the programs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option(
    "--checkout",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help=f"Where {programs_checkout.NAME} lies, whose tests are run: it is on GitHub alone.",
)
@click.argument("names", nargs=-1)
def command(only_list: bool, as_json: bool, checkout: Path | None, names: tuple[str, ...]) -> None:
    """Runs other people's programs, unmodified, on the simulated device and compares results.

    NAMES are those of --list; without any all are run, or with --checkout that one alone.  Programs
    are fetched on first use, from Debian and PyPI, into build/; nothing is installed.  What is
    known not to work stands in v3d/tools/programs/programs.toml and in the table.  Exit code 1 when
    something else does not work, or something that is known not to does.
    """
    runs: dict[str, Callable[[], list[programs.Result]]] = {
        "vulkaninfo": programs_debian.vulkaninfo,
        "validation": programs_debian.validation,
    }
    for name, program in programs.listed().items():
        runs[name] = functools.partial(programs.run_program, program)
    needs_checkout = programs_checkout.NAME
    if checkout is not None:
        runs[needs_checkout] = functools.partial(programs_checkout.run_tests, checkout)
        names = names or (needs_checkout,)
    elif needs_checkout in names:
        raise UserError(
            f"{needs_checkout} is on GitHub alone, and not fetched",
            f"./daedalus v3d programs {needs_checkout} --checkout DIR",
            EXIT_MISSING,
        )
    unknown = [n for n in names if n not in runs]
    if unknown:
        raise UserError(f"there is no program {', '.join(unknown)}", f"known: {', '.join(runs)}")
    if only_list:
        print("\n".join(runs))
        return
    results: list[programs.Result] = []
    with progress(quiet=as_json), native.alone(build_dir() / "v3dv" / "programs"):
        for name in names or tuple(runs):
            results += _results(name, runs[name])
    if as_json:
        print(json.dumps([{**vars(r), "good": r.good} for r in results], indent=1))
    else:
        headings = ("program", "version", "what", "compared with", "result")
        rows = [(r.program, r.version, r.what, r.against, r.verdict) for r in results]
        print_table(headings, rows)
        for r in results:
            if r.verdict != "ok":
                print(f"{r.verdict}: {r.program}, {r.what}: {r.detail}")
    if not all(r.good for r in results):
        sys.exit(EXIT_FAILED)


def _results(name: str, run: Callable[[], list[programs.Result]]) -> list[programs.Result]:
    """What a program's run gave; that it could not be fetched, say, is a result like others."""
    try:
        return run()
    except UserError as e:
        if e.exit_code != EXIT_FAILED:
            raise
        return [programs.Result(name, "", "all of it", "", "failed", str(e))]
