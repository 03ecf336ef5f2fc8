# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus fuzz`: random programs, the interpreter against every back end."""

import json
import time
from pathlib import Path

import click

from daedalus.generator.base.console import out, tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.progress import progress, say
from daedalus.generator.cli.check import chosen_targets
from daedalus.generator.options import CPU_TARGETS, QPU
from daedalus.generator.targets.qpu import machine
from daedalus.generator.verify.fuzz.back_end import BackEnd, Tally
from daedalus.generator.verify.fuzz.campaign import Campaign
from daedalus.generator.verify.fuzz.cpu import Cpu
from daedalus.generator.verify.fuzz.frozen import Frozen, opened, text_of
from daedalus.generator.verify.fuzz.glsl import GLSL, Glsl
from daedalus.generator.verify.fuzz.programs import Drawn, Source
from daedalus.generator.verify.fuzz.qpu import Qpu
from daedalus.v3d import vkrun

SHOWN_FAILURES = 10


@click.command("fuzz")
@click.option("--programs", default=100, show_default=True, type=click.IntRange(1, 1_000_000),
              help="How many programs.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), help="[default: 1]")
@click.option("--first", default=0, show_default=True, type=click.IntRange(0),
              help="Number of the first program; a seed and a number name a program.")  # fmt: skip
@click.option("--items", default=64, show_default=True, type=click.IntRange(16, 100_000),
              help="Conformant items a class; a fifth as many others.")  # fmt: skip
@click.option("--file", "path", type=click.Path(path_type=Path, dir_okay=False),
              help="Take programs that are on record instead of drawing them.")  # fmt: skip
@click.option("--freeze", type=click.Path(path_type=Path, dir_okay=False),
              help="Put programs on record in this file, and do nothing else.")  # fmt: skip
@click.option("--additions", is_flag=True,
              help="All programs draw what the language got later, not half of them.")  # fmt: skip
@click.option("--refusals", is_flag=True,
              help="Make the variants and say what is refused; run nothing.")  # fmt: skip
@click.option("--target", default=",".join(CPU_TARGETS), show_default=True,
              help="Targets, separated by commas.")  # fmt: skip
@click.option("--sanitize", is_flag=True, help="Native builds with address and UB sanitizers.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(
    programs: int, seed: int | None, first: int, items: int, path: Path | None,
    freeze: Path | None, additions: bool, refusals: bool, target: str, sanitize: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Compares random legal programs on every back end with the reference interpreter.

    A program that fails is written to build/fuzz/failures, with the command that runs it again.
    Exits with 1 if there is one, or if nothing was compared for some of the targets.
    """
    if path is not None and (seed is not None or additions):
        raise UserError(
            "--seed and --additions are of programs that are drawn", "leave them out with --file"
        )
    drawn = Drawn(1 if seed is None else seed, every=additions)
    source: Source = drawn if path is None else opened(path)
    if isinstance(source, Frozen):
        programs = min(programs, len(source) - first)
        if programs < 1:
            raise UserError(f"{path}: {len(source)} programs are in it", "give a smaller --first")
    if freeze is not None:
        made = [source.make(n) for n in range(first, first + programs)]
        write_output(freeze, text_of(made))
        return
    campaign = Campaign(_back_ends(target, sanitize, refusals), source, items)
    started = time.monotonic()
    totals: list[Tally] = [b.tally() for b in campaign.back_ends]
    with progress(programs, quiet=as_json) as shown:
        say("programs")
        for tallies in campaign.run(first, programs):
            for total, tally in zip(totals, tallies, strict=True):
                total.add(tally)
            failures = [f for t in totals for f in t.failures]
            if failures:
                say(f"programs, {len(failures)} failures, the last is {failures[-1].number}")
            shown.advance(tallies[0].programs)
        if failures:
            say("shrinking")
            where = campaign.write_failures(totals)
    seconds = time.monotonic() - started
    if as_json:
        named = zip(campaign.back_ends, totals, strict=True)
        asked: dict[str, object] = {"first": first, "items": items}
        if isinstance(source, Drawn):
            asked |= {"seed": source.seed, "additions": source.every}
        else:
            asked["file"] = str(path)
        click.echo(json.dumps(asked | {b.name: t.figures() for b, t in named}, indent=1))
    else:
        for line in (line for t in totals for line in t.lines(seconds)):
            out.print(line, markup=False, soft_wrap=True)
    for f in failures[:SHOWN_FAILURES]:
        tell(f"program {f.number}, {f.kind}:")
        tell(f.text.strip()[-1500:])
        tell(f"  replay: {campaign.replay(f.number)}")
    if failures:
        bad = len({f.number for f in failures})
        here = where.relative_to(repo_root())
        raise UserError(f"{bad} of {programs} programs failed", f"they are in {here}", EXIT_FAILED)
    if refusals:
        return
    for nothing in filter(None, (t.nothing() for t in totals)):
        raise UserError(f"{nothing}: nothing was compared", "draw more (--programs)", EXIT_FAILED)


def _back_ends(target: str, sanitize: bool, only_make: bool) -> tuple[BackEnd, ...]:
    """What the targets of the command line are run by."""
    names = chosen_targets(target, (*CPU_TARGETS, GLSL, QPU))
    found: list[BackEnd] = []
    if own := tuple(t for t in CPU_TARGETS if t in names):
        found.append(Cpu(own, sanitize, only_make))
    if sanitize and (others := [t for t in (GLSL, QPU) if t in names]):
        hint = f"leave it out with --target {','.join(others)}"
        raise UserError("--sanitize is for the CPU's code", hint)
    if GLSL in names:
        vkrun.lavapipe()  # one that cannot be fetched is said at once
        found.append(Glsl(only_make=only_make))
    if QPU in names:
        machine.description()  # a toolkit that cannot be built is said at once
        found.append(Qpu(only_make=only_make))
    return tuple(found)
