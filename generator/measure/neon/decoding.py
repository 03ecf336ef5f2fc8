# SPDX-License-Identifier: BSD-2-Clause
"""Modelled cycles of the calls that decoding a clip makes.

A call is not modelled itself. It takes what the cases of its function in tools/count/cases*.toml
say, by how many instructions it executes: between two cases in proportion, beyond them at the rate
of the nearest one. A function without a case of its own has the rate of its family's cases.
"""

import os
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.progress import say
from daedalus.generator.compile.registry import load
from daedalus.generator.compile.signatures import read_signature
from daedalus.generator.measure import count, count_cases
from daedalus.generator.measure.decodes import Decoded, Families
from daedalus.generator.measure.neon.figures import quick
from daedalus.generator.measure.neon.llvm import Llvm

Point = tuple[int, float]  # instructions of a case, and cycles


@dataclass
class Model:
    """What cases say of one side's functions, by what their calls are told by."""

    _cases: dict[str, list[Point]] = field(default_factory=lambda: defaultdict(list))
    _families: dict[str, list[Point]] = field(default_factory=lambda: defaultdict(list))

    def add(self, key: str, family: str, executed: int, cycles: float) -> None:
        """Takes in a case."""
        self._cases[key] = sorted({*self._cases[key], (executed, cycles)})
        self._families[family].append((executed, cycles))

    def cycles(self, key: str, family: str, executed: int) -> float | None:
        """What a call takes; None where its family has no case either."""
        if key in self._cases:
            return between(self._cases[key], executed)
        if family in self._families:
            return (
                executed
                * sum(c for _, c in self._families[family])
                / sum(n for n, _ in self._families[family])
            )
        return None


def between(points: Sequence[Point], executed: int) -> float:
    """Cycles of so many instructions, by cases in rising order."""
    at = bisect([n for n, _ in points], executed)
    if at in (0, len(points)):
        n, cycles = points[max(at - 1, 0)]
        return cycles * executed / n
    (low, few), (high, many) = points[at - 1], points[at]
    return few + (many - few) * (executed - low) / (high - low)


@dataclass(frozen=True)
class Models:
    """Ours and theirs.

    kernels  of which kernel each of their functions is the counterpart
    """

    families: Families
    ours: Model
    theirs: Model
    kernels: dict[str, str]

    def of(self, decoded: Decoded) -> Counter[str]:
        """Cycles of what a decode called, by family; under "" calls that nothing is known of."""
        found: Counter[str] = Counter()
        model = self.ours if decoded.way == "ours" else self.theirs
        for call in decoded.calls:
            family = self.families.of(call.symbol)
            took = model.cycles(self._key(decoded.way, call.symbol), family, call.executed)
            if took is None:
                family, took = "", float(call.executed)
            found[family] += round(took * call.times)
        return found

    def _key(self, way: str, symbol: str) -> str:
        if way == "ours":
            return self.families.kernel(symbol) or ""
        return self.kernels.get(symbol, "")


def called(families: Families, found: Iterable[Decoded]) -> set[str]:
    """The kernels whose code was called."""
    symbols = {c.symbol for d in found if d.way == "ours" for c in d.calls}
    return {k for s in symbols if (k := families.kernel(s)) is not None}


def models(llvm: Llvm, families: Families, kernels: Collection[str], *, clang: bool) -> Models:
    """Models the cases of these kernels: our entries, and their functions."""
    ours, theirs = Model(), Model()
    measured = sorted({c.kernel for c in count_cases.cases()} & set(kernels))
    if not measured:  # of none named, all would be counted
        return Models(families, ours, theirs, _theirs(kernels))
    compiler, counted = count.count_all(tuple(measured), clang=clang)
    wanted = [c for c in counted if c.work.whose in ("entry", "theirs")]
    if wrong := [text for c in wanted for text in c.wrong]:
        raise UserError("\n".join(wrong), "cycles of these calls say nothing", EXIT_FAILED)
    say(f"modelling {len(wanted)} traces, compiled by {compiler.version}")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        modelled = pool.map(lambda c: quick(llvm, c.traced.calls), wanted)
    for c, figures in zip(wanted, modelled, strict=True):
        model = ours if c.work.whose == "entry" else theirs
        kernel = c.work.case.kernel
        model.add(kernel, families.of_kernel(kernel), figures.executed, figures.d3)
    return Models(families, ours, theirs, _theirs(kernels))


def _theirs(kernels: Collection[str]) -> dict[str, str]:
    """Of their functions for arm64 that have names the kernels."""
    found: dict[str, str] = {}
    for kernel in (e.kernel for e in load() if e.kernel.id in kernels):
        for entry in kernel.decoders:
            for pointer in read_signature(kernel, entry).pointers:
                found |= dict.fromkeys(pointer.symbols("arm64"), kernel.id)
    return found
