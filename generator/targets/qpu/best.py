# SPDX-License-Identifier: BSD-2-Clause
"""Selected programs to code: several ways to divide registers between uniforms and values, of
which the one with the shortest loop is taken."""

from collections.abc import Sequence
from itertools import product

from daedalus.generator.targets.qpu.compile import Code, compile_program
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.machine import registers
from daedalus.generator.targets.qpu.reload import reload
from daedalus.generator.targets.qpu.virtual import Program

# Registers that are left to others than uniforms and values as written; instructions that a loaded
# uniform waits for its next use. None: all uniforms stay in registers.
WAYS = (None, (2, 24), (4, 32), (8, 16))


def compile_best(programs: Sequence[Program], threads: int = 2) -> Code:
    """Schedules the best of some programs that compute the same. Raises NoSchedule."""
    tried: set[str] = set()
    best: Code | None = None
    failed: NoSchedule | None = None
    for program, way in product(programs, WAYS):
        one = program
        if way is not None:
            spare, near = way
            one = reload(program, registers(threads) - spare, near)
        text = str(one)
        if text in tried:
            continue
        tried.add(text)
        try:
            code = compile_program(one, threads)
        except NoSchedule as e:
            failed = failed or e
            continue
        assert code.loop is not None
        if best is None or best.loop is None or code.loop.cost() < best.loop.cost():
            best = code
    if best is None:
        assert failed is not None
        raise failed
    return best
