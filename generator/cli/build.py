# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus build`: from the specs to a verified library that decodes a real stream."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from daedalus.generator.base.console import console, out, tell
from daedalus.generator.base.costs import Costs, duration, network_seconds, set_up_seconds
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import progress
from daedalus.generator.cli import check as check_verb
from daedalus.generator.cli import stream as stream_verb
from daedalus.generator.cli.files import InputFile
from daedalus.generator.compile.emit import Generated
from daedalus.generator.compile.folder import REPAIR, differences, generate_or_explain
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.devices.vulkan import FETCHED, MADE
from daedalus.generator.host import native
from daedalus.generator.options import GPU_TARGETS, TARGETS
from daedalus.generator.verify import stale
from daedalus.generator.verify.check_runs import Wish, run_checks
from daedalus.generator.verify.crosscheck import Outcome, devices
from daedalus.generator.verify.verified import compilers

_PROCESSOR = tuple(t for t in TARGETS if t not in GPU_TARGETS)
FOREIGN_ITEMS = 1000  # of each variant of the CPU, by a compiler without records
# Seconds that the steps take in a fresh clone on two cores, until this checkout knows its own.
_STEPS = {
    "compare generated/ with the specs": 20,
    "verify a sample against the interpreter": 100,
    "build the libraries": 20,
    "decode real video": 70,
}


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
    2. compares a sample of items with the reference interpreter: of every variant that has no
       record, and of a kernel of each family, on one device of each target; what was compared in
       full is on record in generated/records/, by hash (`check --record`);
    3. builds libdaedalus.a and libdaedalus_variants.a for this machine, and for arm64 elsewhere;
    4. decodes clips of three codecs through them and compares every frame with the unmodified
       decoders'.
    """
    started = time.monotonic()
    with _step(1):
        generated = _require_unchanged()
    with _step(2):
        _verify(items, generated)
    with _step(3), progress():
        folders = [
            _build(arch, recipe) for arch in (("host",) if native.is_arm() else ("host", "aarch64"))
        ]
    if prefix is not None:
        install: list[str | Path] = ["cmake", "--install", folders[0], "--prefix", prefix]
        run(install, what="installing")

    if stream:
        with _step(4):
            context.invoke(
                stream_verb.command, file=None, target=None, substrate="cpu", device=None,
                frames=None, as_json=False, sample=True,
                faults="c",  # both targets' programs have the same calls to spoil
            )  # fmt: skip
    took = time.monotonic() - started + set_up_seconds()
    fetching = network_seconds()
    apart = f", of which {duration(fetching)} network" if fetching >= 1 else ""
    out.print(
        f"\ndone in {duration(took)}{apart}; the libraries are in "
        + " and ".join(str(f.relative_to(repo_root())) for f in folders),
        markup=False,
    )


def _require_unchanged() -> Generated:
    """Refuses generated code that was changed by hand, or is of other specs; changes nothing."""
    generated = generate_or_explain()
    wrong = differences(generated, repo_root() / "generated")
    for line in wrong:
        tell(line)
    if wrong:
        raise UserError(
            f"generated/ is not what the specs give ({len(wrong)} files)",
            f"run {REPAIR}, look at the difference, then ./daedalus check --record",
            EXIT_FAILED,
        )
    console.print(f"{len(generated.variants)} variants are what the specs give")
    return generated


def _verify(items: int, generated: Generated) -> None:
    """A sample of items of what has no record, and of a kernel of each family; of every kernel on
    the CPU, and more items, where no record is by this compiler."""
    every = tuple(load())
    few = stale.one_a_family(every, generated.variants)
    todo: list[tuple[Sequence[Entry], Wish]] = []
    foreign = foreign_compilers(compilers())
    if foreign:
        tell(
            f"no record is by {' or '.join(foreign)}: comparing {FOREIGN_ITEMS} items of each"
            " variant of the CPU"
        )
        todo = [(every, Wish(_PROCESSOR, max(items, FOREIGN_ITEMS), seed=1, gpus=(), once=True))]
    targets = GPU_TARGETS if foreign else TARGETS
    todo.append((few, Wish(targets, items, seed=1, gpus=FETCHED, once=True)))
    # Apart: what a driver made here does is not remembered.
    todo.append((few, Wish(("glsl",), items, seed=1, gpus=MADE, once=True)))
    for entries, wish in todo:
        outcomes, skips = run_checks(entries, wish, made=generated.variants, remember=True)
        if outcomes or not skips:  # without a Vulkan device here, "nothing compared" is no error
            check_verb.report(outcomes, seed=1, table=False, skips=skips)
        for skip in () if outcomes else skips:
            tell(f"skipped: {skip.name}: {skip.reason}")
        if outcomes:
            tell(_said(outcomes, len(every) - len(entries)))


def _said(outcomes: Sequence[Outcome], others: int) -> str:
    """What was compared by a wish; other kernels were not, as all of them are on record."""
    targets = ", ".join(dict.fromkeys(o.target for o in outcomes))
    items = sum(o.conformant for o in outcomes)
    kernels = len({o.kernel for o in outcomes})
    left_out = (
        f": those without a record, and one a family; {others} others are on record"
        if others
        else ", whether on record or not"
    )
    return (
        f"{targets}: {len(outcomes)} comparisons are bit-exact, {items} conformant items of"
        f" {kernels} kernels{left_out}"
    )


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


@contextmanager
def _step(number: int) -> Iterator[None]:
    """Says what is done, how far that is, and about how long it takes; learns from how it went."""
    what = list(_STEPS)[number - 1]
    costs = Costs(build_dir() / "costs.json", {f"build: {k}": v for k, v in _STEPS.items()})
    about = duration(costs.about(f"build: {what}"))
    console.print(
        f"[bold]{number}. {what}[/bold] (step {number} of {len(_STEPS)}, about {about})",
        highlight=False,
    )
    started = time.monotonic()
    yield
    costs.note(f"build: {what}", time.monotonic() - started)
