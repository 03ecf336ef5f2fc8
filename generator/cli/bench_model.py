# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus bench` for the CPU: cycles, modelled and measured, ours beside hand-written ones."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from daedalus.generator.base.console import fail, tell
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.host import native
from daedalus.generator.measure.count_cases import Work, chosen
from daedalus.generator.measure.neon import llvm, measure
from daedalus.generator.measure.neon.comparison import (
    COMPILERS,
    TIE,
    Comparison,
    Row,
    above_bars,
    compare,
)
from daedalus.generator.measure.neon.measure import Measured, TimedRow
from daedalus.generator.tuning.fingerprint import generator_hash

_BOUND_HEADINGS = (
    "kernel", "case", "", "d3", "bound", "ratio", "busiest", "floor", "three", "four", "uneven",
    "rest", "window", "results", "ports", "what stands between",
)  # fmt: skip
# Columns of cycles, modelled and measured; those that nothing stands in are left out.
_HEADINGS = (
    "kernel", "case", "function", "compiler", "executed", "d3", "d4", "latency", "spills",
    "bound", "busiest", "theirs", "d3", "d4", "latency", "of theirs", "d4", "",
    "measured", "theirs", "of theirs",
)  # fmt: skip
_NOT_MODELLED = ("",) * 14

# What JSON has of a function: null where it is not modelled, or not measured.
_MODELLED: dict[str, Callable[[Row], Any]] = {
    "executed": lambda r: r.ours.executed,
    "d3": lambda r: round(r.ours.d3, 2),
    "d4": lambda r: round(r.ours.d4, 2),
    "hand_executed": lambda r: r.by_hand.executed,
    "hand_d3": lambda r: round(r.by_hand.d3, 2),
    "hand_d4": lambda r: round(r.by_hand.d4, 2),
    "latency": lambda r: r.ours.latency,
    "hand_latency": lambda r: r.by_hand.latency,
    "port_bound": lambda r: round(r.ours.port_bound, 2),
    "hand_port_bound": lambda r: round(r.by_hand.port_bound, 2),
    "pressure": lambda r: r.ours.pressure,
    "spilled": lambda r: r.ours.spilled,
    "saved": lambda r: r.ours.saved,
    "ratio": lambda r: r.ratio,
    "verdict": lambda r: r.verdict,
}
_MEASURED: dict[str, Callable[[TimedRow], Any]] = {
    "unit": lambda t: t.ours.unit,
    "measured": lambda t: round(t.ours.median, 2),
    "spread": lambda t: round(t.ours.spread, 2),
    "hand_measured": lambda t: round(t.by_hand.median, 2),
    "hand_spread": lambda t: round(t.by_hand.spread, 2),
    "measured_ratio": lambda t: t.ratio,
    "measured_verdict": lambda t: t.verdict,
}


def model(kernel: str, *, as_json: bool, every: bool, bound: bool = False) -> None:
    """Compares the kernels whose ids contain `kernel`, and prints; exits with 1 above a bar."""
    wanted = kernels(kernel)
    if not wanted:
        chosen((kernel,))  # says what there is
    with progress(quiet=as_json):
        comparison = compare(llvm.find(), wanted)
        measured = measure.compare(wanted, COMPILERS) if native.is_arm() else Measured()
    if as_json:
        print(json.dumps(_as_json(comparison, measured, bound=bound), indent=1))
    else:
        _print(comparison, measured.rows, every)
        if bound:
            _print_bound(comparison)
    print_skipped(measured.skipped)
    wrong = [
        f"{r.counted.work.function}, {r.case.name}: other pixels than {r.case.theirs}:"
        f" {r.counted.difference}"
        for r in comparison.rows
        if r.counted.difference
    ]
    failures = wrong + measured.wrong + above_bars(comparison, every=not kernel)
    fail(failures)


def kernels(text: str) -> tuple[str, ...]:
    """The kernels with a hand-written counterpart whose ids contain the text."""
    return tuple(dict.fromkeys(c.kernel for c in chosen(()) if text in c.kernel))


def times_as_json(times: list[TimedRow]) -> list[dict[str, Any]]:
    """Measured figures, by the same keys as where functions are modelled as well."""
    return [_row(t.work, t.compiler, None, t) for t in times]


def print_times(times: list[TimedRow]) -> None:
    """Prints what was measured on this machine; nothing where nothing was."""
    if times:
        _table((t.work, t.compiler, None, t) for t in times)
        _print_unit(times)


def print_skipped(lines: list[str]) -> None:
    """Says what was not measured, and why."""
    for line in lines:
        tell(f"skipped: {line}")


def _print_unit(times: list[TimedRow]) -> None:
    if times:
        print(f"measured here, {times[0].ours.unit}: medians of rounds, and the median distance"
              f" from them; within {TIE:.0%} is a tie")  # fmt: skip


