# SPDX-License-Identifier: BSD-2-Clause
"""Which kernels `check` compares where none is named: what has no record, and a sample by the date.

A record holds for a variant's `input_hash`, so what it vouches for need not be compared anew. What
no hash covers, such as the runtime and the compilers, is why a sample of the others is: a twelfth a
day, each kernel once in twelve days.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from daedalus.generator.base import records
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.variants import Variant

DAYS = 12  # in which every kernel has been in a sample, and every costly test has run


@dataclass(frozen=True)
class Choice:
    """stale: some variant has no record of its code; sample: of the others, those of today."""

    stale: tuple[Entry, ...]
    sample: tuple[Entry, ...]
    of: int  # kernels that there are

    def __str__(self) -> str:
        return (
            f"{self.of} kernels: {len(self.stale)} have variants without a record,"
            f" {len(self.sample)} are today's sample of the others; --all compares all"
        )


def one_a_family(entries: Sequence[Entry], variants: Sequence[Variant]) -> tuple[Entry, ...]:
    """What has variants without a record of their code, and of each family's others the first."""
    made = defaultdict[str, list[Variant]](list)
    for v in variants:
        made[v.kernel.id].append(v)
    stale = [e for e in entries if not _on_record(made[e.kernel.id])]
    first: dict[str, Entry] = {}
    for e in sorted(entries, key=lambda e: e.kernel.id):
        if e not in stale:
            first.setdefault(e.kernel.family, e)
    return tuple(e for e in entries if e in stale or first.get(e.kernel.family) is e)


def today() -> date:
    """The same all over the world."""
    return datetime.now(UTC).date()


def choose(
    entries: Sequence[Entry], variants: Mapping[str, Sequence[Variant]], day: date | None = None
) -> Choice:
    """Of kernels with their variants, by id."""
    stale = tuple(e for e in entries if not _on_record(variants[e.kernel.id]))
    return Choice(stale, tuple(e for e in sample(entries, day) if e not in stale), len(entries))


def sample(entries: Sequence[Entry], day: date | None = None) -> list[Entry]:
    """The kernels that are a day's."""
    number = (day or today()).toordinal()
    ordered = sorted(entries, key=lambda e: e.kernel.id)
    return [e for n, e in enumerate(ordered) if (n - number) % DAYS == 0]


def _on_record(variants: Sequence[Variant]) -> bool:
    known = records.read(variants[0].kernel.id, records.VERIFIED) if variants else {}
    return all(known.get(v.name, {}).get("input_hash") == v.input_hash for v in variants)
