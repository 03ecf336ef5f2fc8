# SPDX-License-Identifier: BSD-2-Clause
"""The random programs themselves: reproducible, legal, varied; and a handful of them run."""

import pytest

from daedalus.dsl.ir import Op, walk
from daedalus.dsl.show import show
from daedalus.dsl.verify import verify
from daedalus.generator.targets.neon.dots import Dots
from daedalus.generator.targets.neon.vectors import Lines
from daedalus.generator.verify.fuzz import campaign as fuzz
from daedalus.generator.verify.fuzz.programs import make_program
from daedalus.generator.verify.fuzz.shrink import shrink

SEED = 7


def test_same_number_same_program() -> None:
    for number in range(5):
        first, again = make_program(SEED, number), make_program(SEED, number)
        assert show(first.kernel) == show(again.kernel)
        assert first.listed == again.listed


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


WITH_DOTS = 20  # a program that DOT instructions have something to do in


def test_programs_have_dot_products_of_neighbouring_bytes() -> None:
    tally = fuzz.Tally()
    names: set[str] = set()
    for number in range(45):
        program = make_program(SEED, number)
        wanted = tuple(s for s in program.listed if s.choice("dot"))
        made = fuzz.variants(program.kernel, wanted, tally)
        assert all("vdotq_lane_s32" in v.text for v in made)
        names |= {v.options.name for v in made}
    assert tally.dots >= 5
    assert any("part0" in n for n in names)
    assert any("_x2" in n for n in names)


@pytest.mark.campaign
def test_wrong_dot_products_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    work = fuzz.Work(SEED, (WITH_DOTS,), 64, False)
    right = fuzz.run_batch(work)
    assert [f.text for f in right.failures] == []
    assert right.dots > 0
    tables = Dots._tables

    def first_outputs_alone(self: Dots, out: Lines, n: int) -> list[str]:
        sign_bits, first, *others = tables(self, out, n)
        return [sign_bits, first, *(first for _ in others)]

    monkeypatch.setattr(Dots, "_tables", first_outputs_alone)
    wrong = fuzz.run_batch(work)
    assert wrong.failures
    assert all(s.choice("dot") for f in wrong.failures for s in f.listed)
    monkeypatch.setattr(fuzz, "_TRIES", 3)
    assert fuzz._shrunk(SEED, wrong.failures[0], 64, sanitize=False).stages


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
