# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus bench --model --levers`: what each lever of the lowering to NEON saves."""

import json
import math
import sys
from dataclasses import dataclass
from typing import Any

from daedalus.generator.cli.common import EXIT_FAILED, UserError, console
from daedalus.generator.cli.progress import progress
from daedalus.generator.cli.tables import print_table
from daedalus.generator.levers import Lever, chosen
from daedalus.generator.model import levers, llvm
from daedalus.generator.model.comparison import COMPILERS
from daedalus.generator.model.lever_code import Without
from daedalus.generator.model.levers import LeverComparison, LeverRow

_HEADINGS = (
    "lever", "kernel", "variant", "case", "compiler", "executed", "d3", "spills", "without",
    "d3", "spills", "of without",
)  # fmt: skip


def model(kernels: tuple[str, ...], names: tuple[str, ...], *, as_json: bool) -> None:
    """Compares and prints; exits with 1 where something without a lever is wrong."""
    wanted = _levers(names)
    with progress(quiet=as_json):
        comparison = levers.compare(llvm.find(), kernels, wanted, COMPILERS)
    if as_json:
        print(json.dumps(_as_json(comparison), indent=1))
    else:
        _print(comparison, wanted)
    for text in comparison.wrong:
        console.print(f"failed: {text}", soft_wrap=True, markup=False)
    if comparison.wrong:
        sys.exit(EXIT_FAILED)


def _levers(names: tuple[str, ...]) -> tuple[Lever, ...]:
    try:
        return chosen(names)
    except ValueError as e:
        raise UserError(str(e), "docs/neon-levers.md explains them") from None


@dataclass(frozen=True)
class Best:
    """A variant as it is and without a lever, each by the compiler that makes the most of it."""

    made: Without
    present: LeverRow  # whose `present` is the best of all compilers
    without: LeverRow  # whose `without` is

    @property
    def ratio(self) -> float:
        """What the lever leaves of the modelled cycles, as d3: below 1 where it saves."""
        return self.present.present.d3 / self.without.without.d3


def best(rows: list[LeverRow]) -> list[Best]:
    """Of each lever and variant what a user would get, with the lever and without it.

    What is wrong without the lever is no measure of it, and left out.
    """
    found: dict[tuple[str, str], list[LeverRow]] = {}
    for r in (r for r in rows if r.right):
        found.setdefault((r.made.lever.name, r.made.name), []).append(r)
    return [
        Best(
            own[0].made,
            min(own, key=lambda r: r.present.d3),
            min(own, key=lambda r: r.without.d3),
        )
        for own in found.values()
    ]


def mean(rows: list[Best]) -> float:
    """The geometric mean of ratios."""
    return math.exp(sum(math.log(r.ratio) for r in rows) / len(rows))


def _print(comparison: LeverComparison, wanted: tuple[Lever, ...]) -> None:
    print_table(_HEADINGS, [_line(r) for r in sorted(comparison.rows, key=_order)])
    print("\nEach lever, where it changes anything; d3 with it, of d3 without, each by the compiler"
          " that is better at it:")  # fmt: skip
    lines = []
    both = best(comparison.rows)
    for lever in wanted:
        own = [r for r in both if r.made.lever == lever]
        if own:
            least, most = min(own, key=lambda r: r.ratio), max(own, key=lambda r: r.ratio)
            lines.append((
                lever.name, lever.what, len(own), f"{mean(own):.3f}",
                f"{least.ratio:.2f} {least.made.entry.kernel.id}",
                f"{most.ratio:.2f} {most.made.entry.kernel.id}",
            ))  # fmt: skip
        else:
            lines.append((lever.name, lever.what, 0, "", "", ""))
    print_table(("lever", "what", "variants", "mean", "least", "most"), lines)
    for name, made_by in comparison.compilers.items():
        print(f"{name}: {made_by.version}: {made_by.flags}")


def _order(row: LeverRow) -> tuple[int, str, str]:
    names = [lever.name for lever in chosen(())]
    return names.index(row.made.lever.name), row.made.name, row.compiler


def _line(r: LeverRow) -> tuple[object, ...]:
    return (
        r.made.lever.name, r.made.entry.kernel.id, r.made.schedule.name, r.made.case.name,
        r.compiler, r.present.executed, round(r.present.d3, 1), r.present.spilled,
        r.without.executed, round(r.without.d3, 1), r.without.spilled, f"{r.ratio:.2f}",
    )  # fmt: skip


def _as_json(comparison: LeverComparison) -> dict[str, Any]:
    return {
        "compilers": {n: vars(c) for n, c in comparison.compilers.items()},
        "levers": [
            {
                "lever": r.made.lever.name,
                "kernel": r.made.entry.kernel.id,
                "variant": r.made.name,
                "case": r.made.case.name,
                "compiler": r.compiler,
                "function": r.function,
                "with": vars(r.present),
                "without": vars(r.without),
                "ratio": r.ratio,
            }
            for r in comparison.rows
        ],
        "best": [
            {
                "lever": b.made.lever.name,
                "variant": b.made.name,
                "case": b.made.case.name,
                "with": {"compiler": b.present.compiler, **vars(b.present.present)},
                "without": {"compiler": b.without.compiler, **vars(b.without.without)},
                "ratio": b.ratio,
            }
            for b in best(comparison.rows)
        ],
        "wrong": comparison.wrong,
    }
