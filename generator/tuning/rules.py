# SPDX-License-Identifier: BSD-2-Clause
"""Where a kernel's items belong, by the rules that were published before anything was measured.

R = M2 / M3, throughput on the QPU against that of one core, from the best point of each side.

1. Best is what takes least time an item; of all whose interval overlaps that one's, the simplest
   (best.py).
2. R's interval wholly from 1 on (GREEN): the QPU.
3. An interval that holds 1 is a tie: M4 decides, and without it the CPU, which is simpler. Of a
   model it is "undecided: measure on a Pi", and means the CPU.
4. Below 1 (YELLOW, ORANGE, RED), M4 decides: see `judge_mixed`. Without M4, the CPU.

docs/recipes.md says the same to users.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from daedalus.generator.tuning.best import interval
from daedalus.generator.tuning.entries import Mixed, Result
from daedalus.generator.tuning.point import parse_point

BANDS = (("GREEN", 1.0), ("YELLOW", 0.5), ("ORANGE", 0.1), ("RED", 0.0))  # R from there on
KEPT = 0.95  # of what the CPU does alone, when the QPU is at work for free
UNDER_LOAD = 0.5  # of one core's throughput, what the QPU has to give then: YELLOW
GAIN = 1.05  # of what the CPU does alone: less is noise

CPU, QPU, HELPER = "cpu", "qpu", "helper"
TIE, UNDECIDED, ONLY_CPU = "tie", "undecided: measure on a Pi", "only the CPU"


@dataclass(frozen=True)
class Span:
    """A figure and its interval."""

    low: float
    mid: float
    high: float

    def __str__(self) -> str:
        return f"{_short(self.mid)} ({_short(self.low)}..{_short(self.high)})"


def _short(value: float) -> str:
    """Three digits that say something."""
    digits = 2 - int(log10(value)) if value >= 1 else 3
    return f"{value:.{max(digits, 0)}f}"


def span_of(result: Result) -> Span:
    """The time of a result with one, in ns an item."""
    low, high = interval(result)
    assert result.median is not None
    return Span(low, result.median, high)


def ratio(cpu: Span, qpu: Span) -> Span:
    """R of two times an item."""
    return Span(cpu.low / qpu.high, cpu.mid / qpu.mid, cpu.high / qpu.low)


def band_of(r: float) -> str:
    return next(name for name, least in BANDS if r >= least)


def bands(r: Span) -> str:
    """The band of R, or the two between which its interval reaches."""
    low, high = band_of(r.low), band_of(r.high)
    return low if low == high else f"{low}..{high}"


@dataclass(frozen=True)
class Judged:
    """What M4 says: `verdict` CPU, QPU or HELPER."""

    verdict: str
    threads: int
    cpu_kernel: str
    same: bool  # one kernel on both
    kept: float  # of the CPU's throughput alone
    under_load: float  # the QPU's throughput against one core's
    gain: float  # both against the CPU alone
    cpu_time: float  # the caller's, for a frame's worth of both kernels, against the CPU alone's

    def __str__(self) -> str:
        what = "the same kernel" if self.same else self.cpu_kernel
        return (
            f"M4 beside {self.threads} threads of {what}: the CPU keeps {self.kept:.0%}, the QPU "
            f"gives {self.under_load:.2f} of a core, both {self.gain:.2f} of the CPU alone, and "
            f"{self.cpu_time:.2f} of its time"
        )


def judge_mixed(line: Mixed, core: float) -> Judged:
    """Whether the QPU is of use beside a busy CPU.

    QPU     moves the work there: beside another kernel, which keeps KEPT of its throughput, the QPU
            gives UNDER_LOAD of a core or more, and the CPU's time falls to KEPT or less
    HELPER  adds to the CPU's throughput, GAIN of it or more: worth a caller's own batches for the
            QPU, not worth waiting for
    CPU     neither

    `core`: items a second of the QPU's kernel on one core.
    """
    assert line.cpu_alone and line.cpu_with is not None and line.qpu_with is not None
    assert line.cpu_time is not None and line.cpu_time_alone
    on_cpu, on_qpu = parse_point(line.cpu_point), parse_point(line.qpu_point)
    same = on_cpu.kernel == on_qpu.kernel
    kept, under_load = line.cpu_with / line.cpu_alone, line.qpu_with / core
    added = line.qpu_with / line.cpu_alone if same else under_load / line.threads
    gain = kept + added
    time = line.cpu_time / line.cpu_time_alone
    verdict = HELPER if gain >= GAIN else CPU
    if not same and kept >= KEPT and under_load >= UNDER_LOAD and time <= KEPT:
        verdict = QPU
    return Judged(verdict, line.threads, on_cpu.kernel, same, kept, under_load, gain, time)


def judge_all(lines: Sequence[Mixed], core: float) -> Judged | None:
    """Of the lines with most threads: beside other kernels before beside the same; the worst.

    A line where the CPU does more than it does alone was disturbed, and does not count.
    """
    every = [j for j in (judge_mixed(line, core) for line in lines) if j.kept <= GAIN]
    if not every:
        return None
    most = max(j.threads for j in every)
    judged = [j for j in every if j.threads == most]
    counted = [j for j in judged if not j.same] or judged
    return min(counted, key=lambda j: ((CPU, HELPER, QPU).index(j.verdict), j.gain))


@dataclass(frozen=True)
class Decision:
    """What the recipe says of items of one class, and of what it follows.

    substrate  CPU or QPU
    verdict    a band, TIE, UNDECIDED, HELPER or ONLY_CPU
    """

    kernel: str
    item_class: str
    substrate: str
    verdict: str
    reason: str
    cpu: Result
    qpu: Result | None = None
    r: Span | None = None
    mixed: Judged | None = None

    @property
    def chosen(self) -> Result:
        return self.qpu if self.substrate == QPU and self.qpu is not None else self.cpu

    @property
    def other(self) -> Result | None:
        """What is best on the other substrate."""
        return self.cpu if self.substrate == QPU else self.qpu


def decide(cpu: Result, qpu: Result | None, mixed: Sequence[Mixed]) -> Decision:
    """Applies the rules to the best of both sides. `mixed`: the lines of M4 for the QPU's point."""
    point = parse_point(cpu.point)
    how = "modelled" if cpu.modelled else "measured"
    base = span_of(cpu)
    if qpu is None:
        reason = f"{how}: {base} ns an item on one core; nothing of the QPU"
        return Decision(point.kernel, point.item_class, CPU, ONLY_CPU, reason, cpu)
    r = ratio(base, span_of(qpu))
    judged = None if r.low >= 1 or cpu.modelled else judge_all(mixed, 1e9 / base.mid)
    substrate, verdict, because = _verdict(r, judged, modelled=cpu.modelled)
    reason = f"R {r} {verdict}, {how}: QPU {span_of(qpu)} ns an item, CPU {base}{because}"
    return Decision(point.kernel, point.item_class, substrate, verdict, reason, cpu, qpu, r, judged)


def _verdict(r: Span, judged: Judged | None, *, modelled: bool) -> tuple[str, str, str]:
    """Substrate, verdict, and what to add to the reason."""
    if r.low >= 1:
        return QPU, bands(r), ""
    if r.high >= 1 and modelled:
        return CPU, UNDECIDED, ""
    if judged is not None:
        substrate = QPU if judged.verdict == QPU else CPU
        verdict = HELPER if judged.verdict == HELPER else bands(r)
        return substrate, verdict, f"; {judged}: {judged.verdict}"
    if r.high >= 1:
        return CPU, TIE, "; the intervals overlap, and the CPU is simpler"
    return CPU, bands(r), "; M4 would decide, and there is none: the CPU"
