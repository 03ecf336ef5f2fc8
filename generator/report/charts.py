# SPDX-License-Identifier: BSD-2-Clause
"""Where things stand in a drawing: figures become coordinates, the templates draw them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10

from daedalus.generator.report.decided import Stack
from daedalus.generator.report.roofline import Roofline, Spot
from daedalus.generator.report.times import Curve
from daedalus.generator.report.words import short
from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.rules import BANDS, Span


@dataclass(frozen=True)
class Tick:
    """A mark of an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class Frame:
    """The rectangle between a chart's axes, and their marks; width and height are of the whole."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    x: tuple[Tick, ...] = ()
    y: tuple[Tick, ...] = ()


# ------------------------------------------------------------------- bars


@dataclass(frozen=True)
class BarShape:
    """In hundredths of the axis, which begins at 0."""

    low: float
    mid: float
    high: float


def bar(result: Result, top: float) -> BarShape:
    """The bar of a result with a time on an axis that reaches `top` ns."""
    assert result.low is not None and result.median is not None and result.high is not None
    unit = 100 / top if top else 0
    return BarShape(*(round(v * unit, 2) for v in (result.low, result.median, result.high)))


# --------------------------------------------------------------------- R

R_LOW, R_HIGH = 0.03, 30.0  # of the axis; what lies beyond stands at its end


@dataclass(frozen=True)
class Strip:
    """R on a logarithmic axis, in hundredths; beyond: the interval reaches over an end."""

    low: float
    mid: float
    high: float
    beyond: bool


def r_at(value: float) -> float:
    """Where a value of R lies, in hundredths of the axis."""
    kept = min(max(value, R_LOW), R_HIGH)
    return round(100 * log10(kept / R_LOW) / log10(R_HIGH / R_LOW), 2)


def strip(r: Span) -> Strip:
    low, mid, high = (r_at(v) for v in (r.low, r.mid, r.high))
    return Strip(low, mid, high, r.low < R_LOW or r.high > R_HIGH)


def r_zones() -> tuple[tuple[str, float, float], ...]:
    """The bands on that axis: name, where it begins and ends."""
    ends = (R_HIGH, *(least for _, least in BANDS))
    return tuple((name, r_at(least), r_at(ends[n])) for n, (name, least) in enumerate(BANDS))


# ----------------------------------------------------------------- curves


@dataclass(frozen=True)
class Dot:
    """A figure with its interval from low to high, in the y direction."""

    x: float
    y: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class Line:
    name: str
    dots: tuple[Dot, ...]

    @property
    def path(self) -> str:
        """The points of an SVG polyline."""
        return " ".join(f"{d.x:g},{d.y:g}" for d in self.dots)


@dataclass(frozen=True)
class CurveChart:
    frame: Frame
    lines: tuple[Line, ...]


def curve_chart(curves: Sequence[Curve]) -> CurveChart:
    """Time by workgroup: the x axis is logarithmic, the y axis begins at 0."""
    width, height, left, right, top, bottom = 360, 220, 58, 348, 12, 182
    sizes = sorted({w for c in curves for w, _ in c.points})
    ticks = steps(max(r.high or 0 for c in curves for _, r in c.points))
    first, last = log2(sizes[0]), log2(sizes[-1])

    def x(size: int) -> float:
        inset = 10
        return round(
            left + inset + (log2(size) - first) / (last - first) * (right - left - 2 * inset), 1
        )

    def y(ns: float) -> float:
        return round(bottom - ns / ticks[-1] * (bottom - top), 1)

    lines = []
    for c in curves:
        dots = []
        for size, r in c.points:
            assert r.low is not None and r.median is not None and r.high is not None
            text = f"{c.variant}, workgroup {size}: {short(r.median)} ns an item"
            dots.append(Dot(x(size), y(r.median), y(r.low), y(r.high), text))
        lines.append(Line(c.variant.partition("__")[2], tuple(dots)))
    frame = Frame(
        width, height, left, right, top, bottom,
        tuple(Tick(x(s), str(s)) for s in sizes), tuple(Tick(y(t), f"{t:,g}") for t in ticks),
    )  # fmt: skip
    return CurveChart(frame, tuple(lines))


def steps(most: float) -> list[float]:
    """Marks from 0 on, by 1, 2 or 5 times a power of ten, the last at `most` or beyond."""
    if most <= 0:
        return [0.0, 1.0]
    rough = most / 4
    unit = 10.0 ** floor(log10(rough))
    step = next(s * unit for s in (1, 2, 5, 10) if s * unit >= rough)
    return [n * step for n in range(ceil(most / step - 1e-9) + 1)]


# --------------------------------------------------------------------- M4


@dataclass(frozen=True)
class StackShape:
    """In hundredths of an axis: the CPU alone, what it keeps, and what the QPU adds."""

    alone: float
    kept: float
    added: float


def stack_top(stacks: Sequence[Stack]) -> float:
    """What the axis of these reaches, as a multiple of the CPU alone."""
    return max([1.0, *(s.judged.gain for s in stacks if s.judged)])


def stack(s: Stack, top: float) -> StackShape | None:
    """None where it cannot be said what the QPU adds."""
    if s.judged is None or s.added is None:
        return None
    return StackShape(*(round(100 * v / top, 2) for v in (1.0, s.judged.kept, s.added)))


# --------------------------------------------------------------- roofline


@dataclass(frozen=True)
class RoofSpot:
    """A kernel's dot; number: of its row in the table, written with its left end at label."""

    x: float
    y: float
    label: tuple[float, float]
    number: int
    target: str
    text: str


