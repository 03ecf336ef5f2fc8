# SPDX-License-Identifier: BSD-2-Clause
"""The random programs themselves: reproducible, legal, varied; and a handful of them run."""

import pytest

from daedalus.dsl.ir import Op, walk
from daedalus.dsl.show import show
from daedalus.dsl.verify import verify
from daedalus.generator import fuzz
from daedalus.generator.fuzz_programs import make_program
from daedalus.generator.fuzz_shrink import shrink

SEED = 7


def test_same_number_same_program() -> None:
    for number in range(5):
        first, again = make_program(SEED, number), make_program(SEED, number)
        assert show(first.kernel) == show(again.kernel)
        assert first.schedules == again.schedules


def test_other_seed_other_program() -> None:
    assert show(make_program(SEED, 0).kernel) != show(make_program(SEED + 1, 0).kernel)


def test_programs_are_legal_and_varied() -> None:
    programs = [make_program(SEED, n) for n in range(40)]
    seen: set[Op] = set()
    for p in programs:
        verify(p.kernel)
        seen |= {n.op for s in p.kernel.stages for n in walk(s.roots())}
    assert {len(p.kernel.stages) for p in programs} >= {1, 2}
    assert {b.kind for p in programs for b in p.kernel.buffers} == {"plane", "block"}
    assert {Op.ADD, Op.SUB, Op.MUL, Op.CLIP, Op.WRAP, Op.SELECT, Op.SHRV, Op.LE, Op.AND} <= seen


def test_programs_leave_much_to_parameters() -> None:
    stages = [s for n in range(60) for s in make_program(SEED, n).kernel.stages]
    nodes = [n for s in stages for n in walk(s.roots())]
    assert any(s.given is not None for s in stages)
    assert any(s.limits for s in stages)
    assert {x.combine for s in stages for x in s.stores} >= {"", "add"}
    assert any(n.op is Op.LANE for n in nodes)
    assert any(n.op is Op.LOAD and n.args for n in nodes)
    assert any(n.op is Op.PARAM and n.index for n in nodes)


def test_back_ends_agree_on_a_handful() -> None:
    total = fuzz.Tally()
    for tally in fuzz.campaign(SEED, 0, 4, 16):
        total.add(tally)
    assert [f.text for f in total.failures] == []
    assert total.programs == 4
    assert total.conformant > 0


def test_shrinking_keeps_what_fails() -> None:
    program = next(p for n in range(20) if len((p := make_program(SEED, n)).kernel.stages) > 1)

    def stores_much(kernel: object) -> bool:
        return any(b.access != "in" for b in kernel.buffers)  # type: ignore[attr-defined]

    small = shrink(program.kernel, stores_much, tries=200)
    verify(small)
    assert len(show(small)) < len(show(program.kernel))


@pytest.mark.parametrize("sanitize", [False, True])
def test_replay_names_the_program(sanitize: bool) -> None:
    text = fuzz.replay_command(3, 14, 64, sanitize=sanitize)
    assert "--programs 1 --seed 3 --first 14" in text
    assert text.endswith("--sanitize") == sanitize
