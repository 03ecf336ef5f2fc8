# SPDX-License-Identifier: BSD-2-Clause
"""Thousands of random programs on v3dv and on lavapipe, with each difference explained.

A difference is explained by known mistakes when the program without what provokes them agrees on
both drivers, and the driver that is not to blame computed the same before.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import say
from daedalus.v3d import comparison, vkrun
from daedalus.v3d.corpus import Program, compare, plans, random_program
from daedalus.v3d.corpus.known import Mistake, mistakes

PART = 250  # programs of which the drivers are started once
MOST_UNEXPLAINED = 0.01  # of the programs
_CASE = re.compile(r"^vkrun: case (\S+)$")


def folder() -> Path:
    """Where shaders, data and results of programs that differ lie."""
    return build_dir() / "v3dv" / "campaign"


@dataclass
class Observation:
    """How one program ran on both drivers."""

    reference: str  # vkrun's verdict and detail
    device: str
    failed_jobs: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    @property
    def symptoms(self) -> dict[str, str]:
        """What is wrong, in the words of `Mistake.symptoms`, with what is said of it."""
        found = {}
        if self.reference != "ok":
            found["reference"] = self.reference
        if self.device != "ok":
            found["refused"] = self.device
        if self.failed_jobs:
            found["job"] = "\n".join(self.failed_jobs)
        elif self.differences:
            found["words"] = "\n".join(self.differences)
        return found


@dataclass
class Result:
    """What came of a program that did not run alike; `mistakes` explain it."""

    name: str
    symptoms: dict[str, str]
    mistakes: tuple[str, ...] = ()


@dataclass
class Summary:
    """What came of a campaign."""

    first: int
    seeds: int = 0
    equal: int = 0
    families: dict[str, list[int]] = field(default_factory=dict)  # programs, equal ones
    results: list[Result] = field(default_factory=list)

    @property
    def unexplained(self) -> list[Result]:
        """Differences without an explanation."""
        return [r for r in self.results if not r.mistakes]

    @property
    def good(self) -> bool:
        """Whether something ran and hardly anything is unexplained."""
        return bool(self.seeds) and len(self.unexplained) <= MOST_UNEXPLAINED * self.seeds

    def add(self, programs: Sequence[Program], results: Sequence[Result]) -> None:
        """Counts programs of which those in `results` did not run alike."""
        differ = {r.name for r in results}
        for p in programs:
            counts = self.families.setdefault(p.name.partition("-")[2], [0, 0])
            counts[0] += 1
            counts[1] += p.name not in differ
        self.seeds += len(programs)
        self.equal += len(programs) - len(differ)
        self.results += results


class Drivers:
    """The two that are compared, and where their results lie."""

    def __init__(self, device: vkrun.Device, place: Path) -> None:
        self.device = device
        self.reference = vkrun.lavapipe()
        self.place = place

    def observe(self, programs: Sequence[Program]) -> dict[str, Observation]:
        """Runs programs on both at the same time."""
        plans.materialise(programs, self.place)
        with ThreadPoolExecutor(2) as pool:
            expected, found = pool.map(
                lambda d: comparison.run(d, programs, self.place, options=["--announce"]),
                (self.reference, self.device),
            )
        jobs = jobs_by_case(comparison.log_of(self.device, self.place).read_text())
        seen = {}
        for p in programs:
            reference, device = expected[p.name], found[p.name]
            o = Observation(_verdict(reference), _verdict(device), jobs.get(p.name, []))
            if o.reference == o.device == "ok":
                o.differences = self.differences((self.reference, p), (self.device, p))
            seen[p.name] = o
        return seen

    def differences(
        self, left: tuple[vkrun.Device, Program], right: tuple[vkrun.Device, Program]
    ) -> list[str]:
        """How two results differ, in the buffers that both programs have."""
        first, second = (
            compare.read_buffers(p, self.place / d.name / f"{p.name}.bin") for d, p in (left, right)
        )
        both = {name: words for name, words in second.items() if name in first}
        return [str(d) for d in compare.compare(right[1], first, both)]

    def forget(self, program: Program) -> None:
        """Removes the files of a program."""
        for place in (self.place, self.place / self.device.name, self.place / self.reference.name):
            for path in place.glob(f"{program.name}.*"):
                path.unlink()


def _verdict(outcome: vkrun.Outcome) -> str:
    return f"{outcome.verdict} {outcome.detail}".strip()


def jobs_by_case(said: str) -> dict[str, list[str]]:
    """The device's reports of failed jobs, by the case that vkrun had announced before."""
    found: dict[str, list[str]] = {}
    case = ""
    for line in said.splitlines():
        if begun := _CASE.match(line):
            case = begun[1]
        else:
            for report in comparison.failed_jobs(line):
                found.setdefault(case, []).append(report)
    return found


