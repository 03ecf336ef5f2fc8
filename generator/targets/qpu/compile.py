# SPDX-License-Identifier: BSD-2-Clause
"""Virtual programs to instructions with registers: several attempts, of which the best is taken.

Best is the fewest instructions a trip, then the fewest registers. The attempts are the same each
time: cuts of the loop's body into two stages, times heuristics of the scheduler.
"""

from dataclasses import dataclass

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.allocate import Compiled
from daedalus.generator.targets.qpu.entry import Entry
from daedalus.generator.targets.qpu.loop import (
    Attempt,
    Body,
    NoSchedule,
    attempt,
    cuts,
    finish,
    make_body,
)
from daedalus.generator.targets.qpu.lower import uses_of, without_dead
from daedalus.generator.targets.qpu.schedule import HEURISTICS, STATIC
from daedalus.generator.targets.qpu.virtual import Program, Store

BEST = 3  # cuts that are tried by every heuristic


@dataclass(frozen=True)
class Code:
    """A program's entry and loop."""

    program: Program
    threads: int
    entry: Compiled
    loop: Compiled | None


def compile_program(program: Program, threads: int = 2) -> Code:
    """Schedules a verified program for QPUs that run so many threads. Raises NoSchedule."""
    _check(program, threads)
    program = without_dead(program)
    uses = uses_of(program)
    if program.loop is None:
        entry = Entry(program, uses, threads, None)
        return Code(program, threads, entry.before(None, frozenset()), None)
    body = make_body(program, uses, threads)
    entry = Entry(program, uses, threads, body)
    best: tuple[tuple[int, int], Code] | None = None
    for found in _attempts(program, body, threads):
        # An attempt without its branch is a bound of what it comes to with it.
        if best is not None and len(found.schedule.slots) + 1 >= best[0][0]:
            break
        loop = finish(found)
        if loop is None or (best is not None and loop.cost() >= best[0]):
            continue
        try:
            best = loop.cost(), Code(program, threads, entry.before(loop, found.ahead), loop)
        except NoSchedule:
            continue
    if best is None:
        raise NoSchedule(
            f"{program.name}: no schedule of its loop does with {machine.registers(threads)} "
            "registers: keep fewer values alive, or run fewer threads a QPU"
        )
    return best[1]


def _attempts(program: Program, body: Body, threads: int) -> list[Attempt]:
    """Schedules of the loop, the best first: all cuts by the first heuristic that finds any, the
    best of them by all heuristics."""
    ways = list(cuts(program, body, threads))
    first: list[Attempt] = []
    for heuristic in (*HEURISTICS, *STATIC):
        tried = (attempt(body, ahead, threads, heuristic) for ahead in ways)
        first = sorted((a for a in tried if a is not None), key=Attempt.cost)
        if first:
            break
    out = list(first)
    for found in first[:BEST]:
        for heuristic in HEURISTICS:
            if heuristic != found.heuristic:
                other = attempt(body, found.ahead, threads, heuristic)
                out += [other] if other is not None else []
    return sorted(out, key=Attempt.cost)


def _check(program: Program, threads: int) -> None:
    blocks = [*program.entry, *(program.loop.body if program.loop is not None else ())]
    for i in blocks:
        if isinstance(i, Store) and len(i.data) + 1 > machine.queue_words(threads):
            raise NoSchedule(
                f"{program.name}: `{i}`: with its address these are more words than the queue of "
                f"one of {threads} threads holds: store fewer at once"
            )
