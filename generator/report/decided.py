# SPDX-License-Identifier: BSD-2-Clause
"""Where kernels belong: R and bands by the recipe's rules, CPU and QPU at once, a recipe file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from daedalus.generator.report.sources import Sources
from daedalus.generator.tuning.best import best, timed
from daedalus.generator.tuning.compare import Side
from daedalus.generator.tuning.entries import OK, Entry, Mixed
from daedalus.generator.tuning.journal import latest
from daedalus.generator.tuning.point import Point, parse_point
from daedalus.generator.tuning.recipe import Recipe, library_of, make, with_gpu
from daedalus.generator.tuning.rules import Judged, judge_mixed


def recipe_of(
    side: Side, every: Iterable[Side], entries: Sequence[Entry], sources: Sources
) -> Recipe:
    """What `daedalus recipe` would decide of a machine's results; told of the report's kernels.

    All kernels have their say about the route. `every`: all sides of the journals.
    """
    library = library_of(sources.manifest)
    mixed = [e for e in entries if isinstance(e, Mixed)]
    whole = make(with_gpu(side, every, mixed, library), mixed, library)
    kernels = sources.kernels
    return replace(
        whole,
        decisions=tuple(d for d in whole.decisions if d.kernel in kernels),
        undecided={p: why for p, why in whole.undecided.items() if p[0] in kernels},
        faster={p: r for p, r in whole.faster.items() if p[0] in kernels},
        foreign=tuple(p for p in whole.foreign if parse_point(p).kernel in kernels),
    )


@dataclass(frozen=True)
class Stack:
    """CPU and QPU at once, against the CPU alone.

    judged  what the rules say; None where one core's time of the QPU's kernel is not known, or the
            line has no figures
    """

    line: Mixed
    cpu: Point
    qpu: Point
    judged: Judged | None

    @property
    def added(self) -> float | None:
        """What the QPU adds, as a share of the CPU alone."""
        return self.judged.gain - self.judged.kept if self.judged else None

    @property
    def disturbed(self) -> bool:
        """Whether the rules leave it out."""
        return self.judged is not None and self.judged.disturbed


def stacks(side: Side, entries: Sequence[Entry], sources: Sources) -> tuple[Stack, ...]:
    """The lines of M4 of a machine, the last of each key."""
    own = [e for e in entries if isinstance(e, Mixed) and e.fingerprint == side.fingerprint]
    found = []
    for m in latest(own):
        cpu, qpu = parse_point(m.cpu_point), parse_point(m.qpu_point)
        if {cpu.kernel, qpu.kernel} & set(sources.kernels):
            found.append(Stack(m, cpu, qpu, _judged(m, side, qpu)))
    return tuple(sorted(found, key=lambda s: (s.qpu.kernel, s.cpu.kernel, s.line.threads)))


def _judged(line: Mixed, side: Side, qpu: Point) -> Judged | None:
    core = _core(side, qpu)
    if line.verdict != OK or core is None or not line.cpu_alone or not line.cpu_time_alone:
        return None
    return judge_mixed(line, core)


def _core(side: Side, qpu: Point) -> float | None:
    """Items a second of a kernel's class on one core, by the best that was measured."""
    points = [(r, parse_point(r.point)) for r in side.results.values() if timed(r)]
    same = [r for r, p in points
            if p.compiler and (p.kernel, p.item_class) == (qpu.kernel, qpu.item_class)]  # fmt: skip
    if not same:
        return None
    median = best(same).taken.median
    return 1e9 / median if median else None


@dataclass(frozen=True)
class RecipeFile:
    """A recipe file as it stands: what holds of it is for the library's parser to say.

    lines   without those of comments, which hold the measurements
    of_this_code  it has the line that names the generated code at hand
    """

    lines: tuple[str, ...]
    of_this_code: bool


def recipe_file(lines: Sequence[str], generator: str) -> RecipeFile:
    """Of a file's lines; `generator`: hash of the generated code at hand."""
    told = tuple(line for line in lines if line.strip() and not line.startswith("#"))
    return RecipeFile(told, f"generator {generator}" in told)
