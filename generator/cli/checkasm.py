# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus checkasm`: decoders' own tests, with our functions in their tables."""

import json

import click

from daedalus.generator.base.console import fail
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.verify import checkasm


@click.command(name="checkasm")
@click.argument("decoder", default="")
@click.argument("test", default="")
@click.option("--seeds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Runs of each test.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=1), default=1, show_default=True,
              help="The first.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(decoder: str, test: str, seeds: int, seed: int, as_json: bool) -> None:
    """Runs decoders' own checkasm, with our functions in their tables, beside their C.

    The programs are built from the distribution's source packages, and run for arm64 (under qemu)
    and this machine, on arm64 also without what only some processors have. Without DECODER all,
    without TEST all tests of tables that have functions of ours. Exit code 1 when a test fails, or
    when it does not check one of our pointers.
    """
    with progress(quiet=as_json):
        outcomes, wrong, untested = checkasm.check(decoder, test, seeds, seed)
    if as_json:
        why = {f"{name}: {place}": text for (name, place), text in untested.items()}
        found = {"runs": [vars(o) for o in outcomes], "untested": why, "failures": wrong}
        print(json.dumps(found, indent=2))
    else:
        rows: dict[tuple[str, ...], list[checkasm.Outcome]] = {}
        for o in outcomes:
            rows.setdefault((o.decoder, o.test, o.architecture, o.features), []).append(o)
        print_table(
            ("decoder", "test", "architecture", "features", "seeds", "passed"),
            [(*key, len(some), sum(o.passed for o in some)) for key, some in rows.items()],
        )
        names: dict[tuple[str, str], set[str]] = {}
        for o in outcomes:
            for place, checked in o.reached.items():
                names.setdefault((o.decoder, place), set()).update(checked)
            for place, other in o.same.items():
                if place not in o.reached:
                    names.setdefault((o.decoder, place), set()).add(f"the same as {other}")
        print_table(
            ("decoder", "our pointer", "checked as"),
            [(*key, ", ".join(sorted(checked))) for key, checked in names.items()],
        )
        if untested:
            print_table(("decoder", "our pointer", "not checked"),
                        [(*key, why) for key, why in untested.items()])  # fmt: skip
    fail(wrong)
