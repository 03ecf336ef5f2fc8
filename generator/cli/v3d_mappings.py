# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d mappings`: every variant of the kernels for the QPU, on the simulator."""

import json

import click

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.progress import progress, say
from daedalus.generator.base.tables import print_table
from daedalus.generator.compile.kernels import chosen
from daedalus.generator.tuning.qpu_mappings import Program, Row, Runs, for_gpu, parts


@click.command("mappings")
@click.argument("kernels", nargs=-1)
@click.option("--items", default=1000, show_default=True, type=click.IntRange(16, 1_000_000),
              help="Conformant items a mapping; a fifth as many of the other kinds.")  # fmt: skip
@click.option("--sample", default=0, metavar="N", type=click.IntRange(1),
              help="Run only N programs, of classes drawn by --seed; default: all.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0),
              help="Draws the programs of a sample.")  # fmt: skip
@click.option("--jobs", default=0, metavar="N", type=click.IntRange(0),
              help="Programs side by side; default: as many as there are cores.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def command(
    kernels: tuple[str, ...], items: int, sample: int, seed: int, jobs: int, as_json: bool
) -> None:
    """Runs every mapping of the KERNELS (default: those with GPU variants), strictly.

    A mapping is a variant of the tuning space (`tune --dry-run` counts them), with any of the
    kernel's assumptions, with and without `threads4`. Each program is scheduled by a short
    search (`gen` takes a long one for what it emits), validated and compared with the reference
    interpreter. Where a mapping is refused the reason is shown. All of them take very long on
    two cores; a sample is a part of them. Exits with 1 if anything differs.
    """
    entries = for_gpu(chosen(kernels))
    if not entries:
        raise UserError("none of these kernels has a GPU variant", "see `daedalus list`")
    wanted = [p for e in entries for p in parts(e.kernel, items)]
    rows: list[Row] = []
    programs: list[Program] = []
    with Runs(jobs) as runs:
        with progress(sample or len(wanted), quiet=as_json) as shown:
            say("parts of the space")
            drawn = runs.draw(wanted, sample, seed) if sample else runs.select(wanted)
            for found in drawn:
                rows += found.refused
                programs += found.programs
                shown.advance(1)
        with progress(2 * len(programs), quiet=as_json) as shown:
            say("programs")
            for row in runs.run(programs):
                rows.append(row)
                shown.advance(1)
                if not row.good:  # at once: what is stopped has told what it found
                    tell(_fault(row))
    rows.sort(key=lambda r: (r.kernel, r.options, r.threads))
    if as_json:
        click.echo(json.dumps([r.data() for r in rows], indent=1))
    else:
        _print(rows)
    bad = sum(not r.good for r in rows)
    if bad:
        raise UserError(f"{bad} of {len(rows)} mappings are wrong", exit_code=EXIT_FAILED)


def _fault(r: Row) -> str:
    return (
        f"{r.kernel}__{r.options}, {r.threads} threads: {r.mismatches} of {r.conformant} items"
        f" differ, {r.strayed} elements strayed: {r.first}"
    )


def _print(rows: list[Row]) -> None:
    print_table(
        ("mapping", "names", "threads", "an item", "registers", "items", "differ", "refused"),
        [
            (
                f"{r.kernel}__{r.options}", 1 + len(r.same), r.threads, f"{r.an_item:.1f}",
                r.registers, r.conformant, r.mismatches + r.strayed, r.refused,
            )
            for r in rows
        ],
    )  # fmt: skip
    ran, wrong = [r for r in rows if not r.refused], sum(not r.good for r in rows)
    print(
        f"{len(ran)} of {len(rows)} ran: {sum(r.conformant for r in ran)} conformant items,"
        f" {sum(r.others for r in ran)} others for memory safety only; {wrong} are wrong"
    )
    for threads in sorted({r.threads for r in rows}):
        why = [r for r in rows if r.threads == threads and r.refused]
        where = f"at {threads} threads" if threads else "by the selection"
        print(f"{len(why)} were refused {where}, of {sum(r.threads == threads for r in rows)}")
