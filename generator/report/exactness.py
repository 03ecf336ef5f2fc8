# SPDX-License-Identifier: BSD-2-Clause
"""What was compared with the interpreter, kernel by kernel and device by device."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from daedalus.generator.options import TARGETS
from daedalus.generator.report.sources import Sources
from daedalus.generator.tuning.entries import OK, Check

Column = tuple[str, str]  # target and device


@dataclass(frozen=True)
class Cell:
    """A kernel's variants on a device. conformant: of the items, those that must be bit-exact."""

    variants: int
    items: int
    conformant: int
    mismatches: int
    out_of_bounds: int

    @property
    def exact(self) -> bool:
        return not self.mismatches and not self.out_of_bounds


@dataclass(frozen=True)
class Row:
    """A kernel: its cells in the order of the columns, None where there is nothing.

    unchecked  variants whose code has no record: nothing was compared, or other code was
    refused    what a target cannot make of the kernel, and why
    """

    kernel: str
    variants: int
    cells: tuple[Cell | None, ...]
    unchecked: tuple[str, ...]
    refused: Mapping[str, str]

    @property
    def unchecked_count(self) -> int:
        return len(self.unchecked)


@dataclass(frozen=True)
class Matrix:
    """targets: how many columns each target has, in their order."""

    targets: tuple[tuple[str, int], ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def total(self) -> Cell:
        """Of all cells; variants are counted once a device."""
        cells = [c for r in self.rows for c in r.cells if c]
        return _sum([vars(c) for c in cells], sum(c.variants for c in cells))

    @property
    def share(self) -> float | None:
        """M1: the share of conformant items that are bit-exact; None where nothing was compared."""
        total = self.total()
        return 1 - total.mismatches / total.conformant if total.conformant else None


def matrix(sources: Sources) -> Matrix:
    """Of the records, as far as it is of the code that generated/ has."""
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for name, record in sources.verified.items():
        variant = sources.variants.get(name)
        if variant is not None and variant["input_hash"] == record["input_hash"]:
            runs[name] = record["runs"]
    order: dict[Column, None] = {}
    for target in TARGETS:
        for name, done in runs.items():
            if sources.variants[name]["target"] == target:
                order |= {(target, r["device"]): None for r in done}
    columns = tuple(order)
    rows = tuple(
        _row(sources.records[k], runs, columns, sources.refused.get(k, {})) for k in sources.kernels
    )
    counts = Counter(t for t, _ in columns)
    return Matrix(tuple(counts.items()), columns, rows)


def _row(
    kernel: Mapping[str, Any], runs: Mapping[str, Sequence[Mapping[str, Any]]],
    columns: Sequence[Column], refused: Mapping[str, str],
) -> Row:  # fmt: skip
    cells = []
    for target, device in columns:
        found = [
            r
            for v in kernel["variants"] if v["target"] == target
            for r in runs.get(v["name"], ()) if r["device"] == device
        ]  # fmt: skip
        cells.append(_sum(found, len(found)) if found else None)
    unchecked = tuple(v["name"] for v in kernel["variants"] if v["name"] not in runs)
    return Row(kernel["id"], len(kernel["variants"]), tuple(cells), unchecked, refused)


def _sum(found: Sequence[Mapping[str, Any]], variants: int) -> Cell:
    names = ("items", "conformant", "mismatches", "out_of_bounds")
    return Cell(variants, **{n: sum(r[n] for r in found) for n in names})


@dataclass(frozen=True)
class Checked:
    """What boards' checks in a journal say of a device. failed: the checks with another verdict."""

    target: str
    device: str
    checks: int
    conformant: int
    mismatches: int
    failed: tuple[Check, ...]


def checked(sources: Sources) -> tuple[Checked, ...]:
    """The checks that the journals hold, the last of each key."""
    last = {(e.fingerprint, e.key): e for e in sources.entries if isinstance(e, Check)}
    by_device: dict[Column, list[Check]] = {}
    for c in last.values():
        if c.kernel in sources.kernels:
            by_device.setdefault((c.target, c.device), []).append(c)
    return tuple(
        Checked(
            *place, len(found), sum(c.conformant for c in found),
            sum(c.mismatches for c in found), tuple(c for c in found if c.verdict != OK),
        )
        for place, found in sorted(by_device.items())
    )  # fmt: skip
