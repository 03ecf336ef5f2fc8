# SPDX-License-Identifier: BSD-2-Clause
"""Virtual programs: what the builder writes, and what verify() refuses."""

from dataclasses import replace

import pytest

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.verify import IllegalProgram, verify


def test_the_text_of_a_program() -> None:
    b = Builder("scale")
    base = b.uniform("base")
    with b.loop(ahead=False) as loop:
        at = loop.carried(base)
        (x,) = b.load(at, space="data")
        b.store(at, [b.op("smul24", x, 3)], space="data")
        after = b.op("add", at, 64)
        loop.next(at, after)
        loop.repeat(~b.flag("pushc", "sub", after, b.uniform("end")), "a0")
    assert str(b.program()).splitlines() == [
        "program scale",
        "  v1 = uniform value:base",
        "  v5 = uniform 0x00000040",
        "  v7 = uniform value:end",
        "loop v2 = v1",
        "  v3 = load u32 data[v2]",
        "  v4 = smul24 v3, 3",
        "  store u32 data[v2] = v4",
        "  v6 = add v2, v5",
        "  f1 = sub v6, v7 pushc",
        "repeat v2 = v6 while a0 of ~f1",
    ]


def test_a_constant_is_loaded_once() -> None:
    b = Builder("constants")
    x = b.element()
    first = b.op("and", x, 255)
    second = b.op("or", first, 255)
    b.store(second, [b.op("add", second, 15)], space="out")
    uniforms = [str(i) for i in b.program().entry if "uniform" in str(i)]
    assert uniforms == ["v2 = uniform 0x000000ff"]


def test_the_machine_is_the_librarys() -> None:
    m = machine.description()
    assert m.operations["smul24"].mul and not m.operations["smul24"].add
    assert m.operations["mov"].unpacks == {"ul", "uh", "il", "ih"}
    assert m.operations["shuffle"].latency == 2 and m.operations["add"].latency == 1
    assert len(m.immediates) == 48 and machine.is_immediate(-16) and not machine.is_immediate(16)
    assert ("update", "cond") in m.conditions and ("cond", "update") not in m.conditions
    assert m.signals[frozenset({"thrsw"})] and not m.signals[frozenset({"thrsw", "ldtmu"})]
    assert frozenset({"ldtmu", "ldunifrf"}) not in m.signals


def test_a_flag_is_lost_with_the_second_push_after_it() -> None:
    b = Builder("flags")
    x = b.element()
    first = b.flag("pushz", "sub", x, 1)
    b.flag("pushz", "sub", x, 2)
    b.store(x, [b.select(first, x, 0)], space="out")
    b.program()
    b.flag("pushz", "sub", x, 3)
    b.store(x, [b.select(first, x, 0)], space="out")
    with pytest.raises(IllegalProgram, match=r"f1 is gone: two pushes came after it"):
        b.program()


def test_an_update_changes_a_only() -> None:
    b = Builder("flags")
    x = b.element()
    first = b.flag("pushz", "sub", x, 1)
    b.flag("pushz", "sub", x, 2)
    b.store(x, [x], space="out", when=b.update(first, "andz", "sub", x, 3))
    with pytest.raises(IllegalProgram, match="f1 is in B: updates change A"):
        b.program()


def test_a_load_waits_for_a_store_in_its_space() -> None:
    b = Builder("memory")
    x = b.uniform("place")
    b.store(x, [x], space="scratch")
    b.load(x, space="other")
    b.program()
    b.load(x, space="scratch")
    with pytest.raises(IllegalProgram, match="needs WaitStores between"):
        b.program()


def test_modifiers_are_those_of_the_operation() -> None:
    b = Builder("unpack")
    x = b.element()
    b.store(x, [b.op("add", x.unpacked("il"), 1)], space="out")
    with pytest.raises(IllegalProgram, match="add takes no .il there"):
        b.program()


def test_what_the_scheduler_does_not_follow_is_refused() -> None:
    b = Builder("product")
    x = b.element()
    b.store(x, [b.op("multop", x, x)], space="out")
    with pytest.raises(IllegalProgram, match="multop: leaves something to the next umul24"):
        b.program()


def test_a_value_is_defined_before_it_is_read() -> None:
    b = Builder("order")
    x = b.element()
    b.store(x, [b.op("add", x, 1)], space="out")
    program = b.program()
    with pytest.raises(IllegalProgram, match="v2 is not defined before"):
        verify(replace(program, entry=program.entry[::-1][:1]))


def test_mistakes_of_a_selector() -> None:
    b = Builder("mistakes")
    x = b.element()
    with pytest.raises(ValueError, match="add takes 2 sources, not 1"):
        b.op("add", x)
    with pytest.raises(ValueError, match="there is no operation mul"):
        b.op("mul", x, x)
    with pytest.raises(ValueError, match="`old` goes with `when`"):
        b.op("mov", x, when=b.flag("pushz", "sub", x, 1))
    with pytest.raises(ValueError, match="a store of vec2 takes 2 words, not 1"):
        b.store(x, [x], "vec2", space="out")
    with pytest.raises(ValueError, match="no element type u64"):
        b.load(x, "u64", space="out")
    with pytest.raises(ValueError, match="the loop needs repeat"), b.loop(ahead=False):
        pass
