# SPDX-License-Identifier: BSD-2-Clause
"""Random lane programs through the QPU back end, against the reference interpreter.

`./daedalus fuzz --target qpu --programs N` does the same with more.
"""

import random
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import pytest
from orders import reordered

from daedalus.dsl import vectors
from daedalus.dsl.errors import Loc, SpecError
from daedalus.generator.compile.facts import Facts
from daedalus.generator.options import POINTS, QpuOptions, options_of
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu import select
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.random_attempts import compile_somehow
from daedalus.generator.targets.qpu.virtual import Compute, Form, Program
from daedalus.generator.verify.fuzz import qpu as fuzz_qpu
from daedalus.generator.verify.fuzz.campaign import Campaign
from daedalus.generator.verify.fuzz.programs import Drawn, make_program
from daedalus.generator.verify.qpu_trial import selected, trial

SEED = 7
# Programs that found faults: limits below 0 and beyond 2**31, bytes written back beside what other
# elements store, lookups of conditional stages, indices without sign, blocks of odd sizes.
FOUND = (15, 74, 89, 98, 203, 223, 294, 332, 350, 358, 386, 691, 722, 806, 829, 897, 987, 1171)
# Programs that do something else where large stages meet and do not wait for each other.
LARGE = (10, 14, 79)
# Seeds and numbers that found faults on the way to the simulator: a tmuwt with a store in one
# instruction, for which it does not wait (2); in trials items of one class without a buffer (7),
# more threads than trips and parameters that are not of the class (2); words of a vector of
# which nothing is stored (991).
FOUND_LATER = ((7, 0), (7, 4), (2, 326), (2, 340), (2, 443), (2, 509), (991, 18))


def _selected_runs(number: int, *, grown: bool = True) -> bool:
    """Runs what is selected on the interpreter of virtual programs, in several orders; whether
    there is anything."""
    program, rng = make_program(SEED, number, later=grown), random.Random(number)
    flags = {flag: rng.random() < 0.5 for flag in ("word", "keep", "unaligned", "dot")}
    later = random.Random(f"{number} later")  # words that came later: the dice stay what they were
    flags |= {flag: later.random() < 0.5 for flag in ("shuffle", "joint_reads", "pair")}
    ran = False
    for points in rng.sample(POINTS, 2):
        options = options_of("qpu", points=points, **flags)
        options = replace(options, record_once=Facts(program.kernel).fills_trip(options))
        items = vectors.make_items(program.kernel, 24, 1)
        try:
            outcome = trial(program.kernel, options, items, number, upwards=True, run=reordered)
        except NotLowerable:
            continue
        assert outcome.good, f"program {number}, {options.name}: {outcome}"
        ran = True
    return ran


def test_what_was_wrong_once() -> None:
    ran = [_selected_runs(n, grown=False) for n in FOUND]
    assert sum(ran) >= len(FOUND) - 6


def test_stages_that_count_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few are large enough for stores that are made as soon as values are there."""
    monkeypatch.setattr(select, "MANY", 0)
    assert all([_selected_runs(n) for n in LARGE])


def _run(programs: Iterable[tuple[int, int]], *, grown: bool = True) -> fuzz_qpu.QpuTally:
    total = fuzz_qpu.QpuTally()
    for seed, number in programs:
        (tally,) = Campaign((fuzz_qpu.Qpu(),), Drawn(seed, later=grown), 16).batch([number])
        assert isinstance(tally, fuzz_qpu.QpuTally)
        total.add(tally)
    return total


@pytest.mark.parametrize("first", [2000, pytest.param(2012, marks=pytest.mark.campaign)])
def test_programs_do_on_the_simulator_what_the_reference_does(first: int) -> None:
    total = _run((SEED, n) for n in range(first, first + 12))
    assert not total.failures, total.failures[0].text
    assert total.ran >= 7  # the others need more elements than there are, or what is not there
    without = total.programs_without_form.total()
    assert total.ran + without + total.programs_excluded == total.programs
    assert total.conformant >= 16 * (total.ran - total.without_conformant)


def test_what_was_wrong_on_the_way_there() -> None:
    total = _run(FOUND_LATER, grown=False)
    assert not total.failures, total.failures[0].text
    assert total.ran == len(FOUND_LATER)


@pytest.mark.parametrize("rule", ["assumption", "range"])
def test_programs_that_exclude_all_items_are_not_run(
    monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    """Nothing was compared; any other error is a failure."""

    def refuse(*_: object) -> None:
        raise SpecError(rule, "no items", Loc("random.py", 1), "random")

    monkeypatch.setattr(fuzz_qpu, "compare", refuse)
    total = _run([(SEED, 2000)])
    found = (total.ran, total.programs_excluded, len(total.failures))
    assert found == ((0, 1, 0) if rule == "assumption" else (1, 0, 1))


def test_wrong_code_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of programs that subtract instead of adding every one fails."""

    def wrong(program: Program, threads: int, rng: random.Random, *, flags_stay: bool) -> Code:
        assert program.loop is not None
        body = tuple(
            replace(i, forms=tuple(Form(_OTHER.get(f.op, f.op), f.sources) for f in i.forms))
            if isinstance(i, Compute)
            else i
            for i in program.loop.body
        )
        return compile_somehow(
            replace(program, loop=replace(program.loop, body=body)), threads, rng,
            flags_stay=flags_stay,
        )  # fmt: skip

    monkeypatch.setattr(fuzz_qpu, "compile_somehow", wrong)
    total = _run((SEED, n) for n in range(2000, 2004))
    assert len({f.number for f in total.failures}) == total.ran > 0


_OTHER = {"add": "sub"}


def test_the_same_program_is_run_the_same_way() -> None:
    kernel = make_program(SEED, 2000).kernel
    first, again = ([*fuzz_qpu.forms(kernel, random.Random(2000))] for _ in range(2))
    assert first == again and {f.options.points for f in first} == set(POINTS)


def test_every_kind_of_code_is_drawn_by_name() -> None:
    total = _run(((SEED, n) for n in range(2000, 2010)), grown=False)
    assert not total.failures
    assert total.at_four_threads > 0 and total.paired > 0
    assert 0 < total.flags_renewed < total.ran


def test_unifa_is_drawn_where_a_trip_is_one_item() -> None:
    drawn = 0
    for number in range(2000, 2040):
        kernel = make_program(SEED, number).kernel
        for form in fuzz_qpu.forms(kernel, random.Random(number)):
            if form.options.record_once:
                with suppress(NotLowerable):  # another word that is drawn beside it does not suit
                    assert selected(kernel, form.options).items == 1
                    drawn += 1
    assert drawn >= 5


def test_every_word_is_drawn() -> None:
    kernel = make_program(SEED, 2000).kernel
    drawn = [f.options for n in range(8) for f in fuzz_qpu.forms(kernel, random.Random(n))]
    for word in QpuOptions.words():
        assert {s.choice(word.field) for s in drawn} == set(word.values or (False, True)), word


def test_without_dot_products_dot_changes_nothing() -> None:
    """Another mode of v8dot would make bytes dearer to take out."""
    kernel = make_program(SEED, 0).kernel
    plain, dotted = (selected(kernel, options_of("qpu", points=8, dot=d)) for d in (False, True))
    texts = ["\n".join(map(str, s.programs)).replace("_dot", "") for s in (plain, dotted)]
    assert texts[0] == texts[1]
