# SPDX-License-Identifier: BSD-2-Clause
"""M4 of `daedalus tune`: CPU and QPU at work at once, on this machine or, by --host, another."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.progress import progress, say
from daedalus.generator.cli.recipe import generated_library
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.tuning import compare, engine_device, journal, overnight, recipe
from daedalus.generator.tuning.engine_device import EngineDevice
from daedalus.generator.tuning.entries import Mixed, Run
from daedalus.generator.tuning.names import named
from daedalus.generator.tuning.overnight import Settings
from daedalus.generator.tuning.point import parse_point
from daedalus.generator.tuning.remote import Job
from daedalus.generator.tuning.space import recorded

F = TypeVar("F", bound=Callable[..., Any])

QUICK = 1.0  # seconds of both at once in a quick run


@dataclass(frozen=True)
class Asked:
    """What the options say of M4; the members are the options' parameters.

    cpu_kernel, qpu_kernel  the one pair to measure; "" for both: what the recipe's rules need
    neon_threads            0: 1 to 4, as far as there are cores
    qpu_core                -1: 3, or the last core there is
    duration                seconds of both at once; 0: as the engine does
    """

    cpu_kernel: str = ""
    qpu_kernel: str = ""
    neon_threads: int = 0
    qpu_core: int = -1
    duration: float = 0

    @classmethod
    def taken(cls, parameters: dict[str, Any]) -> "Asked":
        """Takes its own out of a command's parameters. Raises UserError where they disagree."""
        asked = cls(**{name: parameters.pop(name) for name in cls.__dataclass_fields__})
        if bool(asked.cpu_kernel) != bool(asked.qpu_kernel):
            raise UserError(
                "--cpu-kernel and --qpu-kernel go together",
                "give both, or none: then tune measures what the recipe's rules need",
            )
        return asked

    @property
    def pair(self) -> bool:
        return bool(self.cpu_kernel)

    def settings(self, settings: Settings, *, quick: bool) -> Settings:
        """With what M4 adds to them."""
        seconds = self.duration or (QUICK if quick else 0)
        return replace(
            settings, mixed_seconds=seconds, threads=self.neon_threads, qpu_core=self.qpu_core
        )

    def job(self, settings: Settings) -> Job:
        """The pair's."""
        return overnight.pair(_full(self.cpu_kernel), _full(self.qpu_kernel), settings)

    @property
    def entries(self) -> list[Entry]:
        """The pair's kernels, each once."""
        found = (_entry(_full(name)) for name in (self.cpu_kernel, self.qpu_kernel))
        return list({e.kernel.id: e for e in found}.values())


def options(command: F) -> F:
    """Adds the options of M4 to a command."""
    all_of_them = (
        click.option("--mixed/--no-mixed", default=True,
                     help="M4, CPU and QPU at once, where R does not decide: on a board, and with"
                     " --host."),
        click.option("--cpu-kernel", default="", metavar="KERNEL",
                     help="M4 of one pair, and nothing else: the CPU's; an id, a short name or"
                     " a point."),
        click.option("--qpu-kernel", default="", metavar="KERNEL",
                     help="M4 of one pair: the QPU's."),
        click.option("--neon-threads", default=0, metavar="N", type=click.IntRange(0, 64),
                     show_default="1 to 4, as far as there are cores",
                     help="M4: threads that run the CPU's kernel."),
        click.option("--qpu-core", default=-1, metavar="N", type=click.IntRange(-1, 1023),
                     show_default="3, or the last", help="M4: where the QPU is driven from."),
        click.option("--duration", default=0.0, metavar="SECONDS",
                     type=click.FloatRange(0), show_default="6",
                     help="M4: of both at work at once."),
    )  # fmt: skip
    for option in reversed(all_of_them):
        command = option(command)
    return command


_MEASURED = ("items", "mixed", *Asked.__dataclass_fields__)


def options_given(context: click.Context, among: Collection[str]) -> list[str]:
    """What was given of some parameters, as a user calls them."""
    return [
        "/".join([*p.opts, *p.secondary_opts])
        for p in context.command.params
        if p.name in among and context.get_parameter_source(p.name) is not ParameterSource.DEFAULT
    ]


def check_measured(context: click.Context) -> None:
    """Raises UserError where options were given that a model has nothing of."""
    if given := options_given(context, _MEASURED):
        raise UserError(
            f"{', '.join(given)}: only where points are measured",
            "give --device board, cpu or gpu, or --host USER@HOST",
        )


