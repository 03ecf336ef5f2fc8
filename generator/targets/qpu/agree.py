# SPDX-License-Identifier: BSD-2-Clause
"""Whether scheduled code computes what the virtual program says."""

from dataclasses import dataclass

import numpy as np

from daedalus.generator.targets.qpu.compile import BUDGET, compile_program
from daedalus.generator.targets.qpu.interpret import interpret
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.random_programs import Case
from daedalus.generator.targets.qpu.text import Assembly, assembly
from daedalus.generator.targets.qpu.words import check, execute


@dataclass(frozen=True)
class Verdict:
    """What became of a case."""

    assembly: Assembly | None  # None: there is none, for the reason stated
    differing: int = 0  # bytes of memory
    reason: str = ""


def compare(case: Case, threads: int, budget: int = BUDGET, *, flags_stay: bool = True) -> Verdict:
    """Runs a case both ways; `threads` are those of a QPU, `flags_stay` as for compile_program().
    Raises UserError where the validator or the simulator refuses the code."""
    expected = case.memory.copy()
    interpret(case.program, expected, case.uniforms, case.threads)
    try:
        made = assembly(compile_program(case.program, threads, budget, flags_stay=flags_stay))
    except NoSchedule as e:
        return Verdict(None, reason=str(e))
    check(made, flags_stay=flags_stay)
    found = case.memory.copy()
    execute(made, found, case.uniforms, case.threads)
    differing = sum(
        int(np.count_nonzero(found.buffers[base] != data))
        for base, data in expected.buffers.items()
    )
    return Verdict(made, differing)
