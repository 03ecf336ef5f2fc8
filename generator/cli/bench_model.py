# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus bench` for the CPU: cycles, modelled and measured, ours beside hand-written ones."""

import json
import sys
from typing import Any

from daedalus.generator import native
from daedalus.generator.cli.common import EXIT_FAILED, console, repo_root
from daedalus.generator.cli.progress import progress
from daedalus.generator.cli.tables import print_table
from daedalus.generator.count_cases import chosen
from daedalus.generator.model import llvm, measure
from daedalus.generator.model.comparison import (
    COMPILERS,
    TIE,
    Comparison,
    Row,
    above_bars,
    compare,
)
from daedalus.generator.model.measure import TimedRow
from daedalus.generator.tuning.fingerprint import generator_hash

_BOUND_HEADINGS = (
    "kernel", "case", "", "d3", "bound", "ratio", "busiest", "floor", "three", "four", "uneven",
    "rest", "window", "results", "ports", "what stands between",
)  # fmt: skip
_HEADINGS = (
    "kernel", "case", "function", "compiler", "executed", "d3", "d4", "latency", "spills",
    "bound", "busiest", "theirs", "d3", "d4", "latency", "of theirs", "d4", "",
)  # fmt: skip


def model(kernel: str, *, as_json: bool, every: bool, bound: bool = False) -> None:
    """Compares the kernels whose ids contain `kernel`, and prints; exits with 1 above a bar."""
    wanted = kernels(kernel)
    if not wanted:
        chosen((kernel,))  # says what there is
    with progress(quiet=as_json):
        comparison = compare(llvm.find(), wanted)
        measured = measure.compare(wanted, COMPILERS) if native.is_arm() else measure.NOTHING
    if as_json:
        print(json.dumps(_as_json(comparison, measured.rows, bound=bound), indent=1))
    else:
        _print(comparison, every)
        if bound:
            _print_bound(comparison)
        print_times(measured.rows)
    wrong = [
        f"{r.counted.work.function}, {r.case.name}: other pixels than {r.case.theirs}:"
        f" {r.counted.difference}"
        for r in comparison.rows
        if r.counted.difference
    ]
    failures = wrong + measured.wrong + above_bars(comparison, every=not kernel)
    for text in failures:
        console.print(f"failed: {text}", soft_wrap=True, markup=False)
    if failures:
        sys.exit(EXIT_FAILED)


def kernels(text: str) -> tuple[str, ...]:
    """The kernels with a hand-written counterpart whose ids contain the text."""
    return tuple(dict.fromkeys(c.kernel for c in chosen(()) if text in c.kernel))


def times_as_json(times: list[TimedRow]) -> list[dict[str, Any]]:
    """Measured figures, by the keys of modelled ones."""
    return [
        {
            "kernel": t.work.case.kernel,
            "case": t.work.case.name,
            "variant": t.work.variant or t.work.function,
            "function": t.work.function,
            "compiler": t.compiler,
            "unit": t.ours.unit,
            "measured": round(t.ours.median, 2),
            "spread": round(t.ours.spread, 2),
            "hand_measured": round(t.by_hand.median, 2),
            "hand_spread": round(t.by_hand.spread, 2),
        }
        for t in times
    ]


def print_times(times: list[TimedRow]) -> None:
    """Prints what was measured on this machine; nothing where nothing was."""
    if not times:
        return
    print(f"\nMeasured here, {times[0].ours.unit} (median, and median distance from it):")
    print_table(
        ("kernel", "case", "function", "compiler", "measured", "theirs", "of theirs"),
        [
            (t.work.case.kernel, t.work.case.name, t.work.function, t.compiler, str(t.ours),
             str(t.by_hand), f"{t.ratio:.2f}{'' if t.work.whole else ' less work'}")
            for t in times
        ],
    )  # fmt: skip


