# SPDX-License-Identifier: BSD-2-Clause
"""What of the entry is made again in the loop, where values are too many for the registers."""

from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.reload import MANY, reload
from daedalus.generator.targets.qpu.verify import verify
from daedalus.generator.targets.qpu.virtual import Compute, Program

REGISTERS = 56


def _program(places: int) -> Program:
    """A loop that stores at so many places, each of which the entry makes of one value."""
    b = Builder("places")
    base, end = b.uniform("base"), b.uniform("end")
    shared = b.op("shl", b.element(), 2)
    at = [b.op("add", shared, b.op("add", base, 64 * n)) for n in range(places)]
    with b.loop(ahead=False) as loop:
        number = loop.carried(base)
        for place in at:
            b.store(place, [number], space="out")
        after = b.op("add", number, 1)
        loop.next(number, after)
        loop.repeat(~b.flag("pushc", "sub", after, end), "a0")
    return b.program()


def _made(program: Program, op: str) -> int:
    """How often the loop does an operation."""
    assert program.loop is not None
    return sum(i.forms[0].op == op for i in program.loop.body if isinstance(i, Compute))


def _kept(program: Program) -> int:
    """How many values of the entry wait for the loop."""
    assert program.loop is not None
    made = {v for i in program.entry for v in i.results()}
    return len(made & {v for i in program.loop.body for v in i.reads()})


def test_what_registers_hold_stays_in_the_entry() -> None:
    program = _program(8)
    made = reload(program, REGISTERS, 24)
    assert _made(made, "add") == _made(program, "add") and _made(made, "shl") == 0


def test_what_they_do_not_hold_is_made_where_it_is_used() -> None:
    program = _program(60)
    assert len(program.entry) < MANY and _kept(program) > REGISTERS
    made = reload(program, REGISTERS, 24)
    verify(made)
    assert _kept(made) <= REGISTERS and _made(made, "add") > 1


def test_many_values_share_what_they_are_made_of() -> None:
    """The operand of 150 places is made once for those that stand near each other."""
    program = _program(150)
    assert len(program.entry) > MANY
    for registers in (REGISTERS, 10):
        made = reload(program, registers, 1000)
        verify(made)
        assert _kept(made) <= registers and _made(made, "shl") <= 1
