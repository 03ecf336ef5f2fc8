# SPDX-License-Identifier: BSD-2-Clause
"""Which schedule of a program is the fastest by the timing model.

`gen --search-qpu` takes the shortest loop. Where the TMU or memory limits a kernel, loops of about
that length differ by up to a tenth in time, by when they start their lookups.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from daedalus.generator.compile import qpu_choices
from daedalus.generator.measure.gpu import qpu
from daedalus.generator.measure.gpu.compare import Wish, program
from daedalus.generator.options import parse_variant
from daedalus.generator.targets.qpu.best import candidates, compile_again
from daedalus.generator.targets.qpu.choice import Choice
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.schedule import Heuristic
from daedalus.generator.targets.qpu.select import Selected
from daedalus.generator.targets.qpu.text import assembly

TRIED = 100  # schedules of each form of a program
LONGER = 1.08  # instructions a trip, of the shortest, that a schedule may take for being faster
FINER = 3  # of the fastest, that are made again by all HEURISTICS; where none of these keeps to the
# bar, as many of the shortest, too
HARDLY = 1.01  # of the fastest's clocks: a schedule on record that takes no more is kept
HEURISTICS = tuple(
    Heuristic(by, 0, scarce, lead, window)
    for by, scarce, lead, window in product(
        ("written", "height"), (0, 20, 50), (0, 8, 16), (0, 2, 4, 8, 16)
    )
)


def choose(
    wanted: Iterable[Wish], data: Path, items: int, folder: Path, say: Callable[[str], None]
) -> dict[str, int]:
    """Finds and records the fastest schedule of each mapping; its clocks, by the variant's name."""
    out: dict[str, int] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for wish in wanted:
        laid_out = qpu.layout(wish.kernel, wish.class_name, data, items, folder)
        for mapping in wish.mappings:
            name = f"daedalus_{wish.kernel}__qpu_{mapping}"
            say(f"{name}: searching")
            s = program(wish.kernel, name.removeprefix("daedalus_"))
            threads = parse_variant(name)[1].threads
            clocks, code = _kept(
                name, s, laid_out, wish.bar, fastest(name, s, laid_out, wish.bar, threads), threads
            )
            qpu_choices.record({name: qpu_choices.as_record(s.programs, code)})
            out[name] = clocks
    return out


def fastest(
    name: str, s: Selected, items: qpu.Layout, bar: float | None, threads: int = 2
) -> tuple[int, Code]:
    """The schedule that takes the fewest clocks, among those that keep to the bar; for so many
    threads a QPU."""
    found = list(candidates(s.programs, threads, TRIED))
    shortest = min(map(qpu_choices.trip, found))
    most = max(min(shortest * LONGER, bar * s.items if bar else shortest * LONGER), shortest)
    timed: dict[str, tuple[int, int, Code]] = {}

    def time(codes: Iterable[Code]) -> list[tuple[int, int, Code]]:
        for code in codes:
            made = assembly(code)
            if qpu_choices.trip(code) <= most and made.text not in timed:
                clocks = qpu.clocks(name, s, made, items)
                timed[made.text] = clocks, qpu_choices.trip(code), code
        return sorted(timed.values(), key=lambda x: x[:2])

    first = time(found)
    best = first[:FINER]
    within = [x for x in first if bar is None or x[1] <= bar * s.items]
    if not within:
        best += _apart(sorted(first, key=lambda x: x[1]))[:FINER]
    found = list(_again(s, threads, [c.choice for _, _, c in best if c.choice is not None]))
    last = time(found)
    within = [x for x in last if bar is None or x[1] <= bar * s.items]
    clocks, _, code = (within or last)[0]
    return clocks, code


def _kept(
    name: str, s: Selected, items: qpu.Layout, bar: float | None, best: tuple[int, Code],
    threads: int,
) -> tuple[int, Code]:  # fmt: skip
    """The schedule on record where it is within the bar, hardly slower than the best and no longer:
    what the model tells apart by less than a hundredth is a tie."""
    known = qpu_choices.recorded(name, s.programs, threads)
    if known is None or (bar is not None and qpu_choices.trip(known) > bar * s.items):
        return best
    clocks = qpu.clocks(name, s, assembly(known), items)
    tie = clocks <= best[0] * HARDLY and qpu_choices.trip(known) <= qpu_choices.trip(best[1])
    return (clocks, known) if tie else best


def _apart(timed: list[tuple[int, int, Code]]) -> list[tuple[int, int, Code]]:
    """The first of each cut of the loop, in their order."""
    cuts: dict[object, tuple[int, int, Code]] = {}
    for x in timed:
        choice = x[2].choice
        assert choice is not None
        cuts.setdefault((choice.program, choice.reload, choice.body, choice.ahead), x)
    return list(cuts.values())


def _again(s: Selected, threads: int, choices: Iterable[Choice]) -> Iterator[Code]:
    """Schedules of the same cuts by other heuristics."""
    for choice, heuristic in product(choices, HEURISTICS):
        try:
            other = replace(choice, heuristic=heuristic)
            yield compile_again(s.programs, other, threads)
        except NoSchedule:
            continue