def _as_json(
    comparison: Comparison, times: list[TimedRow], *, bound: bool = False
) -> dict[str, Any]:
    measured = {
        (t["function"], t["case"], t["compiler"]): {
            k: v for k, v in t.items() if k in ("unit", "measured", "hand_measured")
        }
        for t in times_as_json(times)
    }
    best = [id(r) for r in comparison.standing()]
    return {
        "llvm": {"version": comparison.llvm.version, "cpu": comparison.llvm.cpu},
        "compilers": {n: vars(c) for n, c in comparison.compilers.items()},
        "d3_mean": comparison.mean(),
        "d3_mean_of_cases": comparison.mean_of_cases(),
        "d3_mean_of_prod": comparison.mean(prod=True),
        "generator": generator_hash(repo_root()),
        "kernels": [
            _row(r, id(r) in best)
            | measured.get((r.counted.work.function, r.case.name, r.compiler), {})
            for r in comparison.rows
        ],
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


def _row(r: Row, best: bool) -> dict[str, Any]:
    work, ours, theirs = r.counted.work, r.ours, r.by_hand
    return {
        "kernel": r.case.kernel,
        "case": r.case.name,
        "variant": work.variant or work.function,
        "compiler": r.compiler,
        "executed": ours.executed,
        "d3": round(ours.d3, 2),
        "d4": round(ours.d4, 2),
        "hand_executed": theirs.executed,
        "hand_d3": round(theirs.d3, 2),
        "hand_d4": round(theirs.d4, 2),
        "function": work.function,
        "hand_function": r.case.theirs,
        "latency": ours.latency,
        "hand_latency": theirs.latency,
        "port_bound": round(ours.port_bound, 2),
        "hand_port_bound": round(theirs.port_bound, 2),
        "pressure": ours.pressure,
        "spilled": ours.spilled,
        "saved": ours.saved,
        "whole": work.whole,
        "given": work.given,
        "same_pixels": not r.counted.difference,
        "prod": work.prod,
        "ratio": r.ratio,
        "verdict": r.verdict,
        "stands_for_kernel": best,
    } | ({"written": r.case.written} if r.case.written else {})


def _print(comparison: Comparison, every: bool) -> None:
    standing = comparison.standing()
    given = [comparison.best(c, given=True) for c in comparison.cases() if c.given_d3_bar]
    rest = [
        comparison.best(c)
        for c in comparison.cases()
        if c.d3_bar is None and not c.written
    ]  # fmt: skip
    if standing:
        print("The best of ours, strict:")
        _table(standing)
    for what, mean in (
        ("of each kernel the lowest (this has the bar)", comparison.mean()),
        ("of all these cases", comparison.mean_of_cases()),
        ("of each kernel the lowest, by prod functions alone", comparison.mean(prod=True)),
    ):
        if mean is not None:
            print(f"geometric mean of d3, {what}: {mean:.4f} of theirs")
    for title, rows in (
        ("With assumptions that the standard does not grant:", given),
        ("Other work: early ends, classes that save work, other filters:", rest),
        ("All:", comparison.rows if every else []),
    ):
        found = [r for r in rows if r is not None]
        if found:
            print(f"\n{title}")
            _table(found)
    _print_written(comparison)
    _print_measured(comparison)
    for name, made_by in comparison.compilers.items():
        print(f"{name}: {made_by.version}: {made_by.flags}")
    print(
        f"modelled by llvm-mca of LLVM {comparison.llvm.version}, -mcpu={comparison.llvm.cpu};"
        f" within {TIE:.0%} is a tie"
    )


def _print_written(comparison: Comparison) -> None:
    """Conversions of layouts: cycles for what they write, beside a copy of as much."""
    lines = []
    for case in comparison.cases():
        for row in (r for r in comparison.rows if case.written and r.case.key == case.key):
            each = 1024 / case.written
            lines.append((
                case.kernel, case.name, row.counted.work.function, row.compiler,
                *(round(f * each, 1) for f in (row.ours.d3, row.ours.d4, row.ours.port_bound)),
                *(round(f * each, 1) for f in (row.by_hand.d3, row.by_hand.d4)),
                f"{row.ratio:.2f}",
            ))  # fmt: skip
    if lines:
        print("\nLayouts, cycles for a KiB written, beside a plain copy (ldp, stp):")
        print_table(
            ("kernel", "case", "function", "compiler", "d3", "d4", "bound", "copy", "d4",
             "of copy"),
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


def _table(rows: list[Row]) -> None:
    lines = []
    for r in rows:
        a, b = r.ours, r.by_hand
        lines.append((
            r.case.kernel, r.case.name, r.counted.work.function, r.compiler,
            a.executed, round(a.d3, 1), round(a.d4, 1), a.latency, a.spilled,
            round(a.port_bound, 1), a.busiest,
            b.executed, round(b.d3, 1), round(b.d4, 1), b.latency,
            f"{r.ratio:.3f}", f"{a.d4 / b.d4:.2f}",
            r.verdict if r.counted.work.prod else f"{r.verdict}, not prod",
        ))  # fmt: skip
    print_table(_HEADINGS, lines)