def _key(work: Work, compiler: str) -> tuple[str, ...]:
    return (*work.case.key, work.function, compiler)


def _as_json(comparison: Comparison, measured: Measured, *, bound: bool = False) -> dict[str, Any]:
    times = {_key(t.work, t.compiler): t for t in measured.rows}
    best = [id(r) for r in comparison.standing()]
    return {
        "llvm": {"version": comparison.llvm.version, "cpu": comparison.llvm.cpu},
        "compilers": {n: vars(c) for n, c in comparison.compilers.items()},
        "d3_mean": comparison.mean(),
        "d3_mean_of_cases": comparison.mean_of_cases(),
        "d3_mean_of_prod": comparison.mean(prod=True),
        "d3_mean_by_compiler": {n: comparison.mean(compiler=n) for n in comparison.compilers},
        "families": [
            {
                "name": m.family.name,
                "compiler": m.compiler,
                "d3_mean": m.mean,
                "cases": {f"{r.case.kernel}, {r.case.name}": r.ratio for r in m.rows},
            }
            for m in comparison.family_means()
        ],
        "generator": generator_hash(repo_root()),
        "kernels": [
            _row(r.counted.work, r.compiler, r, times.get(_key(r.counted.work, r.compiler)))
            | {"stands_for_kernel": id(r) in best}
            for r in comparison.rows
        ],
        "not_measured": measured.skipped,
    } | ({"bound": _bounds_as_json(comparison)} if bound else {})


def _bounds_as_json(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "kernel": r.case.kernel,
            "case": r.case.name,
            "function": r.case.theirs if hand else r.counted.work.function,
            "compiler": "" if hand else r.compiler,
            "d3": g.figures.d3,
            "port_bound": g.figures.port_bound,
            "ratio": g.ratio,
            "three": g.three,
            "four": g.four,
            "uneven": g.uneven,
            "rest": g.rest,
            "dispatch_floor": g.floor,
            "waits": vars(g.waits),
            "freed": vars(g.freed),
            "between": g.words,
        }
        for r in comparison.standing()
        for hand, g in enumerate(comparison.gaps(r))
    ]


def _print_bound(comparison: Comparison) -> None:
    """What stands between the best of ours, and theirs, and what the ports need."""
    lines = []
    for r in comparison.standing():
        for hand, g in enumerate(comparison.gaps(r)):
            f = g.figures
            lines.append((
                r.case.kernel, r.case.name, "theirs" if hand else r.compiler,
                round(f.d3, 1), round(f.port_bound, 1), f"{g.ratio:.2f}", f.busiest,
                *(round(x, 1) + 0.0 for x in (g.floor, g.three, g.four, g.uneven, g.rest)),
                f"{g.waits.retiring:.0%}", f"{g.freed.dependencies:.0%}",
                f"{g.freed.ports:.0%}", g.words,
            ))  # fmt: skip
    print("\nBetween d3 and what the ports need; cycles, and shares of all by llvm-mca:")
    print_table(_BOUND_HEADINGS, lines)


def _row(
    work: Work, compiler: str, modelled: Row | None, time: TimedRow | None
) -> dict[str, Any]:  # fmt: skip
    case = work.case
    return {
        "kernel": case.kernel,
        "case": case.name,
        "variant": work.variant or work.function,
        "compiler": compiler,
        **{k: get(modelled) if modelled else None for k, get in _MODELLED.items()},
        **{k: get(time) if time else None for k, get in _MEASURED.items()},
        "function": work.function,
        "hand_function": case.theirs,
        "whole": work.whole,
        "given": work.given,
        "same_pixels": not (modelled and modelled.counted.difference),
        "prod": work.prod,
    } | ({"written": case.written} if case.written else {})


def _print(comparison: Comparison, times: list[TimedRow], every: bool) -> None:
    timed = {_key(t.work, t.compiler): t for t in times}

    def table(rows: list[Row]) -> None:
        work = ((r.counted.work, r.compiler, r) for r in rows)
        _table((w, compiler, r, timed.get(_key(w, compiler))) for w, compiler, r in work)

    standing = comparison.standing()
    given = [comparison.best(c, given=True) for c in comparison.cases() if c.given_d3_bar]
    rest = [
        comparison.best(c)
        for c in comparison.cases()
        if c.d3_bar is None and not c.written
    ]  # fmt: skip
    if standing:
        print("The best of ours, strict:")
        table(standing)
    for what, mean in (
        ("of each kernel the lowest (this has the bar)", comparison.mean()),
        ("of all these cases", comparison.mean_of_cases()),
        ("of each kernel the lowest, by prod functions alone", comparison.mean(prod=True)),
    ):
        if mean is not None:
            print(f"geometric mean of d3, {what}: {mean:.4f} of theirs")
    for name in comparison.compilers:
        own, mean = comparison.standing(compiler=name), comparison.mean(compiler=name)
        if mean is not None:
            print(
                f"\nBy {name} alone; mean of d3, of each kernel the lowest, {mean:.4f} of theirs:"
            )
            table(own)
    _print_families(comparison)
    for title, rows in (
        ("With assumptions that the standard does not grant:", given),
        ("Other work: early ends, classes that save work, other filters:", rest),
        ("All:", comparison.rows if every else []),
    ):
        found = [r for r in rows if r is not None]
        if found:
            print(f"\n{title}")
            table(found)
    _print_written(comparison, timed)
    _print_measured(comparison)
    for name, made_by in comparison.compilers.items():
        print(f"{name}: {made_by.version}: {made_by.flags}")
    print(
        f"modelled by llvm-mca of LLVM {comparison.llvm.version}, -mcpu={comparison.llvm.cpu};"
        f" within {TIE:.0%} is a tie"
    )
    _print_unit(times)


