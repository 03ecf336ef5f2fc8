# SPDX-License-Identifier: BSD-2-Clause
"""Random lane programs through the selection, by random schedules, against the reference
interpreter; some of them scheduled and on the simulator."""

import random

import pytest

from daedalus.dsl import vectors
from daedalus.generator.fuzz_programs import make_program
from daedalus.generator.schedule import POINTS, Schedule
from daedalus.generator.targets.glsl.device import NotLowerable
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.trial import Run, Scheduled, interpreted, trial

# Programs that found faults: limits below 0 and beyond 2**31, bytes written back beside what other
# elements store, lookups of conditional stages, indices without sign, blocks of odd sizes.
FOUND = (15, 74, 89, 98, 203, 223, 294, 332, 350, 358, 386, 691, 722, 806, 829, 897, 987, 1171)


def _ran(number: int, run: Run) -> bool:
    """Runs a program; whether it has a QPU form and a schedule."""
    program, rng = make_program(7, number), random.Random(number)
    flags = {flag: rng.random() < 0.5 for flag in ("word", "pack", "shift", "dot")}
    ran = False
    for points in rng.sample(POINTS, 2):
        schedule = Schedule("qpu", points=points, **flags)
        items = vectors.make_items(program.kernel, 24, 1)
        try:
            outcome = trial(program.kernel, schedule, items, number, upwards=True, run=run)
        except (NotLowerable, NoSchedule):
            continue
        assert outcome.good, f"program {number}, {schedule.name}: {outcome}"
        ran = True
    return ran


@pytest.mark.parametrize("first", range(2000, 2060, 20))
def test_selected_programs_do_what_the_reference_does(first: int) -> None:
    ran = [_ran(n, interpreted) for n in range(first, first + 20)]
    assert sum(ran) >= 10  # the others need more elements than there are, or what is not there


def test_what_was_wrong_once() -> None:
    ran = [_ran(n, interpreted) for n in FOUND]
    assert sum(ran) >= len(FOUND) - 6


def test_scheduled_programs_do_so_on_the_simulator() -> None:
    ran = [_ran(n, Scheduled()) for n in range(2100, 2110)]
    assert sum(ran) >= 4
