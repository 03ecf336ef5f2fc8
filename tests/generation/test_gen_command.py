# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus gen`: what it writes and removes, what `--check` finds, and how it reports a spec."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from spec_support import in_stage, spec_text, write_spec

from daedalus.generator.base import records
from daedalus.generator.base.errors import EXIT_FAILED, EXIT_USAGE, UserError
from daedalus.generator.cli import gen
from daedalus.generator.compile.registry import load


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A folder with one small kernel."""
    write_spec(tmp_path / "specs", spec_text(in_stage("pass")))
    return tmp_path / "specs"


@pytest.fixture
def invoke(specs: Path, tmp_path: Path) -> Callable[..., Result]:
    """Runs the verb on that folder; what it writes goes to `out`."""

    def run(*options: str) -> Result:
        arguments = ["--specs", str(specs), "--out", str(tmp_path / "out"), *options]
        return CliRunner().invoke(gen.command, arguments)

    return run


def failure(result: Result) -> UserError:
    """The error that a run ended with."""
    assert isinstance(result.exception, UserError), result.output
    return result.exception


def files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def qpu_file(folder: Path) -> Path:
    """That holds the QPU variants."""
    return folder / "out/src/test/test_it.qpu.c"


def test_what_was_written_is_what_is_wanted(invoke: Callable[..., Result], tmp_path: Path) -> None:
    assert invoke().exit_code == 0
    result = invoke("--check")
    assert result.exit_code == 0
    count = sum(not records.is_record(p) for p in files(tmp_path / "out"))
    assert f"{count} files are what the specs give" in result.output
    assert "src/test/test_it.neon.c" in files(tmp_path / "out")


def test_the_current_folder_leaves_no_trace(
    invoke: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke()
    (tmp_path / "specs" / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "specs" / "elsewhere")
    load.cache_clear()
    assert invoke("--check").exit_code == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [k["spec"] for k in manifest["kernels"]] == ["family/spec.py"]


def test_check_writes_nothing(invoke: Callable[..., Result], tmp_path: Path) -> None:
    error = failure(invoke("--check"))
    assert error.exit_code == EXIT_FAILED
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["manifest.json", "src/table.c", "include/daedalus/test.h"])
def test_a_changed_file_is_found(name: str, invoke: Callable[..., Result], tmp_path: Path) -> None:
    invoke()
    with (tmp_path / "out" / name).open("a") as f:
        f.write(" ")
    result = invoke("--check")
    assert f"different: {name}" in result.output.splitlines()
    _names_the_repair(failure(result), 1)


def test_a_missing_file_is_found(invoke: Callable[..., Result], tmp_path: Path) -> None:
    invoke()
    (tmp_path / "out" / "manifest.json").unlink()
    result = invoke("--check")
    assert "missing: manifest.json" in result.output.splitlines()
    _names_the_repair(failure(result), 1)


@pytest.mark.parametrize("name", ["src/test/old_variant.c", "stray.txt", "include/daedalus/x.h"])
def test_an_extra_file_is_found(name: str, invoke: Callable[..., Result], tmp_path: Path) -> None:
    invoke()
    (tmp_path / "out" / name).write_text("left over")
    result = invoke("--check")
    assert f"not generated: {name}" in result.output.splitlines()
    _names_the_repair(failure(result), 1)


def test_all_differences_are_counted(invoke: Callable[..., Result], tmp_path: Path) -> None:
    invoke()
    (tmp_path / "out" / "manifest.json").unlink()
    (tmp_path / "out" / "src/table.c").write_text("")
    (tmp_path / "out" / "stray").write_text("")
    _names_the_repair(failure(invoke("--check")), 3)


def _names_the_repair(error: UserError, count: int) -> None:
    assert error.exit_code == EXIT_FAILED
    assert f"({count} files)" in error.message
    assert "./daedalus gen" in error.hint


def test_gen_repairs(invoke: Callable[..., Result], tmp_path: Path) -> None:
    invoke()
    (tmp_path / "out" / "src/table.c").write_text("")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    (tmp_path / "out" / "src" / "stale.c").write_text("")
    manifest["files"]["src/stale.c"] = ""  # an earlier generator wrote it
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest))
    assert "2 written, 1 removed" in invoke().output
    assert invoke("--check").exit_code == 0
    assert not any(p.endswith(".partial") for p in files(tmp_path / "out"))


def test_gen_keeps_what_it_did_not_write(invoke: Callable[..., Result], tmp_path: Path) -> None:
    invoke()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    invoke()
    assert (tmp_path / "out" / "letter.txt").read_text() == "dear"
    assert "not generated: letter.txt" in invoke("--check").output


def test_gen_refuses_a_folder_of_something_else(
    invoke: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    error = failure(invoke())
    assert "holds files that were not generated" in error.message and error.hint
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["letter.txt"]


def test_unchanged_files_are_left_alone(invoke: Callable[..., Result], tmp_path: Path) -> None:
    """So that a build does not compile them again."""
    invoke()
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert "0 written, 0 removed" in invoke().output
    assert before == {p: p.stat().st_mtime_ns for p in before}


def test_records_of_other_verbs_are_kept(invoke: Callable[..., Result], tmp_path: Path) -> None:
    invoke()
    for part in records.PARTS:
        if part != records.OPTIONS:  # which is gen's own
            records.write("test_it", part, {"some": {}}, tmp_path / "out")
    known = records.path("test_it", tmp_path / "out").read_text()
    assert invoke("--check").exit_code == 0
    invoke()
    assert records.path("test_it", tmp_path / "out").read_text() == known


def test_a_specs_error_is_the_users(specs: Path, tmp_path: Path) -> None:
    write_spec(specs, spec_text("with k.stage(i=8) as i:\n    px[0, i] = px[0, i] + 1"), "bad.py")
    result = CliRunner().invoke(
        gen.command, ["--specs", str(specs), "--out", str(tmp_path / "out")]
    )
    error = failure(result)
    assert error.exit_code == EXIT_USAGE
    assert error.message.startswith("bad.py:9: test_it: stores [1, 256] into px of u8 [range]")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    result = CliRunner().invoke(gen.command, ["--specs", str(tmp_path / "none")])
    assert result.exit_code == 2 and "does not exist" in result.output


@pytest.fixture
def with_qpu(specs: Path) -> None:
    """The kernel has a variant for the QPU."""
    (specs / "family" / "options.toml").write_text('[test_it]\nprod = ["qpu_full_p4"]\n')
    load.cache_clear()


def test_a_qpu_variant_without_a_record_is_told(
    with_qpu: None, invoke: Callable[..., Result], tmp_path: Path
) -> None:
    """It is generated all the same; --check wants the best schedule, which a search records."""
    name = "daedalus_test_it__qpu_full_p4"
    result = invoke()
    assert result.exit_code == 0 and f"remark: {name}: scheduled by few attempts" in result.output
    assert f"const daedalus_qpu_code {name} = {{" in qpu_file(tmp_path).read_text()
    error = failure(invoke("--check"))
    assert name in error.message and "gen --search-qpu" in error.hint
    assert error.exit_code == EXIT_FAILED
    assert invoke("--search-qpu").exit_code == 0
    assert list(records.read("test_it", records.SCHEDULES, tmp_path / "out")) == [name]
    assert invoke("--check").exit_code == 0


def test_a_stale_record_is_mended_by_a_search(
    with_qpu: None, invoke: Callable[..., Result], tmp_path: Path
) -> None:
    """Not by generating again, which would leave longer code."""
    invoke("--search-qpu")
    file = records.path("test_it", tmp_path / "out")
    file.write_text(file.read_text().replace('"programs": "', '"programs": "stale'))
    qpu_file(tmp_path).unlink()
    assert "gen --search-qpu" in failure(invoke("--check")).hint
    assert invoke("--search-qpu").exit_code == 0
    assert invoke("--check").exit_code == 0


def test_variants_that_rules_choose_are_searched(
    invoke: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nothing is on record yet of what they choose."""
    names: list[str] = []

    def searched(name: str, *_: object) -> dict[str, int]:
        names.append(name)
        return {"trip": 7}

    monkeypatch.setattr(gen.qpu_choices, "searched", searched)
    monkeypatch.setattr(gen.qpu_choices, "record", lambda found: None)
    monkeypatch.setattr(gen.qpu_choices, "keep", lambda kernel, known: None)
    result = invoke("--search-qpu")
    assert result.exit_code == 0 and len(names) >= 2
    assert all(name.startswith("daedalus_test_it__qpu_full") for name in names)
    made = set(re.findall(r"const daedalus_qpu_code (\w+) =", qpu_file(tmp_path).read_text()))
    assert set(names) == made
    assert all(f"{name}: 7 instructions a trip" in result.output for name in names)


def test_search_goes_with_writing(invoke: Callable[..., Result]) -> None:
    assert failure(invoke("--search-qpu", "--check")).exit_code == EXIT_USAGE
    assert failure(invoke("--anew")).exit_code == EXIT_USAGE


def test_a_word_that_changes_nothing_is_refused(specs: Path, invoke: Callable[..., Result]) -> None:
    """Machine code under two names would be checked and ranked as if it were two."""
    (specs / "family" / "options.toml").write_text(
        '[test_it]\nprod = ["c_full", "qpu_full_p4", "qpu_full_p4_dot"]\n'
    )
    result = invoke()
    assert isinstance(result.exception, UserError)
    assert "qpu_full_p4_dot is the same program as qpu_full_p4" in str(result.exception)
    assert "leave one of them out of options.toml" in str(result.exception)
