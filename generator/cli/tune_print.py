# SPDX-License-Identifier: BSD-2-Clause
"""What `daedalus tune` prints: the space, and what a run has found."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from daedalus.generator.base.tables import print_table
from daedalus.generator.compile.kernels import one
from daedalus.generator.tuning.best import best
from daedalus.generator.tuning.entries import OK, Result
from daedalus.generator.tuning.run import Group, Outcome
from daedalus.generator.tuning.space import CONSTRAINTS, Candidate, Space, recorded

# ------------------------------------------------------------------ the space


def spaces(found: Sequence[Space], *, as_json: bool) -> None:
    """The points of each kernel and target, and how many a constraint rejected."""
    if as_json:
        click.echo(json.dumps([_space(s) for s in found], indent=1))
        return
    for s in found:
        for point in s.points:
            click.echo(str(point))
    click.echo("")
    rows = [
        (s.kernel_id, s.target, s.tried, len(s.candidates), _rejections(s.rejected)) for s in found
    ]
    print_table(("kernel", "target", "choices", "points", "rejected by"), rows)
    total: Counter[str] = sum((s.rejected for s in found), Counter())
    targets = {s.target for s in found}
    click.echo("")
    print_table(
        ("constraint", "rejects", "of", "says"),
        [
            (c.name, total[c.name], ", ".join(c.targets), c.words)
            for c in CONSTRAINTS
            if targets & set(c.targets)
        ],
    )
    points, tried = sum(len(s.candidates) for s in found), sum(s.tried for s in found)
    click.echo(f"\n{points} points of {tried} choices")


def _rejections(counts: Counter[str]) -> str:
    """Counts in the order in which constraints are asked."""
    return ", ".join(f"{c.name} {counts[c.name]}" for c in CONSTRAINTS if counts[c.name])


def _space(s: Space) -> dict[str, object]:
    return {
        "kernel": s.kernel_id, "target": s.target, "choices": s.tried,
        "points": [str(p) for p in s.points], "rejected": dict(s.rejected),
    }  # fmt: skip


# ------------------------------------------------------------------ a run


def told(result: Result) -> str:
    """A result, for people."""
    if result.median is None:
        return f"{result.point}: {result.verdict}: {result.reason}"
    return f"{result.point}: {result.median:.2f} ns ({result.low:.2f}..{result.high:.2f})"


@dataclass(frozen=True)
class Best:
    """The fastest point of a group, and the fastest of the variants on record."""

    group: Group
    visited: int
    timed: int
    best: tuple[Candidate, Result] | None
    recorded: tuple[Candidate, Result] | None
    recorded_said: str  # of those on record without a time, why

    @property
    def ratio(self) -> float | None:
        """The best's time by that of what is on record."""
        if self.best is None or self.recorded is None:
            return None
        return (self.best[1].median or 0) / (self.recorded[1].median or 1)


def bests(outcome: Outcome) -> list[Best]:
    """Of each group, in order."""
    return [_best(g, outcome.results[n]) for n, g in enumerate(outcome.groups)]


def _best(group: Group, results: dict[Candidate, Result]) -> Best:
    listed = {c.options for c in recorded(one(group.kernel), group.target)}
    timed = {c: r for c, r in results.items() if r.verdict == OK}
    own = {c: r for c, r in timed.items() if c.options in listed}
    said = [r.verdict for c, r in results.items() if c.options in listed and c not in own]
    return Best(
        group, len(results), len(timed), _fastest(timed), _fastest(own),
        ", ".join(dict.fromkeys(said)),
    )  # fmt: skip


def _fastest(results: dict[Candidate, Result]) -> tuple[Candidate, Result] | None:
    """The best, as `tune show` and recipes have it."""
    if not results:
        return None
    taken = best(list(results.values())).taken
    return next((c, r) for c, r in results.items() if r is taken)


def outcome(found: Outcome, path: Path, *, as_json: bool) -> list[Result]:
    """Prints what a run found, and where it is kept; returns the points that compute wrongly."""
    wrong = [r for of in found.results.values() for r in of.values() if r.verdict == "wrong"]
    rows = bests(found)
    if as_json:
        click.echo(json.dumps(_data(found, rows, path), indent=1))
        return wrong
    print_table(
        ("kernel", "class", "target", "points", "timed", "best", "compiler, workgroup", "ns",
         "least", "most", "on record", "ns", "best by it"),
        [_row(b) for b in rows if b.visited],
    )  # fmt: skip
    verdicts = ", ".join(f"{n} {v}" for v, n in sorted(found.verdicts.items()))
    click.echo(
        f"\n{found.done + found.known} points visited: {found.done} done, {found.known} known"
        f" ({verdicts or 'none'}); {found.seconds:.0f} s; {found.ended}; kept in {path}"
    )
    for r in wrong:
        click.echo(f"wrong: {r.point}: {r.reason}")
    return wrong


def _row(b: Best) -> tuple[object, ...]:
    head = (b.group.kernel, b.group.class_name, b.group.target, b.visited, b.timed)
    if b.best is None:
        return (*head, "none", "", "", "", "", b.recorded_said, "", "")
    c, r = b.best
    how = c.compiler or (str(c.workgroup) if c.workgroup else "")
    own: tuple[str, ...] = (b.recorded_said or "none visited", "", "")
    if b.recorded is not None:
        was, ratio = b.recorded[1].median or 0, b.ratio or 0
        own = (b.recorded[0].options.name, f"{was:.2f}", f"{ratio:.3f}")
    return (
        *head, c.options.name, how, f"{r.median:.2f}", f"{r.low:.2f}", f"{r.high:.2f}", *own
    )  # fmt: skip


def _data(found: Outcome, rows: list[Best], path: Path) -> dict[str, Any]:
    return {
        "journal": str(path), "ended": found.ended, "seconds": round(found.seconds, 1),
        "visited": found.done + found.known, "done": found.done, "known": found.known,
        "verdicts": dict(found.verdicts),
        "groups": [
            {
                "kernel": b.group.kernel, "class": b.group.class_name, "target": b.group.target,
                "visited": b.visited, "timed": b.timed, "best": _point(b.best),
                "recorded": _point(b.recorded), "ratio": b.ratio,
            }
            for b in rows
        ],
    }  # fmt: skip


def _point(found: tuple[Candidate, Result] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    r = found[1]
    return {"point": r.point, "ns": r.median, "low": r.low, "high": r.high}
