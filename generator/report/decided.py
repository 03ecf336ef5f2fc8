# SPDX-License-Identifier: BSD-2-Clause
"""Where kernels belong: R and bands by the recipe's rules, CPU and QPU at once, a recipe file."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from daedalus.generator.report.sources import Sources
from daedalus.generator.tuning.best import best, timed
from daedalus.generator.tuning.compare import Side
from daedalus.generator.tuning.entries import OK, Entry, Mixed
from daedalus.generator.tuning.point import Point, parse_point
from daedalus.generator.tuning.recipe import Recipe, library_of, make, with_gpu
from daedalus.generator.tuning.rules import Judged, judge_mixed


def recipe_of(
    side: Side, every: Iterable[Side], entries: Sequence[Entry], sources: Sources
) -> Recipe:
    """What `daedalus recipe` would decide of a machine's results, for the kernels of the report.

    `every`: all sides of the journals.
    """
    library = library_of(sources.manifest)
    mixed = [e for e in entries if isinstance(e, Mixed)]
    whole = with_gpu(side, every, mixed)
    kept = {k: r for k, r in whole.results.items()
            if parse_point(r.point).kernel in sources.kernels}  # fmt: skip
    return make(replace(whole, results=kept), mixed, library)


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
    last: dict[str, Mixed] = {}
    for e in entries:
        if isinstance(e, Mixed) and e.fingerprint == side.fingerprint:
            have = last.get(e.key)
            if have is None or e.when >= have.when:
                last[e.key] = e
    found = []
    for m in last.values():
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


# A record of a recipe file. The library's parser (runtime/core/recipe_text.c) is the one that
# decides what holds; this one only tells what a line says.
_RECORD = re.compile(
    r"(?P<word>choose|other)[ \t]+(?P<kernel>\S+)[ \t]+(?P<item_class>\S+)[ \t]+"
    r"(?P<substrate>cpu|qpu)[ \t]+(?P<variant>\S+)[ \t]+(?P<route>\S+)[ \t]+(?P<workgroup>\d+)"
    r"[ \t]*;[ \t]*(?P<reason>.*)"
)


@dataclass(frozen=True)
class Record:
    """A `choose` or `other` of a recipe file."""

    word: str
    kernel: str
    item_class: str
    substrate: str
    variant: str
    route: str
    workgroup: int
    reason: str


@dataclass(frozen=True)
class RecipeFile:
    """What a recipe file says. odd: numbers of lines that are none of a recipe's."""

    generator: str
    fingerprint: str
    records: tuple[Record, ...]
    odd: tuple[int, ...]


def recipe_file(lines: Sequence[str]) -> RecipeFile:
    """Of its lines, without what is in comments."""
    head = {"daedalus-recipe": "", "generator": "", "fingerprint": ""}
    records, odd = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        match = _RECORD.fullmatch(line)
        if match:
            records.append(
                Record(
                    match["word"], match["kernel"], match["item_class"], match["substrate"],
                    match["variant"], match["route"], int(match["workgroup"]), match["reason"],
                )
            )  # fmt: skip
        elif word in head:
            head[word] = rest.strip()
        else:
            odd.append(number)
    return RecipeFile(head["generator"], head["fingerprint"], tuple(records), tuple(odd))
