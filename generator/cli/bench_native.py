# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus bench --native`: portable C on this machine, beside other people's functions."""

import json
from typing import Any

from daedalus.generator.base.console import fail
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.host import level, native
from daedalus.generator.measure.native.cases import CASES
from daedalus.generator.measure.native.measure import (
    BAR,
    BUILDS,
    COMPILERS,
    Row,
    mean_gain,
    measure,
)

ITEMS = 64  # of a call: with their planes, they stay in the first cache


def run(kernel: str, rounds: int, *, as_json: bool) -> None:
    """Measures the kernels whose ids contain `kernel`, and prints; exits with 1 below the bar."""
    with progress(quiet=as_json):
        rows = measure(kernel, rounds, ITEMS)
    means = {c: mean_gain(rows, f"{c} scalar", f"{c} vector") for c in COMPILERS}
    if as_json:
        print(json.dumps(_as_json(rows, means, rounds), indent=1))
    else:
        _print(rows, means)
    failures = [f"{r.case.kernel}: {w}" for r in rows for w in r.wrong]
    failures += [
        f"{c}: {gain:.2f} times the scalar build in the mean, the bar is {BAR:g}"
        for c, gain in means.items()
        if gain is not None and gain < BAR
    ]
    fail(failures)


def _flags() -> str:
    return " ".join(("-O3", *level.flags()))


def _print(rows: list[Row], means: dict[str, float | None]) -> None:
    labels = [f"{c} {kind}" for c in COMPILERS for kind in BUILDS] + ["c", "asm"]
    short = [x.replace(native.CLANG, "clang") for x in labels[:-2]] + ["their C", "their asm"]
    print(f"{native.processor()}; {_flags()}; ns an item, +- median deviation\n")
    print_table(
        ["kernel", "class", *short],
        [[r.case.kernel, r.case.class_name, *(_cell(r, x) for x in labels)] for r in rows],
    )
    print()
    print_table(
        ["kernel", "what", *(f"{c.replace(native.CLANG, 'clang')}: x scalar" for c in COMPILERS),
         "x auto", "their C / ours", "ours / their asm", "in the mean"],
        [
            [
                r.case.kernel, r.case.what,
                *(_times(r.ratio(f"{c} scalar", f"{c} vector")) for c in COMPILERS),
                _times(_best(r, "auto", "vector")), _times(_against(r, "c")),
                _times(_inverse(_against(r, "asm"))), "yes" if r.case.counts else "",
            ]
            for r in rows
        ],
    )  # fmt: skip
    for compiler, gain in means.items():
        if gain is not None:
            count = sum(c.counts for c in CASES)
            print(f"\n{compiler}: {gain:.2f} times the scalar build, geometric mean of {count}")


def _cell(r: Row, label: str) -> str:
    figure = r.figures.get(label)
    return "" if figure is None else f"{figure.median:.1f} +-{figure.deviation:.1f}"


def _times(x: float | None) -> str:
    return "" if x is None else f"{x:.2f}"


def _inverse(x: float | None) -> float | None:
    return None if x is None else 1 / x


def _fastest(r: Row, kind: str) -> str | None:
    known = [f"{c} {kind}" for c in COMPILERS if f"{c} {kind}" in r.figures]
    return min(known, key=lambda x: r.figures[x].median) if known else None


def _best(r: Row, slow: str, fast: str) -> float | None:
    """Of two kinds, each by the compiler that does it best."""
    a, b = _fastest(r, slow), _fastest(r, fast)
    return None if a is None or b is None else r.ratio(a, b)


def _against(r: Row, theirs: str) -> float | None:
    """What theirs takes, in times of our best vector build."""
    ours = _fastest(r, "vector")
    return None if ours is None else r.ratio(theirs, ours)


def _as_json(rows: list[Row], means: dict[str, float | None], rounds: int) -> dict[str, Any]:
    return {
        "machine": native.processor(),
        "flags": _flags(),
        "compilers": {c: native.version_of(c) for c in COMPILERS},
        "rounds": rounds,
        "items": ITEMS,
        "bar": BAR,
        "kernels": [
            {
                "kernel": r.case.kernel,
                "class": r.case.class_name,
                "case": r.case.what,
                "variant": r.variant,
                "counts": r.case.counts,
                "wrong": list(r.wrong),
                "ns": {
                    label: {"median": f.median, "deviation": f.deviation}
                    for label, f in r.figures.items()
                },
                "gain": {c: r.ratio(f"{c} scalar", f"{c} vector") for c in COMPILERS},
            }
            for r in rows
        ],
        "mean_gain": means,
    }
