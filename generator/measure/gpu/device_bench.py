# SPDX-License-Identifier: BSD-2-Clause
"""How fast the toolkit is, beside the bars that this project set itself.

All is measured several times, in turn, so that a machine that others load for a while does not
favour anything; figures are medians. Processor time stands beside wall time for the same reason.
"""

import json
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.host import native
from daedalus.generator.measure.gpu import plane
from daedalus.v3d import tools, vkrun

LOOPS_AT_LEAST = 60.0  # million instructions of 16 lanes a second, of ALU loops, not strict
STRICT_AT_MOST = 4.0  # times as long as without
TIMED_AT_MOST = 3.0  # times as long as without
PLANE_AT_MOST_MS = 200.0
EMPTY_AT_MOST_MS = 0.3
_LOOKUPS = ("load", "store")  # words in the names of programs that are no ALU loops
_EMPTY_JOBS = 1000  # a round
# Name, then millions of instructions a second: plain, strict, timed.
LINE = re.compile(r"^(\S.*?) +([\d.]+) +([\d.]+) +([\d.]+)$", re.MULTILINE)
_EMPTY = re.compile(r"median ([\d.]+) us.* CPU ([\d.]+) us")


@dataclass(frozen=True)
class Figure:
    """A measured quantity: medians over the rounds.

    least, most  of the rounds
    cpu          processor time in the unit of the value, where value is wall time
    bar          what it is to be at most, or at least; None: it has none
    """

    what: str
    value: float
    unit: str
    least: float
    most: float
    cpu: float | None = None
    bar: float | None = None
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without one."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.at_least else self.value <= self.bar


@dataclass(frozen=True)
class Result:
    """The figures, and what the plane's job was."""

    figures: list[Figure]
    instructions: int  # executed by the simulator
    code: dict[str, str]  # what the driver says of the program


class _Samples:
    """What was measured, by name, in rounds."""

    def __init__(self) -> None:
        self.wall: dict[str, list[float]] = {}
        self.cpu: dict[str, list[float]] = {}

    def add(self, name: str, wall: float, cpu: float | None = None) -> None:
        self.wall.setdefault(name, []).append(wall)
        if cpu is not None:
            self.cpu.setdefault(name, []).append(cpu)

    def figure(
        self, name: str, unit: str, bar: float | None = None, *, at_least: bool = False
    ) -> Figure:
        values = self.wall[name]
        cpu = statistics.median(self.cpu[name]) if name in self.cpu else None
        middle = statistics.median(values)
        return Figure(name, middle, unit, min(values), max(values), cpu, bar, at_least)


def measure(rounds: int, advance: Callable[[int], None]) -> Result:
    """Measures everything, `rounds` times; advance(1) is called after each round.

    Raises UserError when a result is wrong: then no time counts.
    """
    folder = build_dir() / "v3d-bench"
    folder.mkdir(parents=True, exist_ok=True)
    loops = native.build_library("host", targets=("daedalus_v3d_bench_simulator",))
    program = loops / "tests" / "c" / "v3d" / "daedalus_v3d_bench_simulator"
    jobs = Jobs(folder / "jobs.jsonl")
    plain, strict = (vkrun.v3dv("host", strict=s, jobs=jobs.path) for s in (False, True))
    empty = _empty_jobs(jobs.path)
    say("making blocks")
    work = plane.make(folder)
    say("checking on lavapipe")
    lavapipe = vkrun.lavapipe()
    _run_plane(work, lavapipe)
    samples, names, instructions = _Samples(), list[str](), set[int]()
    outcome = vkrun.Outcome("")
    for i in range(rounds):
        say(f"round {i + 1} of {rounds}")
        names = _loops(program, samples)
        for device, name in ((plain, "plane"), (strict, "plane, strict")):
            outcome = _run_plane(work, device)
            done = jobs.taken(1)
            samples.add(name, outcome.microseconds / 1e3, done.cpu_us / 1e3)
            instructions.add(done.instructions)
        for name, argv in empty:
            samples.add(name, *_run_empty(argv))
            jobs.taken(_EMPTY_JOBS)
        advance(1)
    if len(instructions) != 1:
        raise UserError(f"the plane's job ran {sorted(instructions)} instructions", "",
                        EXIT_FAILED)  # fmt: skip
    code = outcome.statistics.get("p", {})
    return Result(_figures(samples, names, [n for n, _ in empty]), instructions.pop(),
                  code)  # fmt: skip


