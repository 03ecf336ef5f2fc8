# SPDX-License-Identifier: BSD-2-Clause
"""Where a kernel's items belong.

R = M2 / M3, throughput on the QPU against that of one core, from the best point of each side.

**Published** before anything was measured: the bands of R, and that from YELLOW down M4, CPU and
QPU at work at once, decides between QPU, opportunistic helper and CPU. **Ours** is what that leaves
open: how much of what M4 must say (`M4`), and what ties and models mean.

1. Best is what takes least time an item; of all whose interval overlaps that one's, the simplest
   (best.py).
2. Published: R's interval wholly from 1 on (GREEN): the QPU.
3. Ours: an interval that holds 1 is a tie; M4 decides, and without it the CPU, which is simpler. Of
   a model it is "undecided: measure on a Pi", and means the CPU.
4. Published: below 1 (YELLOW, ORANGE, RED), M4 decides. Ours: by `judge_mixed`; without M4, the
   CPU.

docs/recipes.md says the same to users.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from daedalus.generator.tuning.best import interval
from daedalus.generator.tuning.entries import Mixed, Result
from daedalus.generator.tuning.point import parse_point

# Published: the names, and R from there on.
BANDS = (("GREEN", 1.0), ("YELLOW", 0.5), ("ORANGE", 0.1), ("RED", 0.0))

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
class Bounds:
    """What M4 must say, as shares; none of them is published.

    kept       of its throughput alone, that the CPU keeps where the QPU does the work
    core       of one core's throughput, that the QPU gives then: what YELLOW begins with
    cpu_time   of the CPU's time for both kernels, that is left at most then
    gain       of the CPU's throughput alone, that both give at least where the QPU helps
    disturbed  of its throughput alone, beyond which the CPU was disturbed while it was alone

    Lines of M4 have no interval: the 5 % are what they may be wrong by.
    """

    kept: float = 0.95
    core: float = 0.5
    cpu_time: float = 0.95
    gain: float = 1.05
    disturbed: float = 1.05

    def __str__(self) -> str:
        return (
            f"QPU where the CPU keeps {self.kept:g}, the QPU gives {self.core:g} of a core and"
            f" {self.cpu_time:g} of the CPU's time is left; helper from {self.gain:g}"
        )


M4 = Bounds()


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

    @property
    def disturbed(self) -> bool:
        """Whether the CPU did more with the QPU at work than alone: such a line does not count."""
        return self.kept > M4.disturbed

    def __str__(self) -> str:
        what = "the same kernel" if self.same else self.cpu_kernel
        return (
            f"M4 beside {self.threads} threads of {what}: the CPU keeps {self.kept:.0%}, the QPU "
            f"gives {self.under_load:.2f} of a core, both {self.gain:.2f} of the CPU alone, and "
            f"{self.cpu_time:.2f} of its time"
        )


def judge_mixed(line: Mixed, core: float) -> Judged:
    """Whether the QPU is of use beside a busy CPU, by the bounds `M4`.

    QPU     moves the work there: beside another kernel, which keeps its throughput, the QPU gives
            enough of a core, and the CPU's time falls
    HELPER  adds to the CPU's throughput: worth a caller's own batches for the QPU, not worth
            waiting for
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
    verdict = HELPER if gain >= M4.gain else CPU
    if not same and kept >= M4.kept and under_load >= M4.core and time <= M4.cpu_time:
        verdict = QPU
    return Judged(verdict, line.threads, on_cpu.kernel, same, kept, under_load, gain, time)


def judge_all(lines: Sequence[Mixed], core: float) -> Judged | None:
    """Of the lines with most threads: beside other kernels before beside the same; the worst.

    A line where the CPU does more than it does alone was disturbed, and does not count.
    """
    every = [j for j in (judge_mixed(line, core) for line in lines) if not j.disturbed]
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
