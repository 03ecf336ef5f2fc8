# SPDX-License-Identifier: BSD-2-Clause
"""What limits a kernel: instructions and bytes of an item against what issues and moves at most.

Of the QPU by the record of `bench --qpu`, of NEON by that of `bench --model`: both modelled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from daedalus.generator.measure.gpu.taken import DEFAULT
from daedalus.generator.report.sources import Sources
from daedalus.generator.tuning.rules import Span

RESOURCES = ("issue", "tmu", "memory")


@dataclass(frozen=True)
class Spot:
    """A kernel by one route, as the timing model has it.

    kernel, item_class, variant   what it is
    instructions, moved   an item: executed, and bytes between the caches and memory
    unique    bytes of an item that are read or written, each once
    ns        of an item, the job alone
    bounds    ns of an item that each resource needs at least
    limit     the resource that needs most
    changed   the variant's code is another one now, or there is none; by its hash where the record
              has it, else by that of all generated code
    """

    kernel: str
    item_class: str
    variant: str
    instructions: float
    moved: float
    unique: float
    ns: Span
    bounds: Mapping[str, Span]
    limit: str
    changed: bool

    @property
    def intensity(self) -> float:
        """Instructions a byte moved."""
        return self.instructions / self.moved

    @property
    def rate(self) -> float:
        """Instructions a ns."""
        return self.instructions / self.ns.mid


@dataclass(frozen=True)
class Roofline:
    """issue: instructions a ns at most; bandwidth: bytes a ns at most, with all profiles' range.

    by  target -> its spots, in the order of the kernels
    """

    items: int
    generator: str
    issue: Span
    bandwidth: Span
    by: Mapping[str, tuple[Spot, ...]]


def roofline(record: Mapping[str, Any], sources: Sources) -> Roofline | None:
    """Of the kernels of the report; None where the record has none of them."""
    wanted = [k for k in record["kernels"] if k["kernel"] in sources.kernels]
    if not wanted:
        return None
    same = record["generator"] == sources.manifest["generator"]
    by = {t: tuple(_spot(k, k[t], sources, same=same) for k in wanted) for t in ("qpu", "glsl")}
    taken = [k[t] for k in record["kernels"] for t in ("qpu", "glsl")]
    return Roofline(
        record["items"], record["generator"], _roof(taken, "instructions", "issue"),
        _roof(taken, "memory_bytes", "memory"), by,
    )  # fmt: skip


def _spot(
    kernel: Mapping[str, Any], taken: Mapping[str, Any], sources: Sources, *, same: bool
) -> Spot:
    items, name = taken["items"], f"daedalus_{taken['variant']}"
    profiles: Mapping[str, Mapping[str, float]] = taken["by"]

    def ns(clocks: str) -> Span:
        """ns an item that so many clocks are, profile by profile: each has its own clock."""
        return _span({p: t[clocks] * t["ns"] / t["clocks"] / items for p, t in profiles.items()})

    return Spot(
        kernel["kernel"], kernel["class"], name,
        taken["instructions"] / items, taken["memory_bytes"] / items,
        kernel["unique_bytes"] / items, ns("clocks"), {r: ns(r) for r in RESOURCES},
        taken["bound_by"], _changed(name, taken.get("input_hash"), sources, same=same),
    )  # fmt: skip


def _changed(variant: str, input_hash: str | None, sources: Sources, *, same: bool) -> bool:
    """Whether a variant's code is not what a record has figures of."""
    known = sources.variants.get(variant)
    if known is None:
        return True
    return not same if input_hash is None else bool(known["input_hash"] != input_hash)


def _roof(taken: Sequence[Mapping[str, Any]], what: str, clocks: str) -> Span:
    """The most of something a ns while its resource is busy, by any job, profile by profile."""
    names = taken[0]["by"]
    best = {}
    for p in names:
        rates = [
            t[what] / t["by"][p][clocks] * t["by"][p]["clocks"] / t["by"][p]["ns"] for t in taken
        ]
        best[p] = max(rates)
    return _span(best)


def _span(by: Mapping[str, float]) -> Span:
    return Span(min(by.values()), by[DEFAULT], max(by.values()))


@dataclass(frozen=True)
class Port:
    """A NEON function by its model: cycles of a piece of work, at least by the ports, and taken."""

    kernel: str
    case: str
    function: str
    compiler: str
    executed: float
    bound: float
    d3: float
    d4: float


def ports(record: Mapping[str, Any], sources: Sources) -> tuple[Port, ...]:
    """The functions that stand for the kernels of the report."""
    rows: Iterable[Mapping[str, Any]] = record["kernels"]
    return tuple(
        Port(
            r["kernel"], r["case"], r["function"], r["compiler"], r["executed"], r["port_bound"],
            r["d3"], r["d4"],
        )
        for r in rows
        if r["stands_for_kernel"] and r["kernel"] in sources.kernels
    )  # fmt: skip
