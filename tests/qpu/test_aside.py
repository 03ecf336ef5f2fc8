# SPDX-License-Identifier: BSD-2-Clause
"""Values are set aside in memory where registers do not hold them, and come back the same."""

from dataclasses import replace
from functools import partial

import pytest
from orders import reordered

from daedalus.dsl import vectors
from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import QPU, options_of
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu import aside, machine
from daedalus.generator.targets.qpu.best import compile_quick
from daedalus.generator.targets.qpu.item import RECORDS
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.verify import verify
from daedalus.generator.targets.qpu.virtual import Load, Program, Store
from daedalus.generator.verify.fuzz.programs import make_program
from daedalus.generator.verify.qpu_trial import Scheduled, selected, trial, trials

KERNEL = "vp9_lpf16_high_h"  # 66 values at once
ASIDE = options_of(QPU, aside=True)


def kernel(name: str = KERNEL):  # type: ignore[no-untyped-def]
    entry = find(load(), name)
    assert entry is not None
    return entry.kernel


def lookups(program: Program, kind: type[Load | Store]) -> list[str]:
    """The spaces of what is stored aside, or loaded from there."""
    assert program.loop is not None
    found = [i for i in program.loop if isinstance(i, Load | Store) and isinstance(i, kind)]
    return [i.space for i in found if "aside" in i.space]


def test_what_had_no_schedule_has_one() -> None:
    with pytest.raises(NoSchedule):
        compile_quick(selected(kernel(), options_of(QPU)).programs)
    made = selected(kernel(), ASIDE)
    code = compile_quick(made.programs)
    assert code.loop is not None and code.choice is not None
    stored = lookups(made.programs[code.choice.program], Store)
    assert len(stored) == len(set(stored)) > 0
    assert set(lookups(made.programs[code.choice.program], Load)) == set(stored)


def test_the_scheduled_program_does_what_the_reference_does() -> None:
    run = Scheduled(2, compile_quick)
    for kind, outcome in trials(kernel(), ASIDE, 60, run=run):
        assert not outcome.mismatches and not outcome.strayed, f"{kind} items: {outcome.first}"


def test_programs_set_more_and_more_aside() -> None:
    made = selected(kernel(), ASIDE)
    counts = [len(lookups(p, Store)) for p in made.programs]
    assert counts == sorted(counts) and 0 < counts[0] < counts[-1]
    for program, count in zip(made.programs, counts, strict=True):
        assert program.aside == aside.PLACE * count
        verify(program)


def test_where_registers_do_nothing_is_set_aside() -> None:
    small = kernel("h264_idct4")
    made, plain = (selected(small, o) for o in (ASIDE, options_of(QPU)))
    texts = [[str(replace(p, name="")) for p in s.programs] for s in (made, plain)]
    assert texts[0] == texts[1] and not any(p.aside for p in made.programs)


@pytest.mark.parametrize(("threads", "flags_stay"), [(2, True), (2, False), (4, True)])
def test_beside_other_scratch_memory(
    threads: int, flags_stay: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places of a thread lie behind those of all threads' temps."""
    monkeypatch.setattr(aside, "SPARE", (machine.registers(threads) - 8,))
    monkeypatch.setattr(aside, "FAR", 2)
    large, options = kernel("vp9_idct8"), options_of(QPU, aside=True, four_threads=threads == 4)
    made = selected(large, options)
    assert made.scratch and all(p.aside for p in made.programs)
    compiler = partial(compile_quick, flags_stay=flags_stay)
    for kind, outcome in trials(
        large, options, 40, run=Scheduled(threads, compiler, flags_stay=flags_stay)
    ):
        assert not outcome.mismatches and not outcome.strayed, f"{kind} items: {outcome.first}"


@pytest.mark.parametrize("first", range(0, 12, 4))
def test_random_programs_with_much_set_aside(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any legal order of their instructions."""
    monkeypatch.setattr(aside, "SPARE", (61, 56))
    monkeypatch.setattr(aside, "FAR", 1)
    ran = with_some = 0
    for number in range(first, first + 4):
        program = make_program(7, number)
        options = options_of(QPU, points=(1, 2, 4)[number % 3], aside=True)
        items = vectors.make_items(program.kernel, 12, 1)
        try:
            made = selected(program.kernel, options)
        except NotLowerable:
            continue
        for one in (0, len(made.programs) - 1):  # alone: they leave other things in scratch memory

            def alone(programs, *job, one=one):  # type: ignore[no-untyped-def]
                reordered([programs[one]], *job)

            outcome = trial(program.kernel, options, items, number, upwards=True, run=alone)
            assert outcome.good, f"program {number}, {options.name}: {outcome}"
        ran += 1
        with_some += any(lookups(p, Store) for p in made.programs)
    assert ran and with_some


def test_what_a_trip_passes_on_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "FAR", 1)
    for program in selected(kernel(), options_of(QPU)).programs:
        made = aside.set_aside(program, 0, 1)
        assert made.loop is not None
        passed = {f"scratch aside {c.next.number}" for c in made.loop.carried}
        assert not passed & {*lookups(made, Store)}
        assert RECORDS in {i.space for i in made.loop if isinstance(i, Load)}
