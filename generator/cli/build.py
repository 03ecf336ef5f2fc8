# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus build`: from the specs to a verified library that decodes a real stream."""

import time
from pathlib import Path

import click

from daedalus.generator import native
from daedalus.generator.cli import check as check_verb
from daedalus.generator.cli import stream as stream_verb
from daedalus.generator.cli.check_runs import Wish, run_checks
from daedalus.generator.cli.common import console, out, repo_root, run
from daedalus.generator.cli.gen import generate_or_explain, write
from daedalus.generator.cli.progress import progress
from daedalus.generator.cli.verified import record_verified
from daedalus.generator.options import TARGETS
from daedalus.generator.registry import load


@click.command("build")
@click.option("--items", default=10000, show_default=True,
              type=click.IntRange(check_verb.RECORDED_ITEMS),
              help="Conformant items a variant to compare before it may be built in.")  # fmt: skip
@click.option("--prefix", type=click.Path(path_type=Path), help="Install the library there.")
@click.option("--recipe", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="Build this recipe into the library, in a folder of its own.")  # fmt: skip
@click.option("--stream/--no-stream", default=True, show_default=True,
              help="Decode real video through the library at the end.")  # fmt: skip
@click.pass_context
def command(
    context: click.Context, items: int, prefix: Path | None, recipe: Path | None, stream: bool
) -> None:
    """Generates, verifies and builds everything, and decodes real video with it.

    1. generates code from the specs;
    2. compares every variant with the reference interpreter and records what passed;
    3. builds libdaedalus.a and libdaedalus_variants.a for this machine, and for arm64 elsewhere;
    4. decodes clips of three codecs through them and compares every frame with the unmodified
       decoders'.
    """
    started = time.monotonic()
    _say(1, "generate")
    generated = generate_or_explain()
    written, removed = write(generated, repo_root() / "generated")
    console.print(f"{len(generated.variants)} variants; {written} files changed, {removed} removed")

    _say(2, "verify against the interpreter")
    outcomes, skips = run_checks(list(load()), Wish(TARGETS, items, seed=1))
    check_verb.report(outcomes, items, seed=1, skips=skips)
    record_verified(outcomes)

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


def _build(arch: str, recipe: Path | None) -> Path:
    """The libraries, or the one with the recipe in it, which other builds must not find."""
    if recipe is None:
        return native.build_library(arch, targets=("daedalus", "daedalus_variants"))
    options = (f"-DDAEDALUS_RECIPE={recipe.resolve()}",)
    return native.build_library(arch, options=options, folder=f"{arch}-recipe")


def _say(step: int, what: str) -> None:
    console.print(f"[bold]{step}. {what}[/bold]")
