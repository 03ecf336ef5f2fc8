# SPDX-License-Identifier: BSD-2-Clause
"""Recorded schedules: made again by one attempt, and not taken where they are of something else."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daedalus.dsl.errors import SpecError
from daedalus.generator.base import records
from daedalus.generator.compile import qpu_choices
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.qpu_choices import digest, recorded, schedule, searched
from daedalus.generator.compile.registry import find, load
from daedalus.generator.compile.variants import make_variant, selected_programs
from daedalus.generator.options import QPU, options_of, parse_variant
from daedalus.generator.targets.qpu import compile as compile_module
from daedalus.generator.targets.qpu import scheduler as scheduler_module
from daedalus.generator.targets.qpu.choice import Choice, choice_of
from daedalus.generator.targets.qpu.loop import Body, NoSchedule
from daedalus.generator.targets.qpu.nodes import Node
from daedalus.generator.targets.qpu.schedule import HEURISTICS, Heuristic
from daedalus.generator.targets.qpu.scheduler import modules
from daedalus.generator.targets.qpu.text import assembly
from daedalus.generator.targets.qpu.virtual import Program

NAME = "daedalus_h264_idct4__qpu_full"


def programs_of(name: str) -> tuple[Program, ...]:
    kernel_id, wanted = parse_variant(name)
    entry = find(load(), kernel_id)
    assert entry is not None
    return selected_programs(entry.kernel, wanted)


@pytest.fixture(scope="module")
def programs() -> tuple[Program, ...]:
    return programs_of(NAME)


@pytest.fixture
def copied(tmp_path: Path) -> Iterator[None]:
    """The checked-in records in a folder of the test's own."""
    shutil.copytree(records.folder(), tmp_path / records.FOLDER)
    with records.kept_in(tmp_path):
        yield


def _known() -> dict[str, Any]:
    return dict(records.by_variant(records.SCHEDULES)[NAME])


def _change(**members: object) -> None:
    qpu_choices.record({NAME: _known() | members})


@pytest.mark.parametrize("ahead", [(), (0,), (0, 1, 2, 5, 7, 8)])
def test_a_choice_is_read_back(ahead: tuple[int, ...]) -> None:
    for reload in (None, (2, 24)):
        choice = Choice(HEURISTICS[3], 1, ahead, 1, reload)
        assert choice_of(json.loads(json.dumps(choice.data()))) == choice


def test_a_search_finds_what_is_on_record(programs: tuple[Program, ...]) -> None:
    """And one attempt makes the same program."""
    found = searched(NAME, programs)
    assert found == _known(), qpu_choices.REPAIR
    made = schedule(NAME, programs)
    assert made.recorded and assembly(made.code).trip == found["trip"]


@pytest.mark.parametrize(
    "change",
    [
        {"programs": "0" * 16},
        {"trip": 1},
        {"program": 9},
        {"body": 9},
        {"ahead": "0-99999"},
        {"ahead": "some"},
        {"heuristic": {"by": "height", "unknown": 1}},
    ],
    ids=lambda c: next(iter(c)),
)
@pytest.mark.usefixtures("copied")
def test_a_stale_record_is_not_taken(
    programs: tuple[Program, ...], change: dict[str, object]
) -> None:
    assert recorded(NAME, programs) is not None
    _change(**change)
    assert recorded(NAME, programs) is None


@pytest.mark.usefixtures("copied")
def test_where_a_search_found_none_nothing_is_tried(
    programs: tuple[Program, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until other programs are selected."""

    def short(*_: object, **__: object) -> None:
        raise NoSchedule("short of registers")

    with monkeypatch.context() as patched:
        patched.setattr(qpu_choices, "compile_best", short)
        none = qpu_choices.searched_or_none(NAME, programs)
    qpu_choices.record({NAME: none})
    assert qpu_choices.is_known(NAME, programs) and recorded(NAME, programs) is None
    monkeypatch.setattr(qpu_choices, "compile_quick", lambda *_, **__: pytest.fail("tried"))
    with pytest.raises(NoSchedule, match="short of registers"):
        schedule(NAME, programs)
    monkeypatch.undo()
    assert qpu_choices.doubted("h264_idct4") == []
    with monkeypatch.context() as patched:
        patched.setattr(qpu_choices, "scheduler", lambda: "another")
        assert qpu_choices.doubted("h264_idct4") == [NAME]
        assert not qpu_choices.is_known(NAME, programs), "the scheduler may have become better"
        assert qpu_choices.none_known(NAME, programs), "gen believes it all the same"
    qpu_choices.record({NAME: none | {"programs": "0" * 16}})
    assert not qpu_choices.is_known(NAME, programs)
    assert not schedule(NAME, programs).recorded


def test_the_scheduler_is_all_that_a_search_imports() -> None:
    """Of targets/qpu; not the modules that only choose instructions."""
    package = "daedalus.generator.targets.qpu."
    ask = (
        f"import sys, {package}best; print(*[m for m in sys.modules if m.startswith('{package}')])"
    )
    ran = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True)
    found = {name for name in ran.stdout.split() if name.startswith(package)}
    assert {package + name for name in modules()} == found
    assert {"best", "compile", "schedule", "machine"} < set(modules()) and "select" not in modules()


def test_another_scheduler_has_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    before = scheduler_module.scheduler.__wrapped__()
    assert before == scheduler_module.scheduler.__wrapped__() == scheduler_module.scheduler()
    with monkeypatch.context() as patched:
        patched.setattr(scheduler_module, "modules", lambda: modules() | {"best": "another"})
        assert scheduler_module.scheduler.__wrapped__() != before
    monkeypatch.setattr(scheduler_module.machine, "told", lambda: "another machine")
    assert scheduler_module.scheduler.__wrapped__() != before


def test_what_led_nowhere_is_not_tried_again(
    programs: tuple[Program, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget is for others."""
    tried: list[tuple[int, frozenset[Node], Heuristic]] = []

    def attempt(body: Body, ahead: frozenset[Node], threads: int, heuristic: Heuristic) -> None:
        tried.append((id(body), ahead, heuristic))

    monkeypatch.setattr(compile_module, "attempt", attempt)
    with pytest.raises(NoSchedule):
        compile_module.compile_program(programs[0])
    assert len(set(tried)) == len(tried) and len({ahead for _, ahead, _ in tried}) > 1


@pytest.mark.usefixtures("copied")
def test_without_a_record_there_is_a_schedule_all_the_same(programs: tuple[Program, ...]) -> None:
    """Always the same one."""
    _change(programs="")
    made = [schedule(NAME, programs) for _ in range(2)]
    assert not any(m.recorded for m in made)
    assert assembly(made[0].code) == assembly(made[1].code)


def test_other_programs_have_another_digest(programs: tuple[Program, ...]) -> None:
    assert digest(programs) != digest(programs_of("daedalus_h264_idct4__qpu_full_p4"))


def test_what_has_no_schedule_with_half_the_registers_is_refused() -> None:
    e = find(load(), "h264_idct8")
    assert e is not None
    four = options_of(QPU, points=8, word=True, four_threads=True)
    with pytest.raises(SpecError, match="no schedule of its loop does with 32 registers") as why:
        make_variant(environment(), e.kernel, four, prod=False, rank=0, spec=e.spec, known={})
    assert "qpu_full_p8_word_threads4 out of options.toml" in why.value.hint
    assert "leave out threads4" in why.value.hint
