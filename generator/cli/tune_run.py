# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus tune run`: the points of the space, and what they take on a device."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from daedalus.generator.base.console import console
from daedalus.generator.base.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_MISSING, UserError
from daedalus.generator.base.outputs import refuse_special
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import progress, say
from daedalus.generator.cli import tune_mixed, tune_print, tune_remote, tune_store
from daedalus.generator.compile.kernels import one
from daedalus.generator.compile.registry import Entry
from daedalus.generator.host import native
from daedalus.generator.measure.gpu.compare import usual
from daedalus.generator.options import TARGETS
from daedalus.generator.tuning import apply, engine_device, overnight
from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.hashes import Hashes
from daedalus.generator.tuning.model_device import ModelDevice
from daedalus.generator.tuning.overnight import Settings
from daedalus.generator.tuning.plan import groups_of, spaces_of
from daedalus.generator.tuning.point import COMPILERS
from daedalus.generator.tuning.run import Budget, Group, Outcome, Tuner
from daedalus.generator.tuning.task import Device

MODEL = "model"
_SECONDS = 30  # that --apply takes a kernel and target


@click.command("run")
@click.argument("kernels", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Print the points and what rejects others; no more.")
@click.option("--device", type=click.Choice([MODEL, *engine_device.KINDS]),
              help="Where points are done: modelled, or measured here, on the processor, the GPU or"
              " both (board). Default: board on arm64, else model.")  # fmt: skip
@click.option("--vulkan", default="", metavar="NAME", help="The Vulkan device, of those that"
              " `check --device` takes; default: the machine's GPU.")  # fmt: skip
@click.option("--target", "targets", multiple=True, type=click.Choice(TARGETS),
              help="Points of this target alone; may be repeated.")  # fmt: skip
@click.option("--quick", is_flag=True, help="Few points: what is on record and, of the CPU, what"
              " differs from it in one choice.")  # fmt: skip
@click.option("--exhaustive", is_flag=True, help="All points of large spaces, too.")
@click.option("--budget", default=0.0, metavar="SECONDS", type=click.FloatRange(0),
              help="Begin no point after so many seconds; M4 has the last fifth.")  # fmt: skip
@click.option("--points", default=0, metavar="N", type=click.IntRange(0),
              help="Do at most so many points.")  # fmt: skip
@click.option("--journal", "path", type=tune_store.FILE,
              help="Where results are kept, and known ones are read; default"
              " build/tune/journal.jsonl.")  # fmt: skip
@click.option(
    "--jobs",
    default=0,
    metavar="N",
    type=click.IntRange(0),
    help="Points side by side on the model; default: as many as there are cores.",
)
@click.option("--apply", "applies", is_flag=True,
              help="Put what was best on record, for gen to take; without --budget, in 30 s a"
              " kernel and target.")  # fmt: skip
@click.option("--forget", is_flag=True, help="Drop what --apply put on record, and no more.")
@tune_remote.options
@tune_mixed.options
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(
    kernels: tuple[str, ...], dry_run: bool, device: str | None, vulkan: str,
    targets: tuple[str, ...], quick: bool, exhaustive: bool, budget: float, points: int,
    path: Path | None, jobs: int, applies: bool, forget: bool, as_json: bool,
    **more: Any,
) -> None:  # fmt: skip
    """Tries the variants of the KERNELS (default: the usual ones of tools/bench/qpu.toml).

    Results are kept as they come; a run goes on where an earlier one ended. On a board, M4 follows
    where R does not decide. Exits with 1 if something computes what it must not, with 130 when
    interrupted.
    """
    tune_remote.check_options(click.get_current_context(), more["host"])
    mix = tune_mixed.Asked.taken(more)
    if applies and (dry_run or mix.pair):
        hint = "leave out --apply, or run the tuner"
        raise UserError("--apply records what a run finds: not with --dry-run or a pair", hint)
    if forget and (dry_run or applies or mix.pair):
        raise UserError(
            "--forget drops what is on record, and no more: not with --dry-run, --apply or a pair",
            "forget first, and run the tuner then",
        )
    if mix.pair and kernels:
        raise UserError(
            "KERNELS: not with --cpu-kernel and --qpu-kernel, which name what is done",
            "leave out one or the other",
        )
    entries = mix.entries if mix.pair else wanted(kernels)
    if applies or forget:
        _check_by_rule(entries)
    if forget:
        for e in entries:
            console.print(apply.forget(e), markup=False, soft_wrap=True)
        return
    path = path or tune_store.default_journal()
    refuse_special(path)
    if more["host"]:
        sys.exit(tune_remote.tune(entries, targets, path, budget, mix, quick=quick, **more))
    if dry_run:
        tune_print.spaces(spaces_of(entries, targets or TARGETS), as_json=as_json)
        return
    kind = device or ("board" if native.is_arm() else MODEL)
    if kind == MODEL:
        tune_mixed.check_measured(click.get_current_context())
    settings = mix.settings(Settings(items=more["items"]), quick=quick)
    if kind != MODEL:
        tune_mixed.check_cores(settings, os.sched_getaffinity(0), "this process")
    if mix.pair:
        sys.exit(tune_mixed.measure_pair(mix, kind, path, settings, vulkan, budget, quiet=as_json))
    own = ModelDevice.targets if kind == MODEL else engine_device.targets_of(kind)
    asked = [t for t in own if not targets or t in targets]
    if not asked:
        raise UserError(f"{kind} does nothing of that target", f"it does {', '.join(own)}")
    listed = ModelDevice.listed if kind == MODEL else ()
    compilers = COMPILERS if kind == MODEL else engine_device.compilers_here()
    without = [c for c in COMPILERS if c not in compilers]
    if without and any(t not in engine_device.targets_of("gpu") for t in asked):
        console.print(f"warning: {', '.join(without)} is not here: its points are left out")
    with progress(quiet=as_json):
        say("looking at the spaces")
        groups = groups_of(entries, spaces_of(entries, asked), quick=quick, exhaustive=exhaustive,
                           listed=listed, compilers=compilers)  # fmt: skip
        place: Device
        if kind == MODEL:
            place = ModelDevice(jobs)
        else:
            place = _engine(kind, entries, groups, path, vulkan, settings.items)
        absent = [t for t in asked if not place.is_here(t)]
        groups = [g for g in groups if g.target not in absent]
    if absent:
        what = f"nothing here runs {', '.join(absent)}"
        if not groups:
            raise UserError(what, "./daedalus doctor says what is missing", EXIT_MISSING)
        console.print(f"warning: {what}: these points are left out")
    gpu = engine_device.targets_of("gpu")
    mixed = more["mixed"] and kind == "board" and any(g.target in gpu for g in groups)
    until = time.monotonic() + budget if budget else 0.0
    seconds, _ = overnight.shares(budget, mixed=mixed)
    if applies and not budget:
        seconds = _SECONDS * len(entries) * len(asked)
    try:
        outcome = _run(place, groups, path, Budget(seconds, points), as_json=as_json)
    except KeyboardInterrupt:
        if applies:
            console.print("nothing was put on record")
        sys.exit(EXIT_INTERRUPTED)
    wrong = tune_print.outcome(outcome, path, as_json=as_json)
    for line in _applied(entries, outcome) if applies else ():
        console.print(line, markup=False, soft_wrap=True)
    status = 0
    if mixed and isinstance(place, engine_device.EngineDevice):
        try:
            status = tune_mixed.after(place, path, settings, until, quiet=as_json)
        except KeyboardInterrupt:
            sys.exit(EXIT_INTERRUPTED)
    sys.exit(EXIT_FAILED if wrong else status)


def _run(
    place: Device, groups: Sequence[Group], path: Path, budget: Budget, *, as_json: bool
) -> Outcome:  # fmt: skip
    """Does the points; prints what was found where it is interrupted."""
    hashes = Hashes(build_dir() / "tune" / "hashes")
    with progress(sum(g.search.total for g in groups), quiet=as_json) as shown:

        def watch(result: Result, known: bool) -> None:
            if not known:
                say(tune_print.told(result))
            shown.advance(1)

        tuner = Tuner(place, groups, path, hashes, watch)
        tune_store.tell_problems(tuner.outcome.problems)
        try:
            tuner.run(budget, " ".join(["tune", *sys.argv[2:]]))
        except KeyboardInterrupt:
            tune_print.outcome(tuner.outcome, path, as_json=as_json)
            raise
    return tuner.outcome


def _applied(entries: Sequence[Entry], outcome: Outcome) -> list[str]:
    """Records the best of each kernel, target and class."""
    found: dict[str, dict[tuple[str, str], apply.Winner]] = {e.kernel.id: {} for e in entries}
    for n, group in enumerate(outcome.groups):
        won = apply.winner(outcome.results[n])
        if won is not None:
            found[group.kernel][group.target, group.class_name] = won
    return [line for e in entries for line in apply.apply(e, found[e.kernel.id])]


def _check_by_rule(entries: Sequence[Entry]) -> None:
    listed = [e.kernel.id for e in entries if not e.by_rule]
    if len(listed) == len(entries):
        raise UserError(
            f"options.toml lists the variants of {', '.join(listed)}: rules do not choose them",
            "name a kernel that it does not list, or edit it",
        )


def _engine(
    kind: str, entries: Sequence[Entry], groups: Sequence[Group], path: Path, vulkan: str,
    items: int,
) -> Device:  # fmt: skip
    listed = {
        e.kernel.id: [c.options for g in groups if g.kernel == e.kernel.id for c in g.search.reach]
        for e in entries
    }
    wanted = [(e, listed[e.kernel.id]) for e in entries]
    options = engine_device.Options(vulkan, items or engine_device.ITEMS)
    return engine_device.EngineDevice(kind, wanted, path, options, say)


def wanted(kernels: Sequence[str]) -> list[Entry]:
    """The named kernels, or the usual ones."""
    names = kernels or [w.kernel for w in usual()]
    return list({e.kernel.id: e for e in map(one, names)}.values())
