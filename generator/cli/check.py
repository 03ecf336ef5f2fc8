# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus check`: every variant against the reference interpreter."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

import click
from click.core import ParameterSource

from daedalus.generator.base.console import console, tell
from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.tables import print_table
from daedalus.generator.compile.kernels import chosen
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.devices import drm
from daedalus.generator.devices.vulkan import DEFAULT as DEFAULT_DEVICES
from daedalus.generator.devices.vulkan import Skip, spelled_out
from daedalus.generator.host import native
from daedalus.generator.options import GPU_TARGETS, QPU, TARGETS
from daedalus.generator.verify import drm_faults, part, stale
from daedalus.generator.verify.check_runs import (
    DEFAULT_QPUS,
    QPUS,
    Wish,
    require_generated,
    run_checks,
)
from daedalus.generator.verify.crosscheck import Outcome, replay_command
from daedalus.generator.verify.verified import record_verified

SHOWN_FAILURES = 10
RECORDED_ITEMS = 10000  # what a recorded variant has passed at least
SAMPLED_ITEMS = 1000  # of what is on record, where no number is asked for


@click.command("check")
@click.argument("kernels", nargs=-1)
@click.option("--target", default=",".join(TARGETS), show_default=True,
              help="Targets, separated by commas.")  # fmt: skip
@click.option("--items", type=click.IntRange(16, 10_000_000),
              help="Conformant items a variant; a fifth as many of the other kinds. Default:"
              f" {RECORDED_ITEMS}, of today's sample {SAMPLED_ITEMS}.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option(
    "--device",
    default=",".join((*DEFAULT_DEVICES, *DEFAULT_QPUS)),
    show_default=True,
    help=f"Vulkan devices for glsl, {', '.join(QPUS)} for qpu, separated by commas; all.",
)
@click.option("--frame", is_flag=True,
              help="One batch a GPU variant with all items of a 1920x1088 frame.")  # fmt: skip
@click.option("--fault", default="", type=click.Choice(["", *drm_faults.FAULTS]), metavar="KIND",
              help=f"Fails drm-simulated's frames: {', '.join(drm_faults.FAULTS)}.")  # fmt: skip
@click.option("--layers", is_flag=True,
              help="Of glsl, under Khronos' validation layers, on lavapipe.")  # fmt: skip
@click.option("--sanitize", is_flag=True, help="Native builds with address and UB sanitizers.")
@click.option("--all", "every", is_flag=True,
              help="Without KERNELS, also what is on record as compared.")  # fmt: skip
