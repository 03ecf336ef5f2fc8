# SPDX-License-Identifier: BSD-2-Clause
"""What a trip takes at least, by what each ALU has to do."""

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.lower import SAME
from daedalus.generator.targets.qpu.virtual import Compute, Program


def least(program: Program) -> int:
    """Instructions that a trip of a program's loop takes at least."""
    add = mul = either = 0
    operations = machine.description().operations
    for i in program.loop.body if program.loop is not None else ():
        if isinstance(i, Compute):
            found = [operations[f.op] for f in i.forms]
            on_add = any(o.add for o in found)
            on_mul = any(o.mul or o.name in SAME for o in found)
            either += on_add and on_mul
            add += on_add and not on_mul
            mul += on_mul and not on_add
    return max(add, mul, -(-(add + mul + either) // 2))
