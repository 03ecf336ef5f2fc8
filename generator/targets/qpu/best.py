# SPDX-License-Identifier: BSD-2-Clause
"""Selected programs to code: several ways to divide registers between uniforms and values, of
which the one with the shortest loop is taken."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from daedalus.generator.targets.qpu.choice import Choice
from daedalus.generator.targets.qpu.compile import (
    BUDGET,
    Code,
    Prepared,
    compile_chosen,
    compile_program,
    compile_several,
    prepare,
    search,
)
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.machine import registers
from daedalus.generator.targets.qpu.reload import reload
from daedalus.generator.targets.qpu.virtual import Program

# Registers that are left to others than uniforms and values as written; instructions that a loaded
# uniform waits for its next use. None: all uniforms stay in registers.
WAYS = (None, (2, 24), (4, 32), (8, 16))
QUICK = 2_000  # nodes that the attempts of compile_quick() together schedule, about
# Of its attempts, one after the other while nothing is found, by threads a QPU: most programs have
# no schedule with the registers of four threads, and a long search would not find one.
BUDGETS = {2: (QUICK, BUDGET), 4: (QUICK,)}


def compile_best(programs: Sequence[Program], threads: int = 2, *, flags_stay: bool = True) -> Code:
    """Schedules the best of some programs that compute the same. Raises NoSchedule.

    flags_stay  it may count on flags at thread switches
    """
    tried: set[str] = set()
    best: Code | None = None
    failed: NoSchedule | None = None
    for (number, program), way in product(enumerate(programs), WAYS):
        one = reloaded(program, way, threads)
        text = str(one)
        if text in tried:
            continue
        tried.add(text)
        try:
            code = compile_program(one, threads, flags_stay=flags_stay)
        except NoSchedule as e:
            failed = failed or e
            continue
        assert code.loop is not None and code.choice is not None
        if best is None or best.loop is None or code.loop.cost() < best.loop.cost():
            best = replace(code, choice=replace(code.choice, program=number, reload=way))
    if best is None:
        assert failed is not None
        raise failed
    return best


def candidates(
    programs: Sequence[Program], threads: int, most: int, *, flags_stay: bool = True
) -> Iterator[Code]:
    """Schedules of programs that compute the same, of each and of each way at most so many."""
    tried: set[str] = set()
    for (number, program), way in product(enumerate(programs), WAYS):
        one = reloaded(program, way, threads)
        if str(one) in tried:
            continue
        tried.add(str(one))
        for code in compile_several(one, threads, most, flags_stay=flags_stay):
            assert code.choice is not None
            yield replace(code, choice=replace(code.choice, program=number, reload=way))


def compile_quick(
    programs: Sequence[Program], threads: int = 2, budgets: Sequence[int] = (), *,
    flags_stay: bool = True,
) -> Code:  # fmt: skip
    """Schedules the first that can be, by few attempts if these do. Raises NoSchedule.

    budgets  of attempts; none: those of BUDGETS
    """
    failed: NoSchedule | None = None
    forms = tuple(product(enumerate(programs), WAYS))
    prepared: dict[tuple[int, tuple[int, int] | None], Prepared] = {}
    for budget, ((number, program), way) in product(budgets or BUDGETS[threads], forms):
        try:
            if (number, way) not in prepared:
                one = reloaded(program, way, threads)
                prepared[number, way] = prepare(one, threads, flags_stay=flags_stay)
            code = search(prepared[number, way], budget)
        except NoSchedule as e:
            failed = failed or e
            continue
        assert code.choice is not None
        return replace(code, choice=replace(code.choice, program=number, reload=way))
    assert failed is not None
    raise failed


def compile_again(programs: Sequence[Program], choice: Choice, threads: int = 2) -> Code:
    """Schedules as compile_best() did when it found that choice. Raises NoSchedule."""
    if choice.program >= len(programs):
        raise NoSchedule(f"{programs[0].name}: there is no program {choice.program}")
    return compile_chosen(
        reloaded(programs[choice.program], choice.reload, threads), threads, choice
    )


def reloaded(program: Program, way: tuple[int, int] | None, threads: int) -> Program:
    """The program with registers divided in one of the WAYS."""
    if way is None:
        return program
    spare, near = way
    return reload(program, registers(threads) - spare, near)
