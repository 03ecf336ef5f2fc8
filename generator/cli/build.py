# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus build`: from the specs to a verified library that decodes a real stream."""

import time
from dataclasses import replace
from pathlib import Path

import click

from daedalus.generator.base.console import console, out
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import progress
from daedalus.generator.cli import check as check_verb
from daedalus.generator.cli import stream as stream_verb
from daedalus.generator.cli.files import InputFile
from daedalus.generator.compile.folder import REPAIR, differences, generate_or_explain
from daedalus.generator.compile.registry import load
from daedalus.generator.host import native
from daedalus.generator.options import GPU_TARGETS, TARGETS
from daedalus.generator.verify.check_runs import Wish, run_checks
from daedalus.generator.verify.crosscheck import devices
from daedalus.generator.verify.records import compilers

_PROCESSOR = tuple(t for t in TARGETS if t not in GPU_TARGETS)
FOREIGN_ITEMS = 1000  # of each variant that is built in, by a compiler without records


@click.command("build")
@click.option("--items", default=200, show_default=True, type=click.IntRange(100),
              help="Conformant items to compare of each variant that runs here.")  # fmt: skip
@click.option("--prefix", type=click.Path(path_type=Path), help="Install the library there.")
@click.option("--recipe", type=InputFile(),
              help="Build this recipe into the library, in a folder of its own.")  # fmt: skip
@click.option("--stream/--no-stream", default=True, show_default=True,
              help="Decode real video through the library at the end.")  # fmt: skip
@click.pass_context
def command(
    context: click.Context, items: int, prefix: Path | None, recipe: Path | None, stream: bool
) -> None:
    """Generates, verifies and builds everything, and decodes real video with it.

    1. checks that generated/ is what the specs give;
    2. compares a sample of items of every variant with the reference interpreter; what was
       compared in full is on record in generated/verified.json, by hash (`check --record`);
    3. builds libdaedalus.a and libdaedalus_variants.a for this machine, and for arm64 elsewhere;
    4. decodes clips of three codecs through them and compares every frame with the unmodified
       decoders'.
    """
    started = time.monotonic()
    _say(1, "compare generated/ with the specs")
    _require_unchanged()

    _say(2, "verify a sample against the interpreter")
    _verify(items)

    _say(3, "build the libraries")
    with progress():
        folders = [
            _build(arch, recipe) for arch in (("host",) if native.is_arm() else ("host", "aarch64"))
        ]
    if prefix is not None:
        install: list[str | Path] = ["cmake", "--install", folders[0], "--prefix", prefix]
        run(install, what="installing")

    if stream:
        _say(4, "decode real video")
        context.invoke(
            stream_verb.command, file=None, target=None, substrate="cpu", device=None,
            frames=None, as_json=False,
        )  # fmt: skip
    out.print(
        f"\ndone in {time.monotonic() - started:.0f} s; the libraries are in "
        + " and ".join(str(f.relative_to(repo_root())) for f in folders),
        markup=False,
    )


def _require_unchanged() -> None:
    """Refuses generated code that was changed by hand, or is of other specs; changes nothing."""
    generated = generate_or_explain()
    wrong = differences(generated, repo_root() / "generated")
    for line in wrong:
        console.print(line, markup=False)
    if wrong:
        raise UserError(
            f"generated/ is not what the specs give ({len(wrong)} files)",
            f"run {REPAIR}, look at the difference, then ./daedalus check --record",
            EXIT_FAILED,
        )
    console.print(f"{len(generated.variants)} variants are what the specs give")


def _verify(items: int) -> None:
    """A sample of each variant; more of what is built in, where no record is by this compiler."""
    entries = list(load())
    foreign = foreign_compilers(compilers())
    if foreign:
        console.print(
            f"no record is by {' or '.join(foreign)}: comparing {FOREIGN_ITEMS} items of each prod"
            " variant of the CPU",
            markup=False, soft_wrap=True,
        )  # fmt: skip
        count = max(items, FOREIGN_ITEMS)
        outcomes, skips = run_checks(
            [replace(e, listed=tuple(s for s in e.listed if s[1])) for e in entries],
            Wish(_PROCESSOR, count, seed=1),
        )
        check_verb.report(outcomes, count, seed=1, table=False, skips=skips)
    outcomes, skips = run_checks(entries, Wish(TARGETS, items, seed=1))
    check_verb.report(outcomes, items, seed=1, table=False, skips=skips)
    compared = sum(o.conformant for o in outcomes)
    console.print(f"{len(outcomes)} comparisons are bit-exact: {compared} conformant items")


def foreign_compilers(recorded: set[str]) -> list[str]:
    """This machine's compilers that none of the records is by."""
    here = {native.version_of(native.compiler(d.arch)) for d in devices(_PROCESSOR)}
    return sorted(here - recorded)


def _build(arch: str, recipe: Path | None) -> Path:
    """The libraries, or the one with the recipe in it, which other builds must not find."""
    if recipe is None:
        return native.build_library(arch, targets=("daedalus", "daedalus_variants"))
    options = (f"-DDAEDALUS_RECIPE={recipe.resolve()}",)
    return native.build_library(arch, options=options, folder=f"{arch}-recipe")


def _say(step: int, what: str) -> None:
    console.print(f"[bold]{step}. {what}[/bold]")
