# SPDX-License-Identifier: BSD-2-Clause
"""Thousands of random programs on v3dv and on lavapipe, with each difference explained.

A difference is explained by known mistakes when the program without what provokes them agrees on
both drivers, and the driver that is not to blame computed the same before.
"""

import itertools
import json
import re
from collections.abc import Iterable, Sequence
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
        # lavapipe compiles for vectors of 128 bits in a third of the time.
        self.narrow = vkrun.lavapipe(128)
        self.wide = vkrun.lavapipe(512)  # has subgroups of 16
        self.place = place

    def reference(self, program: Program) -> vkrun.Device:
        """What a program is compared with."""
        return self.wide if program.subgroup else self.narrow

    def observe(self, programs: Sequence[Program]) -> dict[str, Observation]:
        """Runs programs on both at the same time."""
        # Once for all: a driver that has started would find a file empty that is written again.
        texts = plans.materialise(programs, self.place)
        work: list[tuple[vkrun.Device, Sequence[Program]]] = [
            (self.device, programs),
            (self.narrow, [p for p in programs if not p.subgroup]),
            (self.wide, [p for p in programs if p.subgroup]),
        ]
        with ThreadPoolExecutor(len(work)) as pool:
            found, narrow, wide = pool.map(lambda w: self._run(w[0], w[1], texts), work)
        jobs = jobs_by_case(comparison.log_of(self.device, self.place).read_text())
        seen = {}
        for p in programs:
            expected = (wide if p.subgroup else narrow)[p.name]
            o = Observation(_verdict(expected), _verdict(found[p.name]), jobs.get(p.name, []))
            if o.reference == o.device == "ok":
                o.differences = self.differences((self.reference(p), p), (self.device, p))
            seen[p.name] = o
        return seen

    def _run(
        self, device: vkrun.Device, programs: Sequence[Program], texts: dict[str, str]
    ) -> dict[str, vkrun.Outcome]:
        if not programs:
            return {}
        own = {p.name: texts[p.name] for p in programs}
        return comparison.run_written(device, own, self.place, options=["--announce"])

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
        folders = (self.place / d.name for d in (self.device, self.reference(program)))
        for place in (self.place, *folders):
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
    """What came of the programs that did not run alike.

    One mistake is tried by itself before any two, and these before all: the simplest explanation
    is found.
    """
    known = mistakes()
    open_cases = [(p, Result(p.name, seen[p.name].symptoms)) for p in programs]
    open_cases = [(p, result) for p, result in open_cases if result.symptoms]
    results = [result for _, result in open_cases]
    for size in (1, 2, len(known)):
        tries = [
            (p, result, chosen, rewritten(p, chosen, f"{p.name}-without-{size}-{k}"))
            for p, result in open_cases
            for k, chosen in enumerate(choices(_fitting(known, p), size))
            if all(any(_shows(m, s, text) for m in chosen) for s, text in result.symptoms.items())
        ]
        again = drivers.observe([other for *_, other in tries]) if tries else {}
        for p, result, chosen, other in tries:
            agrees = not again[other.name].symptoms and _others_agree(drivers, p, chosen, other)
            if agrees and not result.mistakes:
                result.mistakes = tuple(m.name for m in chosen)
        for _, result, _, other in tries:
            if result.mistakes:
                drivers.forget(other)
        open_cases = [(p, result) for p, result in open_cases if not result.mistakes]
    return results


def _fitting(known: Sequence[Mistake], program: Program) -> list[Mistake]:
    """Those that the program may provoke; what provokes two is taken out once."""
    found: dict[str, Mistake] = {}
    for m in known:
        if m.corner in program.features:
            found.setdefault(m.corner, m)
    return list(found.values())


def choices(fitting: Sequence[Mistake], size: int) -> list[tuple[Mistake, ...]]:
    """All choices of one or of two; for more, that of all."""
    if size <= 2:
        return list(itertools.combinations(fitting, size))
    return [tuple(fitting)] if len(fitting) > 2 else []


def rewritten(program: Program, chosen: Sequence[Mistake], name: str) -> Program:
    """A program without what provokes these mistakes."""
    for m in chosen:
        program = m.rewritten(program)
    return replace(program, name=name)


def _shows(mistake: Mistake, symptom: str, text: str) -> bool:
    """Whether a mistake can show in that way."""
    return symptom in mistake.symptoms and (symptom == "words" or mistake.says in text)


def _others_agree(
    drivers: Drivers, program: Program, chosen: tuple[Mistake, ...], other: Program
) -> bool:
    """Whether the driver that is not to blame computed the same before as now."""
    blamed = {m.of for m in chosen}
    innocent = [
        devices
        for name, devices in (
            ("v3dv", (drivers.device, drivers.device)),
            ("lavapipe", (drivers.reference(other), drivers.reference(program))),
        )
        if name not in blamed
    ]
    return not any(drivers.differences((d, other), (e, program)) for d, e in innocent)


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
