# SPDX-License-Identifier: BSD-2-Clause
"""What `daedalus tune show` tells of a journal, and how."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from daedalus.generator.base.tables import print_table
from daedalus.generator.tuning.best import Best, best
from daedalus.generator.tuning.compare import Side, sides
from daedalus.generator.tuning.entries import OK, Entry, Mixed, Result
from daedalus.generator.tuning.journal import latest
from daedalus.generator.tuning.point import parse_point

SHOWN_TIES = 3


@dataclass(frozen=True)
class Group:
    """Results that compete: of one machine, kernel, class of items, target and scenario.

    best  None where no result has times; rejected: the results that have none
    """

    side: Side
    kernel: str
    item_class: str
    target: str
    scenario: str
    best: Best | None
    rejected: tuple[Result, ...]


@dataclass(frozen=True)
class Shown:
    """groups: in the order of machines, kernels and classes; mixed: CPU and QPU at once."""

    groups: tuple[Group, ...]
    mixed: tuple[Mixed, ...]


def shown(entries: Sequence[Entry], kernel: str) -> Shown:
    """What a journal holds of a kernel, of all where that is empty."""
    groups: list[Group] = []
    for side in sides(entries).values():
        found: dict[tuple[str, str, str, str], list[Result]] = {}
        for r in side.results.values():
            p = parse_point(r.point)
            if kernel in ("", p.kernel):
                found.setdefault((p.kernel, p.item_class, p.target, r.scenario), []).append(r)
        for key in sorted(found):
            good = [r for r in found[key] if r.verdict == OK]
            bad = tuple(r for r in found[key] if r.verdict != OK)
            groups.append(Group(side, *key, best(good) if good else None, bad))
    return Shown(tuple(groups), _last_mixed(entries, kernel))


def _last_mixed(entries: Sequence[Entry], kernel: str) -> tuple[Mixed, ...]:
    found = latest(e for e in entries if isinstance(e, Mixed))
    return tuple(
        m for m in found
        if kernel in ("", *(parse_point(p).kernel for p in (m.cpu_point, m.qpu_point)))
    )  # fmt: skip


def as_json(s: Shown) -> dict[str, Any]:
    """All of it."""

    def result(r: Result) -> dict[str, Any]:
        return {"type": r.type, **r.as_members()}

    def group(g: Group) -> dict[str, Any]:
        told: dict[str, Any] = {
            "fingerprint": g.side.fingerprint, "modelled": g.side.modelled, "kernel": g.kernel,
            "class": g.item_class, "target": g.target, "scenario": g.scenario, "best": None,
            "ties": [], "rejected": [result(r) for r in g.rejected],
        }  # fmt: skip
        if g.best:
            told |= {"best": result(g.best.taken), "ties": [result(r) for r in g.best.ties]}
        return told

    return {"groups": [group(g) for g in s.groups],
            "mixed": [{"type": m.type, **m.as_members()} for m in s.mixed]}  # fmt: skip


def print_shown(s: Shown) -> None:
    """Tables: a machine's best points, what was rejected, and CPU and QPU at once."""
    by_side: dict[str, list[Group]] = {}
    for g in s.groups:
        by_side.setdefault(g.side.fingerprint, []).append(g)
    for n, groups in enumerate(by_side.values()):
        side = groups[0].side
        click.echo(("\n" if n else "") + ("modelled: " if side.modelled else "") + side.words())
        print_table(
            ("kernel", "class", "target", "scenario", "best", "ns an item", "interval", "ties"),
            [_row(g) for g in groups],
        )
        _print_rejected([r for g in groups for r in g.rejected])
    if s.mixed:
        click.echo("\nCPU and QPU at once, items a second")
        headings = ("fingerprint", "scenario", "CPU alone", "CPU with", "QPU alone", "QPU with")
        print_table((*headings, "verdict"), [_mixed_row(m) for m in s.mixed])


def _row(g: Group) -> tuple[object, ...]:
    what = (g.kernel, g.item_class, g.target, g.scenario)
    if g.best is None:
        return (*what, f"none of {len(g.rejected)}", "", "", "")
    r = g.best.taken
    ties = [_how(t) for t in g.best.ties]
    more = [f"{len(ties) - SHOWN_TIES} more"] if len(ties) > SHOWN_TIES else []
    return (*what, _how(r), f"{r.median:.2f}", f"{r.low:.2f}..{r.high:.2f}",
            ", ".join(ties[:SHOWN_TIES] + more))  # fmt: skip


def _how(r: Result) -> str:
    """A point without what the table has in other columns."""
    p = parse_point(r.point)
    group = f" {p.workgroup}" if p.workgroup else ""
    return f"{p.options} {p.compiler or p.route}{group}"


def _print_rejected(rejected: Sequence[Result]) -> None:
    if not rejected:
        return
    reasons = Counter((r.verdict, r.reason) for r in rejected)
    click.echo(f"rejected: {len(rejected)}")
    examples = {(r.verdict, r.reason): r.point for r in reversed(rejected)}
    print_table(
        ("points", "verdict", "reason", "such as"),
        [(n, *why, examples[why]) for why, n in reasons.most_common()],
    )


def _mixed_row(m: Mixed) -> tuple[object, ...]:
    figures = (m.cpu_alone, m.cpu_with, m.qpu_alone, m.qpu_with)
    told = ("" if f is None else f"{f:.4g}" for f in figures)
    return (m.fingerprint, m.scenario, *told, m.reason if m.verdict != OK else OK)