@dataclass(frozen=True)
class RoofChart:
    """roofs: points of polylines, by the settings as they are and by what they may be at most."""

    frame: Frame
    roof: str
    best: str
    spots: tuple[RoofSpot, ...]


def roof_chart(r: Roofline) -> RoofChart:
    """Instructions a ns over instructions a byte, both logarithmic."""
    width, height, left, right, top, bottom = 360, 290, 40, 350, 12, 248
    spots = [(t, n, s) for t, found in r.by.items() for n, s in enumerate(found, 1)]
    corners = [i / b for i, b in ((r.issue.mid, r.bandwidth.mid), (r.issue.high, r.bandwidth.high))]
    xs = decades([*(s.intensity for _, _, s in spots), *corners], 1.3)
    ys = decades([s.rate for _, _, s in spots] + [r.issue.high], 1.3)

    def x(value: float) -> float:
        return round(left + _part(value, xs) * (right - left), 1)

    def y(value: float) -> float:
        return round(bottom - _part(value, ys) * (bottom - top), 1)

    def roof(issue: float, bandwidth: float) -> str:
        """Bandwidth up to where instructions are the limit, cut at the frame."""
        corner = issue / bandwidth
        start = max(xs[0], ys[0] / bandwidth)
        ends = [(start, start * bandwidth), (corner, issue), (xs[1], issue)]
        return " ".join(f"{x(a):g},{y(b):g}" for a, b in ends)

    at = [(x(s.intensity), y(s.rate)) for _, _, s in spots]
    labels = placed(at, [str(n) for _, n, _ in spots])
    dots = tuple(
        RoofSpot(*at[i], labels[i], n, t, _spot_text(s)) for i, (t, n, s) in enumerate(spots)
    )
    frame = Frame(
        width, height, left, right, top, bottom,
        tuple(Tick(x(v), f"{v:g}") for v in marks(*xs)),
        tuple(Tick(y(v), f"{v:g}") for v in marks(*ys)),
    )  # fmt: skip
    return RoofChart(
        frame, roof(r.issue.mid, r.bandwidth.mid), roof(r.issue.high, r.bandwidth.high), dots
    )


DOT, LETTER, LETTERS = 4.5, 7.5, 11.0  # half a dot, the width of a digit, the height of one
Box = tuple[float, float, float, float]  # left, top, right, bottom


def placed(dots: Sequence[tuple[float, float]], labels: Sequence[str]) -> list[tuple[float, float]]:
    """Where to write each dot's label so that it covers neither a dot nor another label.

    The left end of its base line; tried are places around the dot, the first free one is taken.
    """
    taken: list[Box] = [(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in dots]
    found = []
    for (x, y), text in zip(dots, labels, strict=True):
        wide = LETTER * len(text)
        near = [
            (x + a - (wide if a < 0 else 0), y + b)
            for far in range(1, 6)
            for a in (5 * far, -5 * far)
            for b in (-3 * far, 11 * far, 4)
        ]
        near += [(x - wide / 2, y - 6), (x - wide / 2, y + 15)]
        boxes = [(a, b - LETTERS, a + wide, b) for a, b in near]
        free = next((n for n, box in enumerate(boxes) if not any(_meet(box, t) for t in taken)), 0)
        taken.append(boxes[free])
        found.append((round(near[free][0], 1), round(near[free][1], 1)))
    return found


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _spot_text(s: Spot) -> str:
    return f"{s.variant}: {short(s.rate)} instructions a ns, {short(s.intensity)} a byte"


def decades(values: Sequence[float], room: float) -> tuple[float, float]:
    """The ends of a logarithmic axis around values."""
    return min(values) / room, max(values) * room


def marks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between the ends."""
    found = [
        m * 10.0**e for e in range(floor(log10(low)), ceil(log10(high)) + 1) for m in (1, 2, 5)
    ]
    return [v for v in found if low <= v <= high]


def _part(value: float, axis: tuple[float, float]) -> float:
    low, high = axis
    return log10(value / low) / log10(high / low)
