# SPDX-License-Identifier: BSD-2-Clause
"""Code by random attempts of the scheduler: tests thereby see what the search would not choose."""

import random
from dataclasses import replace

from daedalus.generator.targets.qpu.compile import Code, check_stores, compile_program
from daedalus.generator.targets.qpu.entry import Entry
from daedalus.generator.targets.qpu.loop import NoSchedule, attempt, cuts, finish, make_bodies
from daedalus.generator.targets.qpu.lower import uses_of, without_dead
from daedalus.generator.targets.qpu.schedule import HEURISTICS
from daedalus.generator.targets.qpu.virtual import Program

TRIES = 6
LEAST = 200  # of the search's budget, where these lead nowhere: nodes


def compile_somehow(
    program: Program, threads: int, rng: random.Random, *, flags_stay: bool = True
) -> Code:
    """Schedules a program by the first of some random attempts that leads to code, else by a short
    search. Raises NoSchedule."""
    if program.loop is None:
        return compile_program(program, threads, LEAST, flags_stay=flags_stay)
    check_stores(program, threads)
    alive = without_dead(program)
    uses = uses_of(alive)
    bodies = make_bodies(alive, uses, threads, flags_stay=flags_stay)
    body = rng.choice(bodies)
    ways = list(cuts(alive, body, threads))
    for _ in range(TRIES):
        ahead = rng.choice(ways)
        heuristic = replace(rng.choice(HEURISTICS), static_flags=rng.random() < 0.5)
        found = attempt(body, ahead, threads, heuristic)
        loop = None if found is None else finish(found)
        if loop is None:
            continue
        try:
            entry = Entry(alive, uses, threads, body, flags_stay=flags_stay)
            before = entry.before(loop, ahead)
        except NoSchedule:
            continue
        return Code(alive, threads, before, loop, bodies[0].block(threads).bound())
    return compile_program(program, threads, LEAST, flags_stay=flags_stay)
