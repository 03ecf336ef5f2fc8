# SPDX-License-Identifier: BSD-2-Clause
"""The simulator's loops of two checkouts, in turn in one run: what a change is worth.

A machine that others load for a while slows both: each round runs both, in alternating order, and
the ratio of a loop is the median of the rounds' own ratios.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.host import native
from daedalus.generator.measure.gpu.device_bench import LINE

MODES = ("plain", "strict", "timed")
_TARGET = "daedalus_v3d_bench_simulator"
_SECONDS = "0.1"  # a loop
Speeds = Mapping[tuple[str, str], float]
"""Millions of instructions a second, by program and mode."""


@dataclass(frozen=True)
class Compared:
    """A loop's speeds there and here: medians, and the ratio here / there with its extremes."""

    program: str
    mode: str
    there: float
    here: float
    ratio: float
    least: float
    most: float


def speeds_of(text: str) -> Speeds:
    """What the loops' program has printed."""
    return {
        (name, mode): float(value)
        for name, *values in LINE.findall(text)
        for mode, value in zip(MODES, values, strict=True)
    }


def compare(rounds: Sequence[tuple[Speeds, Speeds]]) -> list[Compared]:
    """Of rounds of (there, here). Loops that one of the two does not have are left out."""
    keys = [k for k in rounds[0][1] if all(k in there and k in here for there, here in rounds)]
    found = []
    for key in keys:
        there = [t[key] for t, _ in rounds]
        here = [h[key] for _, h in rounds]
        ratios = [h / t for t, h in zip(there, here, strict=True)]
        found.append(
            Compared(*key, statistics.median(there), statistics.median(here),
                     statistics.median(ratios), min(ratios), max(ratios))
        )  # fmt: skip
    return found


def measure(other: Path, rounds: int, advance: Callable[[int], None]) -> list[Compared]:
    """Builds the loops of the checkout `other` and of this one, and runs both in each round."""
    if not (other / "CMakeLists.txt").is_file():
        raise UserError(f"{other} is no checkout", "git worktree add makes one of a commit")
    here = _program(native.build_library("host", targets=(_TARGET,)))
    there = _program(
        native.build_library(
            "host", targets=(_TARGET,), folder="v3d-bench/against", source=str(other.resolve())
        )
    )
    done = []
    for i in range(rounds):
        say(f"round {i + 1} of {rounds}")
        order = (there, here) if i % 2 == 0 else (here, there)
        speeds = {p: speeds_of(run([p, _SECONDS], what="the simulator's loops")) for p in order}
        done.append((speeds[there], speeds[here]))
        advance(1)
    found = compare(done)
    if not found:
        raise UserError("the two have no loop in common", "", EXIT_FAILED)
    return found


def _program(folder: Path) -> Path:
    return folder / "tests" / "c" / "v3d" / _TARGET
