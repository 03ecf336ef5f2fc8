# SPDX-License-Identifier: BSD-2-Clause
"""What a board is to measure so that a recipe can be made: M2 and M3 of all points, then M4 where R
does not decide."""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.point import parse_point
from daedalus.generator.tuning.recipe import Recipe
from daedalus.generator.tuning.remote import RUN, Job
from daedalus.generator.tuning.rules import Decision

MIXED_SHARE = 0.2  # of a budget, that M4 has where it follows


@dataclass(frozen=True)
class Settings:
    """How points are measured; 0: as the engine does.

    items          a sample
    samples        of a point at least
    point_seconds  after which a point with so many is taken as it is
    budget         seconds, after which no more points are begun
    mixed_seconds  of both at once in M4
    threads        of M4's CPU side; 0: 1 to 4, as far as there are cores
    qpu_core       where M4's QPU is driven from; -1: as the engine does
    """

    items: int = 0
    samples: int = 0
    point_seconds: float = 0
    budget: float = 0
    mixed_seconds: float = 0
    threads: int = 0
    qpu_core: int = -1

    def words(self) -> list[str]:
        named = {
            "--items": self.items, "--samples": self.samples,
            "--point-seconds": self.point_seconds,
        }  # fmt: skip
        return [w for name, value in named.items() if value for w in (name, f"{value:g}")]

    def mixed_words(self) -> list[str]:
        """Of M4, which has as many samples as the engine takes at least."""
        named = {
            "--items": self.items, "--neon-threads": self.threads,
            "--duration": self.mixed_seconds,
        }  # fmt: skip
        words = [w for name, value in named.items() if value for w in (name, f"{value:g}")]
        return words + (["--qpu-core", str(self.qpu_core)] if self.qpu_core >= 0 else [])


def shares(budget: float, *, mixed: bool) -> tuple[float, float]:
    """Seconds of a budget for M2 and M3, and for M4 where that follows."""
    return (budget * (1 - MIXED_SHARE), budget * MIXED_SHARE) if mixed else (budget, 0.0)


def alone(settings: Settings, *, mixed: bool) -> list[Job]:
    """M2 and M3, of the points in the run's file; `mixed`: M4 follows."""
    job = Job(("--points", f"{RUN}/points", *settings.words()))
    return bounded([job], shares(settings.budget, mixed=mixed)[0])


def bounded(jobs: Sequence[Job], budget: float) -> list[Job]:
    """Jobs with equal parts of so many seconds, 0: no end; not with what is left at some moment,
    as the same command, given again, is to ask for the same."""
    words = ("--budget", f"{budget / len(jobs):g}") if budget and jobs else ()
    return [Job((*job.words, *words)) for job in jobs]


def pair(cpu: str, qpu: str, settings: Settings, instead: str = "") -> Job:
    """M4 of two kernels or points; `instead`: the point that does the QPU's items on the CPU."""
    words = ["--scenario", "m4", "--cpu-kernel", cpu, "--qpu-kernel", qpu]
    words += ["--cpu-instead", instead] if instead else []
    return Job((*words, *settings.mixed_words()))


def together(
    recipe: Recipe, settings: Settings, variants: Container[str] | None = None
) -> list[Job]:
    """M4 of what is below GREEN: beside the kernel that is surest to stay on the CPU, then beside
    the same kernel.

    `variants`: that the program there has; None: all.
    """
    decisions = [
        d for d in recipe.decisions
        if all(_has(variants, r) for r in (d.cpu, d.qpu) if r is not None)
    ]  # fmt: skip
    jobs = []
    for d in decisions:
        if d.qpu is None or d.r is None or d.r.low >= 1 or d.qpu.modelled:
            continue
        besides = dict.fromkeys((_beside(decisions, d).point, d.cpu.point))
        jobs += [pair(cpu, d.qpu.point, settings, d.cpu.point) for cpu in besides]
    return jobs


def _has(variants: Container[str] | None, result: Result) -> bool:
    return variants is None or parse_point(result.point).variant in variants


def _beside(decisions: Sequence[Decision], d: Decision) -> Result:
    """The CPU's best point of another kernel, of the same decoder where there is one: that with
    the lowest R; of the same kernel where it is the only one."""

    def preference(other: Decision) -> tuple[bool, bool, bool, float]:
        same_family = other.kernel.split("_")[0] == d.kernel.split("_")[0]
        r = other.r.mid if other.r else 0.0
        return other.kernel == d.kernel, not same_family, other.item_class != "full", r

    return min(decisions, key=preference).cpu


def wanted_points(
    listed: Sequence[str], kernels: Sequence[str], targets: Sequence[str]
) -> list[str]:
    """The points of these kernels and targets; of all targets where none is named."""
    found = []
    for text in listed:
        point = parse_point(text)
        if point.kernel in kernels and (not targets or point.target in targets):
            found.append(text)
    return found