def _figures(s: _Samples, loops: Sequence[str], empty: Sequence[str]) -> list[Figure]:
    figures = []
    for name in loops:
        bar = None if any(w in name for w in _LOOKUPS) else LOOPS_AT_LEAST
        figures.append(s.figure(name, "M instructions/s", bar, at_least=True))
        figures.append(s.figure(f"{name}, strict", "times as long", STRICT_AT_MOST))
        figures.append(s.figure(f"{name}, timed", "times as long", TIMED_AT_MOST))
    figures.append(s.figure("plane", "ms", PLANE_AT_MOST_MS))
    figures.append(s.figure("plane, strict", "ms"))
    slower = [b / a for a, b in zip(s.cpu["plane"], s.cpu["plane, strict"], strict=True)]
    for ratio in slower:
        s.add("plane, strict, processor time", ratio)
    figures.append(s.figure("plane, strict, processor time", "times as long", STRICT_AT_MOST))
    figures += [s.figure(name, "ms", EMPTY_AT_MOST_MS) for name in empty]
    return figures


def _loops(program: Path, samples: _Samples) -> list[str]:
    """The simulator's own loops, by processor time. Returns their names."""
    lines = LINE.findall(run([program, "0.1"], what="the simulator's loops"))
    if not lines:
        raise UserError(f"{program.name} prints other lines than it did", "", EXIT_FAILED)
    for name, plain, strict, timed in lines:
        samples.add(name, float(plain))
        samples.add(f"{name}, strict", float(plain) / float(strict))
        samples.add(f"{name}, timed", float(plain) / float(timed))
    return [name for name, *_ in lines]


def _run_plane(work: plane.Plane, device: vkrun.Device) -> vkrun.Outcome:
    """Runs it and compares the picture."""
    cases = {plane.CASE: work.case}
    options = [] if device.choose == vkrun.LAVAPIPE else ["--statistics"]
    outcome = vkrun.run_cases(device, cases, work.folder, options=options)[plane.CASE]
    if outcome.verdict != "ok":
        raise UserError(f"{device.name}: {outcome.verdict} {outcome.detail}", "", EXIT_FAILED)
    work.check(device.name)
    return outcome


def _empty_jobs(jobs: Path) -> list[tuple[str, tuple[list[str], dict[str, str]]]]:
    """How to run tests/c/v3d/device/bench.c on the device, by name of the figure."""
    found = []
    for arch, name in (("host", "empty job"), ("aarch64", "empty job, arm64 under qemu")):
        if arch == "aarch64" and native.is_arm():
            continue
        folder = native.build_library(arch, targets=("daedalus_v3d_bench",))
        program = folder / "tests" / "c" / "v3d" / "device" / "daedalus_v3d_bench"
        found.append((name, tools.on_device([str(program), str(_EMPTY_JOBS)], jobs=jobs)))
    return found


def _run_empty(how: tuple[list[str], dict[str, str]]) -> tuple[float, float]:
    """Milliseconds of a job, on the wall and of the client's processor."""
    argv, environment = how
    words = ["env", *(f"{k}={v}" for k, v in environment.items()), *argv]
    found = _EMPTY.search(run(words, what="empty jobs"))
    assert found is not None
    return float(found[1]) / 1e3, float(found[2]) / 1e3


@dataclass(frozen=True)
class Taken:
    """What a number of jobs came to."""

    instructions: int
    cpu_us: float


class Jobs:
    """What the device tells of its jobs; see daedalus-v3d-device --help."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.unlink(missing_ok=True)

    def taken(self, expected: int) -> Taken:
        """The compute jobs since the last call, which must be so many, all done; forgets them."""
        lines = [json.loads(line) for line in self.path.read_text().splitlines()]
        self.path.unlink()
        compute = [j for j in lines if j["queue"] == "compute"]
        if len(compute) != expected or any(j["result"] != 0 for j in lines):
            bad = [j for j in lines if j["result"] != 0]
            raise UserError(
                f"{len(compute)} compute jobs, {expected} expected; failed: {bad[:1]}",
                "no time counts",
                EXIT_FAILED,
            )
        return Taken(sum(j["instructions"] for j in compute), sum(j["cpu_us"] for j in compute))
