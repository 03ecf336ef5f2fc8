# SPDX-License-Identifier: BSD-2-Clause
"""Both routes to the GPU beside each other, and each beside one NEON core."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean

from daedalus.dsl.ir import Kernel
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile import qpu_choices
from daedalus.generator.compile.registry import find, load
from daedalus.generator.measure.gpu import glsl, qpu
from daedalus.generator.measure.gpu.taken import DEFAULT, Taken
from daedalus.generator.options import parse_variant
from daedalus.generator.targets.qpu.select import Selected
from daedalus.generator.targets.qpu.text import assembly
from daedalus.generator.verify.qpu_trial import selected

ISSUE_AT_MOST = 0.7  # geometric mean over the kernels with a bar
TOTAL_AT_MOST = 0.9
MESA_AT_MOST = 0.58  # geometric mean of instructions, by Mesa's
NEON_GHZ = 2.4  # a Raspberry Pi 5 as it is sold
BANDS = ((1.0, "GREEN"), (0.5, "YELLOW"), (0.1, "ORANGE"), (0.0, "RED"))


@dataclass(frozen=True)
class Wish:
    """A kernel of tools/bench/qpu.toml."""

    kernel: str
    class_name: str
    mappings: tuple[str, ...]
    bar: float | None = None  # instructions an item at most
    mesa: float | None = None  # instructions an item of Mesa's, published
    neon: tuple[float, float] | None = None  # cycles an item
    spread: float = 0.1
    published: float | None = None  # R
    usual: bool = True  # one of those that are meant where no kernel is named


@dataclass(frozen=True)
class Interval:
    """A figure by the default settings, and the least and the most by any profile."""

    low: float
    mid: float
    high: float


@dataclass(frozen=True)
class Result:
    """What a kernel takes by both routes, the same items.

    trip  instructions of a trip of the QPU code's loop, an item: its steady state
    """

    wish: Wish
    unique_bytes: int
    qpu: Taken
    glsl: Taken
    trip: float

    @property
    def issue(self) -> Interval:
        """Clocks of issuing, QPU code's by GLSL's; profile by profile, as both are on one board."""
        return interval({p: self.qpu.by[p].issue / self.glsl.by[p].issue for p in self.qpu.by})

    @property
    def total(self) -> Interval:
        return interval({p: self.qpu.by[p].clocks / self.glsl.by[p].clocks for p in self.qpu.by})

    @property
    def total_met(self) -> bool:
        """At most 0.9 of the clocks; or both routes as fast as one and the same resource is."""
        both = self.qpu.base.at_bound and self.glsl.base.at_bound
        same = self.qpu.base.resource == self.glsl.base.resource
        return self.total.mid <= TOTAL_AT_MOST or (both and same)


@dataclass(frozen=True)
class Ratio:
    """R of a route: how many times as fast as one NEON core, and in which band."""

    value: Interval
    band: str  # "undecided" where the interval reaches over a threshold


@dataclass
class Report:
    """All kernels that were asked for.

    whole  whether these are all that have a bar: the means' bars are of all of them
    """

    items: int
    results: list[Result] = field(default_factory=list)
    whole: bool = True

    @property
    def issue(self) -> Interval | None:
        """Geometric mean over the decoder kernels, profile by profile."""
        some = [r for r in self.results if r.wish.bar is not None]
        if not some:
            return None
        return interval(
            {
                p: geometric_mean(r.qpu.by[p].issue / r.glsl.by[p].issue for r in some)
                for p in some[0].qpu.by
            }
        )

    @property
    def mesa(self) -> float | None:
        """Geometric mean of instructions, by what is published of Mesa's."""
        some = [r for r in self.results if r.wish.mesa is not None]
        shares = [r.qpu.instructions / r.qpu.items / (r.wish.mesa or 1) for r in some]
        return geometric_mean(shares) if shares else None

    def missed(self) -> list[str]:
        """The bars that are missed."""
        out = []
        for r in self.results:
            if r.wish.bar is not None and r.trip > r.wish.bar:
                out.append(f"{r.wish.kernel}: {r.trip:.1f} instructions an item, {r.wish.bar:g}")
            if r.wish.neon is not None and not r.total_met:  # it is of a decoder
                out.append(
                    f"{r.wish.kernel}: {r.total.mid:.2f} of the GLSL route's clocks,"
                    f" {TOTAL_AT_MOST:g}, and not both at the bound"
                )
        if not self.whole:
            return out
        if self.mesa is not None and self.mesa > MESA_AT_MOST:
            out.append(f"geometric mean of instructions: {self.mesa:.3f} of Mesa's, {MESA_AT_MOST}")
        if self.issue is not None and self.issue.mid > ISSUE_AT_MOST:
            out.append(f"geometric mean of issue clocks: {self.issue.mid:.3f}, {ISSUE_AT_MOST:g}")
        return out


