# SPDX-License-Identifier: BSD-2-Clause
"""Our functions beside hand-written ones, by figures of the same run."""

import math
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import geometric_mean

from daedalus.generator.base.progress import say
from daedalus.generator.measure import count, count_cases
from daedalus.generator.measure.count import Count
from daedalus.generator.measure.count_cases import Case, Family
from daedalus.generator.measure.neon.bound import Gap, gap
from daedalus.generator.measure.neon.figures import Figures, figures
from daedalus.generator.measure.neon.llvm import Llvm

TIE = 0.10  # cycles closer than this are called equal
COMPILERS = ("gcc", "clang")


def verdict(ratio: float, *, whole: bool) -> str:
    """What cycles of ours, of theirs, let say; `whole`: whether ours does all that theirs does."""
    if not whole:
        return "less work"
    if abs(ratio - 1) <= TIE:
        return "tie"
    return "ahead" if ratio < 1 else "behind"


@dataclass(frozen=True)
class Row:
    """One of our functions on a case, compiled by one compiler, and the hand-written one."""

    compiler: str
    counted: Count
    ours: Figures
    by_hand: Figures

    @property
    def case(self) -> Case:
        """What both do."""
        return self.counted.work.case

    @property
    def ratio(self) -> float:
        """Modelled cycles of ours, of theirs, as d3."""
        return self.ours.d3 / self.by_hand.d3

    @property
    def verdict(self) -> str:
        """What the model lets say."""
        return verdict(self.ratio, whole=self.counted.work.whole)


@dataclass(frozen=True)
class FamilyMean:
    """The best rows of a family's cases by one compiler."""

    family: Family
    compiler: str
    rows: list[Row]

    @property
    def mean(self) -> float:
        """Geometric, of d3, of theirs."""
        return geometric_mean([r.ratio for r in self.rows])

    @property
    def worst(self) -> Row:
        """The row that takes most, of theirs."""
        return max(self.rows, key=lambda r: r.ratio)


@dataclass(frozen=True)
class Comparison:
    """What was compared, and by what."""

    llvm: Llvm
    compilers: dict[str, count.Compiler]
    rows: list[Row]

    def best(
        self, case: Case, *, given: bool = False, prod: bool = False, compiler: str = ""
    ) -> Row | None:
        """The row of the fewest cycles of a case, of functions that do the whole work, and right.

        With `given`, of those that take more for granted than the standard grants; with `prod`, of
        those in the library that decoders link; with `compiler`, of what that one compiled.
        """
        found = [
            r
            for r in self.rows
            if r.case.key == case.key
            and r.counted.work.whole
            and not r.counted.difference
            and r.counted.work.given == given
            and (r.counted.work.prod or not prod)
            and compiler in ("", r.compiler)
        ]
        return min(found, key=_cost) if found else None

    def cases(self) -> list[Case]:
        """All cases, in the order of their file."""
        return list({r.case.key: r.case for r in self.rows}.values())

    def standing(self, *, prod: bool = False, compiler: str = "") -> list[Row]:
        """The best rows of the cases that stand for a kernel."""
        chosen = [
            self.best(c, prod=prod, compiler=compiler) for c in self.cases() if c.d3_bar is not None
        ]
        return [row for row in chosen if row is not None]

    def gaps(self, row: Row) -> tuple[Gap, Gap]:
        """What stands between ours, and theirs, and what its ports need."""
        counted = row.counted
        return (
            gap(self.llvm, counted.traced.calls, row.ours),
            gap(self.llvm, counted.by_hand.calls, row.by_hand),
        )

    def mean(self, *, prod: bool = False, compiler: str = "") -> float | None:
        """The geometric mean of d3, of theirs, each kernel once, by its best variant.

        Where several cases stand for a kernel, as one block and two do for h264_idct4, the lowest
        counts. This is the mean that has a bar. None of nothing.
        """
        lowest: dict[str, float] = {}
        for row in self.standing(prod=prod, compiler=compiler):
            lowest[row.case.kernel] = min(row.ratio, lowest.get(row.case.kernel, math.inf))
        return _mean(list(lowest.values()))

    def mean_of_cases(self) -> float | None:
        """The same over all cases that stand for a kernel: both of h264_idct4 count."""
        return _mean([row.ratio for row in self.standing()])

    def family_means(self) -> list[FamilyMean]:
        """Of the families that have cases here, by each compiler: of every case the best of the
        library's variants, which calls nothing and is called by the decoder entry."""
        found = []
        for family in count_cases.families():
            for compiler in self.compilers:
                rows = [self._variant(c, family, compiler) for c in self.cases()]
                own = [r for r in rows if r is not None]
                if own:
                    found.append(FamilyMean(family, compiler, own))
        return found

    def _variant(self, case: Case, family: Family, compiler: str) -> Row | None:
        """The best of a family's case; where no variant does the work, the entry."""
        if case.family != family.of or (family.without and not case.items):
            return None
        found = [
            r
            for r in self.rows
            if r.case.key == case.key
            and r.compiler == compiler
            and ((w := r.counted.work).variant or (not case.items and w.whose == "entry"))
            and w.whole
            and w.prod
            and not w.given
            and (not family.without or family.without not in w.needs)
            and not r.counted.difference
        ]
        return min(found, key=_cost) if found else None


