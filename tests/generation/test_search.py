# SPDX-License-Identifier: BSD-2-Clause
"""`gen --search-qpu` of what rules choose: what few attempts refuse is searched as well."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from spec_support import load_text, spec_text

from daedalus.dsl.errors import SpecError
from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import gen
from daedalus.generator.compile import kept, qpu_choices
from daedalus.generator.compile.by_rule import slots
from daedalus.generator.compile.registry import load
from daedalus.generator.options import QPU, variant_name
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.virtual import Program

TEXT = spec_text("with k.stage(i=8) as i:\n    px[0, i] = clip_u8(px[0, i] + p)")
Short = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "build_dir", lambda: tmp_path / "build")


@pytest.fixture
def invoke(tmp_path: Path) -> Callable[..., Result]:
    load_text(tmp_path / "specs", TEXT)
    words = ["--specs", str(tmp_path / "specs"), "--out", str(tmp_path / "out")]
    return lambda *options: CliRunner().invoke(gen.command, [*words, *options])


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Short:
    """Has attempts or searches, by the name of their function, find no schedule of a variant."""

    def refuse(function: str, variant: str) -> None:
        compiled = getattr(qpu_choices, function)

        def made(programs: Sequence[Program], *rest: Any, **more: Any) -> object:
            if variant == f"daedalus_{programs[0].name}":
                raise NoSchedule(f"{programs[0].name}: short of registers")
            return compiled(programs, *rest, **more)

        monkeypatch.setattr(qpu_choices, function, made)

    return refuse


def first_choices(folder: Path) -> list[str]:
    """The QPU variants that the rules try first: of the first slot, in their order."""
    (entry,) = load(folder / "specs")
    slot = next(s for s in slots(entry.kernel) if s.target == QPU)
    return [variant_name(entry.kernel.id, o) for o in slot.choices]


def schedules(folder: Path) -> dict[str, Any]:
    return records.read("test_it", records.SCHEDULES, folder / "out")


def listed(folder: Path) -> set[str]:
    text = (folder / "out/src/test/test_it.qpu.c").read_text()
    return set(re.findall(r"const daedalus_qpu_code (\w+) =", text))


def test_a_search_leaves_nothing_for_the_next(
    invoke: Callable[..., Result], short: Short, tmp_path: Path
) -> None:
    """What few attempts refused gets a schedule: rules choose it then, and what they had chosen in
    its place is neither listed nor on record."""
    first, *_ = first_choices(tmp_path)
    short("compile_quick", first)
    assert invoke().exit_code == 0
    before = listed(tmp_path)
    assert first not in before
    result = invoke("--search-qpu")
    assert result.exit_code == 0 and f"{first}: searching" in result.output
    assert first in listed(tmp_path) and before - listed(tmp_path), "none was displaced"
    assert set(schedules(tmp_path)) == listed(tmp_path)
    assert invoke("--check").exit_code == 0
    assert "searching" not in invoke("--search-qpu").output
    assert set(schedules(tmp_path)) == listed(tmp_path)


def test_that_there_is_no_schedule_is_on_record_till_the_scheduler_is_another(
    invoke: Callable[..., Result], short: Short, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_ = first_choices(tmp_path)
    short("compile_quick", first)
    short("compile_best", first)
    result = invoke("--search-qpu")
    assert result.exit_code == 0 and "short of registers" in result.output
    monkeypatch.undo()
    monkeypatch.setattr(kept, "build_dir", lambda: tmp_path / "build")
    assert "short of registers" in schedules(tmp_path)[first]["none"]
    assert first not in listed(tmp_path)
    again = invoke("--search-qpu")
    assert "searching" not in again.output and "another scheduler" not in again.output
    assert first in schedules(tmp_path), "that it has none is kept"
    monkeypatch.setattr(qpu_choices, "scheduler", lambda: "another")
    assert f"remark: {first}: found without a schedule by another scheduler" in invoke().output
    assert first not in listed(tmp_path)
    assert f"{first}: searching" in invoke("--search-qpu").output
    assert "none" not in schedules(tmp_path)[first] and first in listed(tmp_path)


def test_what_cannot_be_selected_is_not_searched(
    invoke: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors of a search itself are told."""
    first, *_ = first_choices(tmp_path)
    real = gen.selected_programs

    def selected(kernel: Any, options: Any) -> tuple[Program, ...]:
        if variant_name(kernel.id, options) == first:
            raise SpecError("options", "no such thing here", kernel.loc, kernel.id)
        return real(kernel, options)

    def refuse(*_: object, **__: object) -> None:
        raise SpecError("options", "lost", load(tmp_path / "specs")[0].kernel.loc, "test_it")

    with monkeypatch.context() as patched:
        patched.setattr(gen, "selected_programs", selected)
        patched.setattr(gen, "_wanted", _of_rules(gen._wanted, first))
        result = invoke("--search-qpu")
        assert result.exit_code == 0 and f"{first}: searching" not in result.output
    with monkeypatch.context() as patched:
        patched.setattr(gen, "_wanted", _of_rules(gen._wanted, first))
        patched.setattr(qpu_choices, "searched_or_none", refuse)
        failed = invoke("--search-qpu", "--anew")
        assert isinstance(failed.exception, UserError) and "lost" in str(failed.exception)


def _of_rules(wanted: Callable[..., Any], name: str) -> Callable[..., Any]:
    """As if rules tried that one alone and a back end refused it."""

    def changed(asked: Any) -> dict[str, Any]:
        found = wanted(asked)[name]
        return {name: type(found)(found.kernel, found.options, False)}

    return changed
