# SPDX-License-Identifier: BSD-2-Clause
"""What a board is to measure so that a recipe can be made: M2 and M3 of all points, then M4 where R
does not decide."""

from collections.abc import Sequence
from dataclasses import dataclass

from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.point import parse_point
from daedalus.generator.tuning.recipe import Recipe
from daedalus.generator.tuning.remote import RUN, Job
from daedalus.generator.tuning.rules import Decision


@dataclass(frozen=True)
class Settings:
    """How points are measured; 0: as the engine does.

    items          a sample
    samples        of a point at least
    point_seconds  after which a point with so many is taken as it is
    budget         seconds, after which no more points are begun
    mixed_seconds  of each part of M4
    """

    items: int = 0
    samples: int = 0
    point_seconds: float = 0
    budget: float = 0
    mixed_seconds: float = 0

    def words(self) -> list[str]:
        named = {
            "--items": self.items, "--samples": self.samples,
            "--point-seconds": self.point_seconds,
        }  # fmt: skip
        return [w for name, value in named.items() if value for w in (name, f"{value:g}")]


def alone(settings: Settings) -> list[Job]:
    """M2 and M3, of the points in the run's file."""
    budget = ["--budget", f"{settings.budget:g}"] if settings.budget else []
    return [Job(("--points", f"{RUN}/points", *settings.words(), *budget))]


def together(recipe: Recipe, settings: Settings, cores: int) -> list[Job]:
    """M4 of what is below GREEN, beside the kernel that is surest to stay on the CPU.

    All cores but one run that kernel, the last one drives the QPU.
    """
    jobs = []
    for d in recipe.decisions:
        if d.qpu is None or d.r is None or d.r.low >= 1 or d.qpu.modelled:
            continue
        beside = _beside(recipe.decisions, d)
        words = ["--scenario", "m4", "--cpu-kernel", beside.point, "--qpu-kernel", d.qpu.point]
        words += ["--neon-threads", str(max(cores - 1, 1)), "--qpu-core", str(cores - 1)]
        words += ["--duration", f"{settings.mixed_seconds:g}"] if settings.mixed_seconds else []
        words += ["--items", str(settings.items)] if settings.items else []
        jobs.append(Job(tuple(words)))
    return jobs


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