def check_cores(settings: Settings, cores: Collection[int], place: str) -> None:
    """Raises UserError where M4 is asked for with cores that the place has not."""
    hint = "name fewer threads or another core, or leave it out"
    if settings.threads > len(cores):
        raise UserError(f"--neon-threads {settings.threads}: {place} has {len(cores)} cores", hint)
    if settings.qpu_core >= 0 and settings.qpu_core not in cores:
        numbers = ", ".join(map(str, sorted(cores)))
        raise UserError(f"--qpu-core {settings.qpu_core}: {place} has cores {numbers}", hint)


def told(line: Mixed) -> str:
    """A line of M4, for people."""
    if line.verdict != "ok":
        return f"{line.scenario}: {line.verdict}: {line.reason}"
    return (
        f"{line.scenario}: CPU {line.cpu_with:.3g} of {line.cpu_alone:.3g} items/s, "
        f"QPU {line.qpu_with:.3g} of {line.qpu_alone:.3g}; CPU time {line.cpu_time:.3g} s of "
        f"{line.cpu_time_alone:.3g}"
    )


# ------------------------------------------------------------------ on this machine


def after(place: EngineDevice, path: Path, settings: Settings, until: float, *, quiet: bool) -> int:
    """M4 of what the points measured here leave open; the worst exit status.

    until  of the monotonic clock, after which no more is begun; 0: no end
    """
    jobs = overnight.together(_recipe(place, path), settings, place.variants)
    if jobs:
        say(f"M4 of {len(jobs)} pairs of kernels that R does not decide about")
    return _run(place, path, jobs, until, quiet=quiet)


def measure_pair(
    asked: Asked, kind: str, path: Path, settings: Settings, vulkan: str, budget: float,
    *, quiet: bool,
) -> int:  # fmt: skip
    """M4 of the pair that is asked for, here; the exit status."""
    targets = engine_device.targets_of("board")
    wanted = [
        (e, list(dict.fromkeys(c.options for t in targets for c in recorded(e, t))))
        for e in asked.entries
    ]
    until = time.monotonic() + budget if budget else 0.0
    options = engine_device.Options(vulkan, settings.items or engine_device.ITEMS)
    with progress(quiet=quiet):
        place = EngineDevice(kind, wanted, path, options, say, folder="m4", compilers=("gcc",))
        if not any(place.is_here(t) for t in engine_device.targets_of("gpu")):
            raise UserError(
                "nothing here runs GPU variants: M4 needs a GPU",
                "./daedalus doctor says what is missing", EXIT_MISSING,
            )  # fmt: skip
    return _run(place, path, [asked.job(settings)], until, quiet=quiet)


def _recipe(place: EngineDevice, path: Path) -> recipe.Recipe:
    """Of what the journal has of this machine, by the compiler that libraries are built with."""
    entries = journal.read(path).entries
    ours = place.fingerprint("gcc").id
    side = compare.sides(entries).get(ours) or compare.Side(ours, None, {})
    return recipe.make(side, [e for e in entries if isinstance(e, Mixed)], generated_library())


def _run(
    place: EngineDevice, path: Path, jobs: Sequence[Job], until: float, *, quiet: bool
) -> int:  # fmt: skip
    before = len(journal.read(path).entries)
    worst = begun = 0
    with progress(len(jobs), quiet=quiet) as shown:
        for job in jobs:
            left = until - time.monotonic() if until else 0.0
            if until and left <= 0:
                break
            worst = max(worst, place.mixed(job.words, left))
            begun += 1
            shown.advance(1)
    fresh = journal.read(path).entries[before:]
    if not quiet:
        for entry in fresh:
            if isinstance(entry, Mixed):
                click.echo(told(entry))
    cut = sum(isinstance(e, Run) and e.ended == "budget" for e in fresh)
    if begun < len(jobs) or cut:
        tell(
            f"the budget ended M4: of {len(jobs)} pairs {len(jobs) - begun} were not begun, {cut}"
            " not finished"
        )
    return worst


# ------------------------------------------------------------------ names


def _full(name: str) -> str:
    """An id, or the point as it is."""
    if "/" in name:
        return name
    ids = {n: e.kernel.id for e in load() for n in (e.kernel.id, *e.kernel.aliases)}
    try:
        return named(name, ids)
    except ValueError as e:
        raise UserError(str(e), "name one: ./daedalus list has all kernels") from None


def _entry(name: str) -> Entry:
    """Of an id or a point."""
    try:
        entry = find(load(), parse_point(name).kernel if "/" in name else name)
    except ValueError as e:
        raise UserError(str(e)) from None
    if entry is None:
        raise UserError(f"{name}: there is no such kernel", "./daedalus list has all kernels")
    return entry