def _mean(ratios: list[float]) -> float | None:
    return geometric_mean(ratios) if ratios else None


def _cost(row: Row) -> tuple[float, float, int]:
    return row.ours.d3, row.ours.d4, row.ours.executed


def compare(
    llvm: Llvm, wanted: tuple[str, ...] = (), compilers: Iterable[str] = COMPILERS
) -> Comparison:
    """Traces and models every case of the wanted kernels (none named: all), by each compiler."""
    made_by: dict[str, count.Compiler] = {}
    rows: list[Row] = []
    for name in compilers:
        made_by[name], counted = count.count_all(wanted, clang=name == "clang")
        say(f"modelling {len(counted)} traces, compiled by {name}")
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            modelled = list(pool.map(lambda c: figures(llvm, c.traced.calls), counted))
        by_hand = {
            c.work.case.key: f
            for c, f in zip(counted, modelled, strict=True)
            if c.work.whose == "theirs"
        }
        rows += [
            Row(name, c, f, by_hand[c.work.case.key])
            for c, f in zip(counted, modelled, strict=True)
            if c.work.whose != "theirs"
        ]
    return Comparison(llvm, made_by, rows)


def above_bars(comparison: Comparison, *, every: bool) -> list[str]:
    """What takes more of theirs than its bar allows, in words.

    The mean's bar holds where `every` kernel was compared.
    """
    found = []
    for case in comparison.cases():
        for bar, given in ((case.d3_bar, False), (case.given_d3_bar, True)):
            if bar is None:
                continue
            what = f"{case.kernel}, {case.name}{', with assumptions' if given else ''}"
            row = comparison.best(case, given=given)
            if row is None:
                found.append(f"{what}: none of our functions does the whole work, and right")
            elif row.ratio > bar:
                found.append(f"{what}: {row.ratio:.4f} of theirs in d3, the bar is {bar}")
    for one in comparison.family_means():
        f, what = one.family, f"{one.family.name}, by {one.compiler}"
        if one.mean > f.mean_bar:
            found.append(f"{what}: mean of d3 {one.mean:.4f} of theirs, the bar is {f.mean_bar}")
        found += [
            f"{what}: {r.case.kernel}, {r.case.name}: {r.ratio:.4f} of theirs in d3, the bar is"
            f" {f.bar}"
            for r in one.rows
            if r.ratio > f.bar
        ]
    mean, bar = comparison.mean(), count_cases.d3_mean_bar()
    if every and mean is not None and mean > bar:
        found.append(f"geometric mean of d3: {mean:.4f} of theirs, the bar is {bar}")
    return found
