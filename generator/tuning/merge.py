# SPDX-License-Identifier: BSD-2-Clause
"""Journals of several runs or boards put into one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator.tuning.journal import Found, Place, Problem, Union, read


@dataclass(frozen=True)
class Conflict:
    """Two lines of the same result, at the same second, that say different things."""

    kept: Place
    left_out: Place

    def __str__(self) -> str:
        return (
            f"{self.left_out}: the same result at the same time as {self.kept}, with other"
            " figures; the first one is taken"
        )


@dataclass(frozen=True)
class Merged:
    """added: lines the file did not hold; known: lines that it, or an earlier file, held."""

    added: int
    known: int
    conflicts: tuple[Conflict, ...]
    problems: tuple[Problem, ...]


def merge(out: Path, sources: Sequence[Path]) -> Merged:
    """Adds to `out` each line of the sources that it lacks, in their order.

    `out` is only appended to: what lies in it stays, lines with problems too. Raises
    FileNotFoundError for a source that does not exist.
    """
    journals = []
    for path in sources:
        path.stat()
        journals.append(read(path))
    own = read(out)
    first: dict[tuple[str, ...], Found] = {}
    conflicts: list[Conflict] = []
    known = 0
    for f in own.found:
        first.setdefault(f.entry.identity, f)
    new: list[Found] = []
    for f in (f for j in journals for f in j.found):
        kept = first.setdefault(f.entry.identity, f)
        if kept is f:
            new.append(f)
            continue
        known += 1
        if kept.text != f.text:
            conflicts.append(Conflict(kept.at, f.at))
    added = Union(out).add(new)
    problems = tuple(p for j in (own, *journals) for p in j.problems)
    return Merged(added, known + len(new) - added, tuple(conflicts), problems)
