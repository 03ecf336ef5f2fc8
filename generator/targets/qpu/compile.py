# SPDX-License-Identifier: BSD-2-Clause
"""Virtual programs to instructions with registers: several attempts, of which the best is taken.

Best is the fewest instructions a trip, then the fewest registers. The attempts are the same each
time: cuts of the loop's body into two stages, times heuristics of the scheduler.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.allocate import Compiled
from daedalus.generator.targets.qpu.choice import Choice
from daedalus.generator.targets.qpu.entry import Entry
from daedalus.generator.targets.qpu.loop import (
    Attempt,
    Body,
    NoSchedule,
    attempt,
    cuts,
    finish,
    make_bodies,
)
from daedalus.generator.targets.qpu.lower import uses_of, without_dead
from daedalus.generator.targets.qpu.nodes import Node
from daedalus.generator.targets.qpu.schedule import HEURISTICS, Heuristic
from daedalus.generator.targets.qpu.virtual import Program, Store, Value

BUDGET = 16_000  # nodes that all attempts together schedule, about: a second's work
FEWEST = 4  # heuristics that are tried in any case
BEST = 4  # cuts that are tried by more heuristics
MORE = 10  # heuristics then
LARGE = 8  # attempts for a body that has more nodes than a budget
FINISHED = 8  # attempts that get a branch and registers, of those that promise most


@dataclass(frozen=True)
class Code:
    """A program's entry and loop."""

    program: Program
    threads: int
    entry: Compiled
    loop: Compiled | None
    bound: int = 0  # instructions that a trip takes at least, as it is written
    choice: Choice | None = None  # which attempt it is, of a program with a loop


@dataclass(frozen=True)
class Prepared:
    """A program as the scheduler needs it. Bodies keep what was tried of them in vain, so that
    another search, by a larger budget, does not try it again."""

    program: Program
    uses: Counter[Value]
    threads: int
    flags_stay: bool
    bodies: tuple[Body, ...]  # none of a program without a loop

    def entry(self, number: int) -> Entry:
        """What goes before the loop with a body."""
        return Entry(
            self.program, self.uses, self.threads, self.bodies[number], flags_stay=self.flags_stay
        )

    def bound(self) -> int:
        """Instructions that a trip takes at least, as it is written."""
        return self.bodies[0].block(self.threads).bound()


def prepare(program: Program, threads: int = 2, *, flags_stay: bool = True) -> Prepared:
    """A verified program for QPUs that run so many threads. Raises NoSchedule.

    flags_stay  it may count on flags to be behind a thread switch what they were before
    """
    check_stores(program, threads)
    program = without_dead(program)
    uses = uses_of(program)
    bodies = () if program.loop is None else make_bodies(
        program, uses, threads, flags_stay=flags_stay
    )  # fmt: skip
    return Prepared(program, uses, threads, flags_stay, tuple(bodies))


def compile_program(
    program: Program, threads: int = 2, budget: int = BUDGET, *, flags_stay: bool = True
) -> Code:
    """Schedules a verified program. Raises NoSchedule. The arguments are those of prepare()."""
    return search(prepare(program, threads, flags_stay=flags_stay), budget)


def search(made: Prepared, budget: int = BUDGET) -> Code:
    """Schedules a program by so many attempts. Raises NoSchedule."""
    program, uses, threads, bodies = made.program, made.uses, made.threads, made.bodies
    if program.loop is None:
        entry = Entry(program, uses, threads, None, flags_stay=made.flags_stay)
        return Code(program, threads, entry.before(None, frozenset()), None)
    tried = [
        (found, number)
        for number, body in enumerate(bodies)
        for found in _attempts(program, body, threads, budget)
    ]
    tried.sort(key=lambda x: x[0].cost())
    entries: dict[int, Entry] = {}
    best: tuple[tuple[int, int], Code] | None = None
    finished = 0
    for found, number in tried:
        # An attempt without its branch is a bound of what it comes to with it.
        if best is not None and len(found.schedule.slots) + 1 >= best[0][0]:
            break
        if best is not None and finished >= FINISHED:
            break
        finished += 1
        loop = finish(found)
        if loop is None or (best is not None and loop.cost() >= best[0]):
            continue
        try:
            if number not in entries:
                entries[number] = made.entry(number)
            before = entries[number].before(loop, found.ahead)
            choice = _choice(found, number, bodies[number])
            best = loop.cost(), Code(program, threads, before, loop, made.bound(), choice)
        except NoSchedule:
            continue
    if best is None:
        raise NoSchedule(machine.short_of_registers(program.name, "loop", threads))
    return best[1]


