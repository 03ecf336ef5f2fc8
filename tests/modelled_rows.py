# SPDX-License-Identifier: BSD-2-Clause
"""Rows of comparisons of functions, as if they had been traced and modelled."""

from dataclasses import replace

from daedalus.generator.measure import count, trace
from daedalus.generator.measure.count_cases import Case, Work
from daedalus.generator.measure.neon import llvm
from daedalus.generator.measure.neon.comparison import Comparison, Row
from daedalus.generator.measure.neon.figures import Figures

CASE = Case("k", "ffmpeg", "s", "theirs", "work", 1.25, {}, entry="entry", d3_bar=1.05)
_RETURNS = (trace.Call((0,), (0xD65F03C0,)),)
HAND = Figures(100, 50.0, 48.0, 60, 40.0, {"V0": 40.0}, 0, 0)


def row(
    ratio: float, *, case: Case = CASE, function: str = "entry", variant: str = "",
    whole: bool = True, compiler: str = "gcc",
) -> Row:  # fmt: skip
    """A function that takes `ratio` of theirs' 50 cycles, as d3, and leaves the same pixels."""
    work = Work(case, function, "variant" if variant else "entry", False, variant, whole)
    traced = count.Traced(work, _RETURNS, b"")
    return Row(compiler, count.Count(traced, traced), replace(HAND, d3=50 * ratio), HAND)


def comparison_of(*rows: Row) -> Comparison:
    """Of these rows, by an LLVM and a compiler that are not there."""
    tools = llvm.Llvm("99.0", "llvm-mc", "llvm-mca", "cortex-a76")
    return Comparison(tools, {"gcc": count.Compiler("some compiler 1.0", "-O2")}, list(rows))