def explained(
    drivers: Drivers, programs: Iterable[Program], seen: dict[str, Observation]
) -> list[Result]:
    """What came of the programs that did not run alike."""
    known = mistakes()
    tries: list[tuple[Program, tuple[Mistake, ...], Program]] = []
    results = []
    for p in programs:
        symptoms = seen[p.name].symptoms
        if not symptoms:
            continue
        results.append(Result(p.name, symptoms))
        # What provokes two mistakes is taken out once.
        fitting = {m.corner: m for m in reversed(known) if m.corner in p.features}
        for k, chosen in enumerate(choices(list(fitting.values())[::-1])):
            if all(any(_shows(m, s, text) for m in chosen) for s, text in symptoms.items()):
                other = p
                for m in chosen:
                    other = m.rewritten(other)
                tries.append((p, chosen, replace(other, name=f"{p.name}-without-{k}")))
    again = drivers.observe([other for _, _, other in tries]) if tries else {}
    by_name = {r.name: r for r in results}
    for p, chosen, other in tries:
        result = by_name[p.name]
        if (
            not result.mistakes
            and not again[other.name].symptoms
            and _others_agree(drivers, p, chosen, other)
        ):
            result.mistakes = tuple(m.name for m in chosen)
    for p, _, other in tries:
        if by_name[p.name].mistakes:
            drivers.forget(other)
    return results


def choices(fitting: Sequence[Mistake]) -> Iterator[tuple[Mistake, ...]]:
    """Each by itself, any two, and all: the simplest explanation is found first."""
    yield from ((m,) for m in fitting)
    for k, m in enumerate(fitting):
        yield from ((m, n) for n in fitting[k + 1 :])
    if len(fitting) > 2:
        yield tuple(fitting)


def _shows(mistake: Mistake, symptom: str, text: str) -> bool:
    """Whether a mistake can show in that way."""
    return symptom in mistake.symptoms and (symptom == "words" or mistake.says in text)


def _others_agree(
    drivers: Drivers, program: Program, chosen: tuple[Mistake, ...], other: Program
) -> bool:
    """Whether the driver that is not to blame computed the same before as now."""
    blamed = {m.of for m in chosen}
    innocent = [
        d for d in (drivers.reference, drivers.device)
        if ("lavapipe" if d.choose == vkrun.LAVAPIPE else "v3dv") not in blamed
    ]  # fmt: skip
    return not any(drivers.differences((d, other), (d, program)) for d in innocent)


def run(
    device: vkrun.Device, first: int, count: int, *, keep: bool = False, at_once: int = 2
) -> Summary:
    """Runs the programs of `count` seeds; the summary so far is in `folder()` after each part.

    Parts run `at_once` at a time, each in a folder of its own.  Files of programs that ran alike
    are removed unless `keep`.
    """
    summary = Summary(first)
    seeds = range(first, first + count)
    parts = [seeds[k : k + PART] for k in range(0, count, PART)]
    vkrun.program(device.arch)
    folder().mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(at_once) as pool:
        for programs, results in pool.map(lambda part: _part(device, part, keep), parts):
            summary.add(programs, results)
            text = json.dumps(asdict(summary), indent=1)
            (folder() / f"summary-{first}.json").write_text(text + "\n")
            say(
                f"{summary.seeds} of {count}: {summary.equal} equal, {len(summary.results)} differ,"
                f" {len(summary.unexplained)} of them unexplained"
            )
    return summary


def _part(
    device: vkrun.Device, seeds: Sequence[int], keep: bool
) -> tuple[list[Program], list[Result]]:
    place = folder() / f"{seeds[0]}"
    place.mkdir(parents=True, exist_ok=True)
    drivers = Drivers(device, place)
    programs = [random_program(seed) for seed in seeds]
    seen = drivers.observe(programs)
    results = explained(drivers, programs, seen)
    for p in programs:
        if not keep and not seen[p.name].symptoms:
            drivers.forget(p)
    return programs, results
