# SPDX-License-Identifier: BSD-2-Clause
"""What stands before a loop: the registers that it gives, and the one that a thread begins with."""

from dataclasses import replace

from daedalus.generator.targets.qpu.allocate import Compiled
from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.compile import compile_program
from daedalus.generator.targets.qpu.entry import PAYLOAD, PAYLOAD_REGISTER, Entry
from daedalus.generator.targets.qpu.loop import NoSchedule, make_bodies
from daedalus.generator.targets.qpu.lower import uses_of, without_dead
from daedalus.generator.targets.qpu.virtual import Program

THREADS = 2


def _program() -> Program:
    """A loop that begins with constants, which the entry begins with, and with the number of the
    thread."""
    b = Builder("constants")
    constants = [b.op("mov", -1), b.op("mov", 1)]
    for constant in tuple(constants):
        for n in range(12):
            constant = b.op("xor", b.op("shl", constant, 1), n)
        constants.append(constant)
    element, outputs = b.element(), b.uniform("out")
    first = b.op("shl", b.workgroup(), 4)
    with b.loop(ahead=False) as loop:
        item = loop.carried(first)
        own = b.op("add", item, element)
        value = own
        for constant in constants:
            value = b.op("xor", value, constant)
        b.store(b.op("add", outputs, b.op("shl", own, 2)), [value], space="out")
        after = b.op("add", item, 16)
        loop.next(item, after)
        loop.repeat(b.flag("pushc", "sub", after, b.uniform("items")), "a0")
    return b.program()


def test_what_the_loop_begins_with_leaves_the_payload_until_it_is_read() -> None:
    """Any web of a loop may have its register: then it is written later, or there is no entry."""
    program = without_dead(_program())
    code = compile_program(program, THREADS, 200)
    assert code.loop is not None and code.choice is not None
    uses = uses_of(program)
    body = make_bodies(program, uses, THREADS)[code.choice.body]
    ahead = frozenset(body.nodes[n] for n in code.choice.ahead)
    made = 0
    for web in sorted(code.loop.block.live_in):
        own = code.loop.register[web]
        other = {PAYLOAD_REGISTER: own, own: PAYLOAD_REGISTER}
        swapped = {w: other.get(r, r) for w, r in code.loop.register.items()}
        loop = replace(code.loop, register=swapped)
        try:
            before = Entry(program, uses, THREADS, body).before(loop, ahead)
        except NoSchedule:
            continue
        made += 1
        assert _first_write(before) >= _last_read(before)
    assert made > 5


def _last_read(before: Compiled) -> int:
    slots = before.schedule.slots
    return max(at for at, s in enumerate(slots) for n in s.nodes() if PAYLOAD in n.reads)


def _first_write(before: Compiled) -> int:
    """The first slot in which the payload's register is written."""
    web, register = before.block.web, before.register
    slots = before.schedule.slots
    return min(
        (at for at, s in enumerate(slots) for n in s.nodes()
         if n.value is not None and register[web[n.value]] == PAYLOAD_REGISTER),
        default=len(slots),
    )  # fmt: skip