def wishes(path: Path | None = None) -> list[Wish]:
    """The kernels of tools/bench/qpu.toml."""
    tables = tomllib.loads((path or repo_root() / "tools" / "bench" / "qpu.toml").read_text())
    return [
        Wish(
            kernel, t["class"], tuple(t["mappings"]), t.get("bar"), t.get("mesa"),
            tuple(t["neon"]) if "neon" in t else None, t.get("spread", 0.1), t.get("r"),
            t.get("usual", True),
        )
        for kernel, t in tables.items()
    ]  # fmt: skip


def usual() -> list[Wish]:
    """Those that are meant where no kernel is named."""
    return [w for w in wishes() if w.usual]


def compare(
    wanted: Sequence[Wish], data: Path, items: int, folder: Path, say: Callable[[str], None]
) -> Report:
    """Models all of them on so many items, which `data` has (`./daedalus bench --write-data`)."""
    barred = {w.kernel for w in wishes() if w.bar is not None}
    report = Report(items, whole=barred <= {w.kernel for w in wanted})
    folder.mkdir(parents=True, exist_ok=True)
    for wish in wanted:
        say(f"{wish.kernel}: GLSL")
        by_vulkan = glsl.best(wish.kernel, wish.class_name, data, items, folder)
        say(f"{wish.kernel}: QPU code")
        laid_out = qpu.layout(wish.kernel, wish.class_name, data, items, folder)
        tried = [_mapping(wish.kernel, m, laid_out) for m in wish.mappings]
        best, trip = min(tried, key=lambda t: t[0].base.clocks)
        report.results.append(Result(wish, laid_out.unique_bytes, best, by_vulkan, trip))
    return report


def _mapping(kernel_id: str, name: str, items: qpu.Layout) -> tuple[Taken, float]:
    """What a mapping takes, and instructions of its trip, an item."""
    variant = f"{kernel_id}__qpu_{name}"
    s = program(kernel_id, variant)
    full_name = f"daedalus_{variant}"
    threads = parse_variant(full_name)[1].threads
    code = qpu_choices.schedule(full_name, s.programs, threads).code  # as `gen` makes it
    made = assembly(code)
    return qpu.model(variant, s, made, items), made.trip / s.items


def program(kernel_id: str, variant: str) -> Selected:
    """The program of a variant of a kernel, before it is scheduled."""
    return selected(_kernel(kernel_id), parse_variant(f"daedalus_{variant}")[1])


def _kernel(name: str) -> Kernel:
    entry = find(load(), name)
    assert entry is not None, name
    return entry.kernel


def interval(by: dict[str, float]) -> Interval:
    """Of a figure by each profile."""
    return Interval(min(by.values()), by[DEFAULT], max(by.values()))


def ratio(wish: Wish, taken: Taken) -> Ratio | None:
    """R = M2/M3, both as times of an item: a dispatch of all items, and NEON's cycles in cache.

    The interval is that of the timing model times what the NEON figures may be off, one way and the
    other.
    """
    if wish.neon is None:
        return None
    slow, fast = max(wish.neon), min(wish.neon)
    ns = {p: t.dispatch_ns / taken.items for p, t in taken.by.items()}
    value = Interval(
        fast / NEON_GHZ / (1 + wish.spread) / max(ns.values()),
        wish.neon[0] / NEON_GHZ / ns[DEFAULT],
        slow / NEON_GHZ * (1 + wish.spread) / min(ns.values()),
    )
    bands = {next(name for least, name in BANDS if v >= least) for v in (value.low, value.high)}
    return Ratio(value, bands.pop() if len(bands) == 1 else "undecided")