def _print_families(comparison: Comparison) -> None:
    """The means of the families that have bars of their own."""
    lines = [
        (
            m.family.name, m.compiler, len(m.rows), f"{m.mean:.4f}", m.family.mean_bar,
            f"{m.worst.ratio:.3f}", m.family.bar, f"{m.worst.case.kernel}, {m.worst.case.name}",
        )
        for m in comparison.family_means()
    ]  # fmt: skip
    if lines:
        print("\nFamilies, by variants of the library; d3 of theirs:")
        print_table(
            ("family", "compiler", "cases", "mean", "bar", "most", "bar", "of which"), lines
        )


def _print_written(comparison: Comparison, timed: dict[tuple[str, ...], TimedRow]) -> None:
    """Conversions of layouts: cycles for what they write, beside a copy of as much."""
    lines = []
    for case in comparison.cases():
        for row in (r for r in comparison.rows if case.written and r.case.key == case.key):
            each = 1024 / case.written
            t = timed.get(_key(row.counted.work, row.compiler))
            lines.append((
                case.kernel, case.name, row.counted.work.function, row.compiler,
                *(round(f * each, 1) for f in (row.ours.d3, row.ours.d4, row.ours.port_bound)),
                *(round(f * each, 1) for f in (row.by_hand.d3, row.by_hand.d4)),
                f"{row.ratio:.2f}",
                *_measured(t, each),
            ))  # fmt: skip
    if lines:
        print("\nLayouts, cycles for a KiB written, beside a plain copy (ldp, stp):")
        _print_filled(
            ("kernel", "case", "function", "compiler", "d3", "d4", "bound", "copy", "d4",
             "of copy", "measured", "copy", "of copy"),
            lines,
        )  # fmt: skip


def _print_measured(comparison: Comparison) -> None:
    """How far the model is from what was measured of hand-written functions."""
    found = {r.case.key: r for r in comparison.rows if r.case.measured is not None}
    lines = [
        (r.case.theirs, r.case.name, r.case.measured, round(r.by_hand.d3, 1),
         f"{r.by_hand.d3 / r.case.measured - 1:+.0%}")
        for r in found.values()
        if r.case.measured
    ]  # fmt: skip
    if lines:
        print("\nTheirs, measured on a Pi 5 (published), and modelled; cycles:")
        print_table(("function", "case", "measured", "d3", "error"), lines)
        print()


def _table(rows: Iterable[tuple[Work, str, Row | None, TimedRow | None]]) -> None:
    """Functions by a compiler, each modelled, measured, or both."""
    _print_filled(_HEADINGS, [
        (
            work.case.kernel, work.case.name, work.function, compiler,
            *(_modelled(r) if r else _NOT_MODELLED), *_measured(t),
        )
        for work, compiler, r, t in rows
    ])  # fmt: skip


def _modelled(r: Row) -> tuple[object, ...]:
    a, b = r.ours, r.by_hand
    return (
        a.executed, round(a.d3, 1), round(a.d4, 1), a.latency, a.spilled,
        round(a.port_bound, 1), a.busiest,
        b.executed, round(b.d3, 1), round(b.d4, 1), b.latency,
        f"{r.ratio:.3f}", f"{a.d4 / b.d4:.2f}",
        r.verdict if r.counted.work.prod else f"{r.verdict}, not prod",
    )  # fmt: skip


def _measured(t: TimedRow | None, each: float = 1) -> tuple[object, ...]:
    """Of what a piece of work takes, so much."""
    if t is None:
        return ("", "", "")
    return t.ours.text(each), t.by_hand.text(each), f"{t.ratio:.2f} {t.verdict}"


def _print_filled(headings: Sequence[str], lines: Sequence[Sequence[object]]) -> None:
    """A table without the columns that are empty."""
    kept = [i for i in range(len(headings)) if any(line[i] != "" for line in lines)]
    print_table([headings[i] for i in kept], [[line[i] for i in kept] for line in lines])
