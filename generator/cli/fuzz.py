# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus fuzz`: random programs, the interpreter against every back end."""

import json
import time

import click

from daedalus.generator.base.console import out, tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.progress import progress, say
from daedalus.generator.cli import fuzz_qpu
from daedalus.generator.targets.neon.rules import RULES
from daedalus.generator.verify.fuzz import campaign as fuzz

SHOWN_FAILURES = 10


@click.command("fuzz")
@click.option("--programs", default=100, show_default=True, type=click.IntRange(1, 1_000_000),
              help="How many programs.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option("--first", default=0, show_default=True, type=click.IntRange(0),
              help="Number of the first program; a seed and a number name a program.")  # fmt: skip
@click.option("--items", default=64, show_default=True, type=click.IntRange(16, 100_000),
              help="Conformant items a class; a fifth as many others.")  # fmt: skip
@click.option("--target", default="c,neon", show_default=True,
              type=click.Choice(["c,neon", "qpu"]),
              help="The CPU's back ends, or the QPU's, on the simulator.")  # fmt: skip
@click.option("--sanitize", is_flag=True, help="Native builds with address and UB sanitizers.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(
    programs: int, seed: int, first: int, items: int, target: str, sanitize: bool, as_json: bool
) -> None:  # fmt: skip
    """Compares random legal programs on every back end with the reference interpreter.

    A program that fails is written to build/fuzz/failures, with the command that runs it again.
    Exits with 1 if there is one. A program without a QPU form does not count as run.
    """
    if target == "qpu":
        if sanitize:
            raise UserError("--sanitize is for the CPU's code", "leave it out with --target qpu")
        fuzz_qpu.run(programs, seed, first, items, as_json=as_json)
        return
    started = time.monotonic()
    total = fuzz.Tally()
    with progress(programs, quiet=as_json) as shown:
        say("programs")
        for tally in fuzz.campaign(seed, first, programs, items, sanitize=sanitize):
            total.add(tally)
            if total.failures:
                say(f"programs, {len(total.failures)} failures")
            shown.advance(tally.programs)
        if total.failures:
            say("shrinking")
            paths = fuzz.write_failures(seed, total.failures, items, sanitize=sanitize)
    unused = [r.name for r in RULES if r.name not in total.rules]
    if as_json:
        click.echo(json.dumps(_figures(total, seed, first, items, unused), indent=1))
    else:
        _print(total, unused, time.monotonic() - started)
    if total.failures:
        for f in total.failures[:SHOWN_FAILURES]:
            tell(f"program {f.number}, {f.kind}:")
            tell(f"{f.text.strip()[-1500:]}")
            again = fuzz.replay_command(seed, f.number, items, sanitize=sanitize)
            tell(f"  replay: {again}")
        bad = len({f.number for f in total.failures})
        where = paths[0].parent.relative_to(repo_root())
        raise UserError(f"{bad} of {programs} programs failed", f"they are in {where}", EXIT_FAILED)


def _figures(
    t: fuzz.Tally, seed: int, first: int, items: int, unused: list[str]
) -> dict[str, object]:
    return {
        "seed": seed, "first": first, "items": items, "programs": t.programs,
        "operations": t.operations, "variants": t.variants, "neon_variants": t.neon,
        "dot_variants": t.dots, "not_lowerable": dict(sorted(t.refused.items())),
        "comparisons": t.comparisons,
        "conformant": t.conformant, "other_items": t.others, "without_conformant": t.vacuous,
        "programs_excluded": t.excluded,
        "decisions": dict(sorted(t.decided.items())), "rules": len(RULES) - len(unused),
        "rules_never": unused,
        "failures": [{"program": f.number, "kind": f.kind, "text": f.text} for f in t.failures],
    }  # fmt: skip


def _print(t: fuzz.Tally, unused: list[str], seconds: float) -> None:
    refused = sum(t.refused.values())
    why = ", ".join(f"{op} {n}" for op, n in sorted(t.refused.items()))
    decided = sum(t.decided.values())
    lines = [
        f"{t.programs} programs of {t.operations / max(t.programs, 1):.1f} operations in"
        f" {seconds:.0f} s: {t.comparisons} comparisons of {t.variants} variants,"
        f" {t.conformant} conformant items, {t.others} others for memory safety only",
        f"{100 * t.decided['both ways'] / max(decided, 1):.0f} % of {decided} conditions and limits"
        " went both ways",
        f"{refused} of {t.neon} NEON variants have no NEON form" + (f": {why}" if why else ""),
        f"{t.dots} variants with DOT instructions",
        f"{len(RULES) - len(unused)} of {len(RULES)} NEON rules used"
        + (f"; never: {', '.join(unused)}" if unused else ""),
        f"{len(t.failures)} failures",
    ]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
