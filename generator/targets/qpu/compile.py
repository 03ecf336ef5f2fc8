# SPDX-License-Identifier: BSD-2-Clause
"""Virtual programs to instructions with registers: several attempts, of which the best is taken.

Best is the fewest instructions a trip, then the fewest registers. The attempts are the same each
time: cuts of the loop's body into two stages, times heuristics of the scheduler.
"""

from dataclasses import dataclass

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.allocate import Compiled
from daedalus.generator.targets.qpu.entry import Entry
from daedalus.generator.targets.qpu.loop import NoSchedule, cuts, make_body, schedules
from daedalus.generator.targets.qpu.lower import uses_of, without_dead
from daedalus.generator.targets.qpu.virtual import Program


@dataclass(frozen=True)
class Code:
    """A program's entry and loop."""

    program: Program
    threads: int
    entry: Compiled
    loop: Compiled | None


def compile_program(program: Program, threads: int = 2) -> Code:
    """Schedules a verified program for QPUs that run so many threads. Raises NoSchedule."""
    program = without_dead(program)
    uses = uses_of(program)
    if program.loop is None:
        return Code(program, threads, Entry(program, uses, threads, None).before(None, set()), None)
    body = make_body(program, uses, threads)
    entry = Entry(program, uses, threads, body)
    best: tuple[tuple[int, ...], Code] | None = None
    for cut, ahead in cuts(program, body, threads):
        for loop in schedules(body, ahead, threads):
            cost = (*loop.cost(), cut)
            if best is not None and cost >= best[0]:
                continue
            try:
                best = cost, Code(program, threads, entry.before(loop, ahead), loop)
            except NoSchedule:
                continue
    if best is None:
        raise NoSchedule(
            f"{program.name}: no schedule of its loop does with {machine.registers(threads)} "
            "registers: keep fewer values alive, or run fewer threads a QPU"
        )
    return best[1]