@click.option("--record", is_flag=True,
              help="Write what passed to generated/records/; there is no sample then.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.pass_context
def command(
    context: click.Context, kernels: tuple[str, ...], target: str, items: int | None, seed: int,
    device: str, frame: bool, fault: str, layers: bool, sanitize: bool, every: bool, record: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Compares every variant of the KERNELS with the reference interpreter.

    Without KERNELS, of those that have no record of their code, and of a sample of the others,
    another one each day so that all have been; with --all, --frame or --device of all.

    Exits with 1 if a conformant item differs or any item writes outside its rectangle. A Vulkan
    device that is not here is skipped, said and counted; where nothing is left, exits with 3.
    """
    targets = chosen_targets(target)
    if frame and not set(targets) <= set(GPU_TARGETS):
        raise UserError("--frame is for GPU variants", "give --target glsl or qpu")
    entries = chosen(kernels)
    many = items or RECORDED_ITEMS
    if record and (sanitize or many < RECORDED_ITEMS):
        raise UserError(
            "--record needs a plain run",
            f"leave out --sanitize; --items at least {RECORDED_ITEMS}",
        )
    gpus, qpus = chosen_devices(device)
    if fault and (not frame or drm.SIMULATED not in qpus):
        raise UserError(
            "--fault is for frames on the simulated device",
            f"give --target qpu --device {drm.SIMULATED} --frame",
        )
    if frame and QPU in targets and not set(qpus) & set(drm.DEVICES):
        raise UserError(
            "of qpu, frames are for devices that the runtime leads to",
            f"give --device {' or '.join(drm.DEVICES)}",
        )
    wish = Wish(targets, many, seed, sanitize, gpus, qpus, frame, layers, fault)
    todo: list[tuple[Sequence[Entry], Wish]] = [(entries, wish)]
    usual = context.get_parameter_source("device") is ParameterSource.DEFAULT
    if not kernels and not every and not frame and usual:
        found = stale.choose(entries, require_generated(entries, repo_root() / "generated"))
        console.print(str(found), markup=False, soft_wrap=True)
        few = replace(wish, items=items or SAMPLED_ITEMS)
        todo = [(found.stale, wish), (() if record else found.sample, few)]
        if few == wish:  # by one run, as each builds what it needs
            todo = [((*todo[0][0], *todo[1][0]), wish)]
    # Without kernels, what other verbs build too is taken; sanitized, nothing else builds it.
    few_kernels = sum(len(some) for some, _ in todo) < len(load()) // 2
    apart = bool(kernels or sanitize) and few_kernels
    outcomes, skips = list[Outcome](), list[Skip]()
    # Of some kernels the code lies in one folder: another `check` waits.
    with native.alone(part.lock()) if apart else nullcontext():
        for some, wanted in todo:
            if some:
                done, skips = run_checks(some, wanted, quiet=as_json, apart=apart)
                outcomes += done
    if record:
        record_verified(outcomes)
    if as_json:
        results = [o.record() for o in outcomes]
        click.echo(json.dumps({"results": results, "skipped": [vars(s) for s in skips]}, indent=1))
    if any(some for some, _ in todo):
        report(outcomes, seed, table=not as_json, skips=skips)


def report(
    outcomes: list[Outcome], seed: int, *, table: bool = True, skips: Sequence[Skip] = ()
) -> None:
    """Prints the outcomes; raises UserError, after the first differences, if any is bad."""
    if table:
        _print(outcomes)
    for s in skips:
        tell(f"skipped: {s.name}: {s.reason}")
    if skips:
        console.print(f"{len(skips)} of the asked devices were skipped")
    if not outcomes:
        raise UserError("nothing was compared", "see what was skipped, or --help", EXIT_MISSING)
    bad = [o for o in outcomes if not o.good]
    for o in bad:
        for line in o.failures[:SHOWN_FAILURES]:
            tell(line)
        if o.conformant < o.wanted:
            tell(
                f"{o.variant} on {o.device}: only {o.conformant} conformant items of {o.wanted}"
                " were compared"
            )
        if o.target:
            tell(f"  replay: {replay_command(o, seed)}")
    if bad:
        raise UserError(f"{len(bad)} of {len(outcomes)} comparisons failed", exit_code=EXIT_FAILED)


def chosen_devices(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The Vulkan devices, and those for machine code, that are named."""
    names = [d for d in text.split(",") if d]
    qpus = [d for d in QPUS if d in names or "all" in names]
    gpus = tuple(d for d in names if d not in QPUS)
    try:
        spelled_out(gpus)
    except UserError as e:
        raise UserError(e.message, f"{e.hint}; of qpu {', '.join(QPUS)}") from None
    return gpus, tuple(qpus)


def chosen_targets(text: str, known: Sequence[str] = TARGETS) -> tuple[str, ...]:
    """The targets that are named. Raises UserError where that is none, or one is not known."""
    names = tuple(t.strip() for t in text.split(",") if t.strip())
    unknown = [t for t in names if t not in known]
    if unknown or not names:
        raise UserError(
            f"unknown target {', '.join(unknown) or text!r}", f"targets are {', '.join(known)}"
        )
    return names


def _print(outcomes: list[Outcome]) -> None:
    print_table(
        ("variant", "device", "items", "conformant", "mismatches", "out of bounds"),
        [
            (o.variant, o.device, o.items, o.conformant, o.mismatches, o.out_of_bounds)
            for o in outcomes
        ],
    )
    good = sum(o.good for o in outcomes)
    compared = sum(o.conformant for o in outcomes)
    excluded = sum(o.items - o.conformant for o in outcomes)
    print(
        f"{good} of {len(outcomes)} comparisons are bit-exact: {compared} conformant items;"
        f" {excluded} others were checked for memory safety only"
    )
