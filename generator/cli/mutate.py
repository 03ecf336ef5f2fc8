# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus mutate`: whether the checks would notice errors in generated NEON code."""

import json

import click

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.progress import progress, say
from daedalus.generator.base.tables import print_table
from daedalus.generator.compile.kernels import chosen
from daedalus.generator.options import variant_name
from daedalus.generator.verify.witness import mutation, reasons


@click.command("mutate")
@click.argument("kernels", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Also variants that are not prod.")
@click.option("--sample", type=click.IntRange(1), help="At most so many mutants a variant.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(
    kernels: tuple[str, ...], everything: bool, sample: int | None, seed: int, as_json: bool
) -> None:
    """Changes one instruction, constant or comparison that was selected for the KERNELS' NEON code
    (default: all kernels) at a time, and runs each such mutant on the witnesses and some drawn
    items.

    Exits with 1 if a mutant gives the right results, the solver does not prove that it has to, and
    tools/mutants.toml has no reason why.
    """
    found: list[mutation.Report] = []
    entries = chosen(kernels)
    with progress(quiet=as_json):
        for e in entries:
            draws = mutation.Draws(e.kernel, seed)
            for s in mutation.neon_variants(e, prod=not everything):
                say(f"mutants of {variant_name(e.kernel.id, s)}")
                found.append(mutation.run(e, s, seed, sample, draws))
    if as_json:
        click.echo(json.dumps({"results": [_record(r) for r in found]}, indent=1))
    else:
        print_table(
            ("variant", "mutants", "told by witnesses", "by drawn items", "proven the same",
             "listed", "survived"),
            [(r.variant, r.mutants, r.by_witness, r.by_drawn, r.proven, len(r.listed),
              len(r.survivors)) for r in found],
        )  # fmt: skip
    lines = [f"{r.variant}: {m}: survived" for r in found for m in r.survivors]
    lines += [line for r in found for line in r.unproven]
    lines += [
        f"{reasons.NAME}: {s}: it is told, or proven; take it out" for r in found for s in r.stale
    ]
    for line in lines:
        tell(line)
    if lines:
        raise UserError(
            f"{len(lines)} mutants or entries are not accounted for",
            "a goal for ./daedalus witness is missing, or a reason in tools/mutants.toml, or a"
            " proof",
            EXIT_FAILED,
        )


def _record(r: mutation.Report) -> dict[str, object]:
    return {
        "variant": r.variant, "mutants": r.mutants, "by_witness": r.by_witness,
        "by_drawn": r.by_drawn, "proven": r.proven, "listed": [str(m) for m in r.listed],
        "survivors": [str(m) for m in r.survivors], "unproven": r.unproven,
        "stale": [str(s) for s in r.stale],
    }  # fmt: skip
