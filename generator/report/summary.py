# SPDX-License-Identifier: BSD-2-Clause
"""The summary: what a frame takes by the variants that the recipe takes, beside decoders' own.

What a decoder's own function takes is on file for some kernels: modelled for those of
tools/bench/qpu.toml, measured by others for some cases of tools/count/cases.toml. Where it is not,
there is nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from daedalus.generator.compile.registry import find, load
from daedalus.generator.measure import count_cases
from daedalus.generator.measure.gpu.compare import NEON_GHZ, wishes
from daedalus.generator.report.sources import Sources
from daedalus.generator.tuning.compare import Side
from daedalus.generator.tuning.point import Point, parse_point
from daedalus.generator.tuning.recipe import Recipe
from daedalus.generator.tuning.rules import Span, span_of
from daedalus.generator.verify.gpu_check import frame_grid

BOARD = "Raspberry Pi 5"  # how its name begins, as a board says it itself
Place = tuple[str, str]  # kernel and class of items


@dataclass(frozen=True)
class FrameTime:
    """All items of a frame, of one class; ms.

    taken   what the recipe takes
    theirs  the decoder's own function on one core of a BOARD; None where no figure is on file
    """

    kernel: str
    item_class: str
    taken: Point
    items: int
    ours: Span
    theirs: Span | None


def frame_times(recipe: Recipe, sources: Sources) -> tuple[FrameTime, ...]:
    """In the recipe's order: measured beside measured, modelled beside modelled."""
    theirs = _theirs(recipe.side, sources)
    found = []
    for d in recipe.decisions:
        items, cycles = _items(d.kernel), theirs.get((d.kernel, d.item_class))
        found.append(
            FrameTime(
                d.kernel, d.item_class, parse_point(d.chosen.point), items,
                _times(span_of(d.chosen), items / 1e6),
                _times(cycles, items / NEON_GHZ / 1e6) if cycles else None,
            )
        )  # fmt: skip
    return tuple(found)


def _times(span: Span, factor: float) -> Span:
    return Span(span.low * factor, span.mid * factor, span.high * factor)


@cache
def _items(kernel: str) -> int:
    """As many as lie side by side in a frame."""
    entry = find(load(), kernel)
    assert entry is not None, kernel
    across, down = frame_grid(entry.kernel)
    return across * down


def _theirs(side: Side, sources: Sources) -> Mapping[Place, Span]:
    """Cycles of an item on a BOARD, or its model: nothing is on file of others."""
    if side.modelled:
        return _modelled()
    on_board = side.described is not None and side.described.soc.startswith(BOARD)
    return _measured(sources) if on_board else {}


def _modelled() -> Mapping[Place, Span]:
    """With what they may be off."""
    return {
        (w.kernel, w.class_name): Span(
            min(w.neon) / (1 + w.spread), w.neon[0], max(w.neon) * (1 + w.spread)
        )
        for w in wishes() if w.neon
    }  # fmt: skip


def _measured(sources: Sources) -> Mapping[Place, Span]:
    """As published; of a case the class that its items are sorted into."""
    return {
        (c.kernel, _class_of(sources, c)): Span(c.measured, c.measured, c.measured)
        for c in count_cases.cases() if c.measured
    }  # fmt: skip


def _class_of(sources: Sources, case: count_cases.Case) -> str:
    return next(
        str(c["name"]) for c in sources.records[case.kernel]["classes"]
        if all(p in case.params and lo <= case.params[p] <= hi
               for p, (lo, hi) in c["when"].items())
    )  # fmt: skip