def compile_several(
    program: Program, threads: int, most: int, *, flags_stay: bool = True
) -> Iterator[Code]:
    """Schedules of a verified program with a loop, different ones, by the attempts that promise
    most; at most so many."""
    made = prepare(program, threads, flags_stay=flags_stay)
    tried = [
        (found, number)
        for number, body in enumerate(made.bodies)
        for found in _attempts(made.program, body, threads, BUDGET)
    ]
    tried.sort(key=lambda x: x[0].cost())
    for found, number in tried[:most]:
        loop = finish(found)
        if loop is None:
            continue
        try:
            before = made.entry(number).before(loop, found.ahead)
        except NoSchedule:
            continue
        choice = _choice(found, number, made.bodies[number])
        yield Code(made.program, threads, before, loop, made.bound(), choice)


def _choice(found: Attempt, number: int, body: Body) -> Choice:
    ahead = tuple(n for n, node in enumerate(body.nodes) if node in found.ahead)
    return Choice(found.heuristic, number, ahead, flags_stay=body.flags_stay)


def compile_chosen(program: Program, threads: int, choice: Choice) -> Code:
    """Schedules a program with a loop by one attempt. Raises NoSchedule where it leads nowhere,
    which it does not for what it was found with."""
    made = prepare(program, threads, flags_stay=choice.flags_stay)
    bodies = made.bodies
    if choice.body < len(bodies) and all(n < len(bodies[choice.body].nodes) for n in choice.ahead):
        body = bodies[choice.body]
        ahead = frozenset(body.nodes[n] for n in choice.ahead)
        found = attempt(body, ahead, threads, choice.heuristic)
        loop = None if found is None else finish(found)
        if loop is not None:
            before = made.entry(choice.body).before(loop, ahead)
            return Code(made.program, threads, before, loop, made.bound(), choice)
    raise NoSchedule(f"{program.name}: the attempt that was chosen before leads to no schedule")


def _attempts(program: Program, body: Body, threads: int, budget: int) -> list[Attempt]:
    """Schedules of the loop, the best first: the whole body by many heuristics, the cuts by those
    that were best, the best cuts by more of them. The budget is counted in nodes, not in time:
    the same program gets the same attempts."""
    left = budget
    modes = [False, True]  # of flags; the first that leads to a schedule stays
    failed: set[tuple[frozenset[Node], Heuristic]] = set()  # in no mode; no budget is spent again

    def attempts(ahead: frozenset[Node], heuristics: Iterable[Heuristic]) -> Iterator[Attempt]:
        nonlocal left, modes
        loose = True
        for heuristic in heuristics:
            if left <= 0 or (not heuristic.window and not loose):
                continue
            for static in modes if (ahead, heuristic) not in failed else ():
                left -= len(body.nodes)
                way = replace(heuristic, static_flags=static)
                made = attempt(body, ahead, threads, way)
                if made is not None:
                    modes = [static]
                    yield made
                    break
            else:
                # There are not registers enough for any like it.
                failed.add((ahead, heuristic))
                loose = loose and heuristic.window > 0

    if len(body.nodes) > budget:
        # A large one in few attempts: with as many values as it has, only those with a window
        # lead anywhere, and the first that does is taken.
        left = LARGE * len(body.nodes)
        found = attempts(frozenset(), [h for h in HEURISTICS if h.window])
        return list(islice(found, 1))
    ways = cuts(program, body, threads)  # made as they are asked for
    whole = next(ways)
    first = HEURISTICS[: max(FEWEST, min(len(HEURISTICS), budget // 2 // len(body.nodes)))]
    out = sorted(attempts(whole, first), key=Attempt.cost)
    if not out:
        # Registers do not do: those with a window come before the budget is spent on others.
        left = budget
        order = sorted(HEURISTICS, key=lambda h: not h.window)
        out += attempts(whole, order)
        while left > 0 and (ahead := next(ways, None)) is not None:
            out += attempts(ahead, order)
        return sorted(out, key=Attempt.cost)
    good = [a.heuristic for a in out]
    leading = next((h for h in good if h.lead), good[0])
    firsts = list(dict.fromkeys([leading, *good[:2]]))
    while left > 0 and (ahead := next(ways, None)) is not None:
        out += attempts(ahead, firsts)
    out.sort(key=Attempt.cost)
    for ahead in list(dict.fromkeys(a.ahead for a in out))[:BEST]:
        out += attempts(ahead, [h for h in good[:MORE] if h not in firsts])
    return sorted(out, key=Attempt.cost)


def check_stores(program: Program, threads: int) -> None:
    """Raises NoSchedule for stores that no schedule can help."""
    blocks = [*program.entry, *(program.loop.body if program.loop is not None else ())]
    for i in blocks:
        if isinstance(i, Store) and len(i.data) + 1 > machine.queue_words(threads):
            raise NoSchedule(
                f"{program.name}: `{i}`: with its address these are more words than the queue of "
                f"one of {threads} threads holds: store fewer at once"
            )
