# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus oracle`: the reference interpreter against other people's functions."""

import json

import click

from daedalus.generator.base.console import fail, tell
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.verify import oracle
from daedalus.generator.verify.check_runs import compared_today


@click.command(name="oracle")
@click.argument("kernels", nargs=-1)
@click.option(
    "--items", type=click.IntRange(min=1), default=10_000, show_default=True, help="Per kernel."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--sample", is_flag=True,
              help="Without KERNELS, those that `check` compares on that day.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(kernels: tuple[str, ...], items: int, seed: int, sample: bool, as_json: bool) -> None:
    """Compares the reference interpreter with other decoders' functions, C and assembly.

    Also with our functions of their signatures, and with plain implementations where no decoder
    has any.  Without KERNELS, all that there is a function for.  Exit code 1 when one item
    differs, when a function writes outside the kernel's rectangle, or when an element of ours that
    is spoiled on purpose, for each class of items, is not seen.
    """
    absent = oracle.not_compared()
    wanted = kernels
    if sample and not kernels:
        ids = [e.kernel.id for e in compared_today()]
        wanted = tuple(k for k in ids if k not in absent)
        absent = [k for k in ids if k in absent]
    if kernels:
        absent = []
    comparisons: list[oracle.Comparison] = []
    if wanted or not sample:
        with progress(quiet=as_json):
            comparisons = oracle.compare(wanted, items, seed)
    if as_json:
        rows = [{**vars(c), "good": c.good} for c in comparisons]
        data = {"seed": seed, "comparisons": rows, "not_compared": absent}
        print(json.dumps(data, indent=2))
    else:
        lines = [
            (
                *(c.function, f"{c.architecture} {c.mode}", c.version),
                *(c.items, c.mismatches, c.strayed, c.uncleared, _faults(c)),
            )
            for c in comparisons
        ]
        headings = (
            *("function", "build", "from", "items", "mismatches", "strayed", "uncleared"),
            "faults seen",
        )
        print_table(headings, lines)
    if absent:
        tell(
            f"{len(absent)} kernels not compared, as no description of a decoder has a"
            f" function for them: {', '.join(absent)}"
        )
    fail(
        f"{c.function}, {c.architecture} {c.mode}, seed {seed}:" f" {_wrong(c)}"
        for c in comparisons
        if not c.good
    )


def _faults(c: oracle.Comparison) -> str:
    return f"{sum(c.faults.values())} of {len(c.faults)}" if c.faults else ""


def _wrong(c: oracle.Comparison) -> str:
    unseen = [fault for fault, seen in c.faults.items() if not seen]
    if unseen:
        return f"no item shows a spoiled element of {', '.join(unseen)}"
    return c.first or "written where it must not be"
