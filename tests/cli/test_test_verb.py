# SPDX-License-Identifier: BSD-2-Clause
"""What `test` tells of its steps, and that it sees what they leave in the checkout."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from daedalus.generator.cli import test as verb
from daedalus.generator.cli.skips import skips
from daedalus.generator.host import checkout
from daedalus.generator.host.steps import Step


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "tracked name").write_text("1")
    (folder / "dirty").write_text("1")
    (folder / ".gitignore").write_text("build/\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    (folder / "dirty").write_text("2")  # by hand, before the tests
    monkeypatch.setattr(verb, "repo_root", lambda: folder)
    monkeypatch.setattr(verb, "build_dir", lambda: folder / "build")
    monkeypatch.setattr(verb.signal, "signal", lambda *_: None)
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *codes: str) -> Result:
    def steps() -> Iterator[Step]:
        for n, code in enumerate(codes):
            yield Step(f"step {n}", [sys.executable, "-c", code], wide=True)

    monkeypatch.setitem(verb.LAYERS, "lint", ("stands for all", steps))
    return CliRunner().invoke(verb.command, ["lint"])


def test_it_says_how_far_it_is_and_learns(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(monkeypatch, "pass", "pass")
    assert result.exit_code == 0, result.output
    assert re.search(r"^3 passed, 0 failed, in \d+ s$", result.output, re.MULTILINE)
    assert "clean: no file of the checkout was changed" in result.output
    assert (repository / "build" / "costs.json").is_file()


@pytest.mark.parametrize("name", ["tracked name", "dirty", "new"])
def test_a_step_that_changes_a_file_is_seen(
    name: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(monkeypatch, f"open({name!r}, 'w').write('3')")
    assert result.exit_code == 1
    assert "1 passed, 1 failed" in result.output


def test_only_what_was_changed_meanwhile_counts(repository: Path) -> None:
    before = checkout.changed(repository)
    assert before is not None and list(before) == ["dirty"]
    (repository / "build").mkdir()
    (repository / "build" / "x").write_text("ignored")
    assert checkout.traces(before, checkout.changed(repository) or {}) == []
    (repository / "tracked name").unlink()
    git(repository, "checkout", "dirty")
    after = checkout.changed(repository)
    assert after is not None
    assert checkout.traces(before, after) == ["dirty", "tracked name"]


def test_without_git_nothing_is_claimed(tmp_path: Path) -> None:
    assert checkout.changed(tmp_path) is None


PYTEST = """
SKIPPED [2] tests/v3d/test_faults.py:49: v3dv is not built: ./daedalus setup --native
SKIPPED [1] tests/v3d/test_x.py:9: v3dv is not built: ./daedalus setup --native
SKIPPED [1] tests/tools/test_y.py:3: no browser
"""
CTEST = """
1/2 Test #1: c_prefix .....***Skipped   0.01 sec

The following tests did not run:
\t  1 - c_prefix (Skipped)
\t 12 - off (Disabled)
"""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (PYTEST, "4 skipped: v3dv is not built: ./daedalus setup --native (3); no browser"),
        (CTEST, "2 skipped: c_prefix (skipped); off (disabled)"),
        ("", ""),
    ],
)
def test_what_a_step_skips_is_counted_and_named(
    said: str, told: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(monkeypatch, f"print({said!r})")
    (line,) = [x for x in result.output.splitlines() if "step 0 (" in x]
    assert line.endswith(f", {told})" if told else " of processor time)")


def test_pytest_and_ctest_tell_what_they_skip(tmp_path: Path) -> None:
    """Real ones, as the steps call them."""
    (tmp_path / "test_x.py").write_text("import pytest\ndef test_x(): pytest.skip('no Pi')\n")
    (tmp_path / "CTestTestfile.cmake").write_text(
        'add_test(named "true")\nadd_test(other "true")\n'
        "set_tests_properties(named PROPERTIES DISABLED TRUE)\n"
    )
    steps = {s.name: s.argv for layer in ("unit", "c") for s in verb.LAYERS[layer][1]()}
    for name, told in [("pytest", "no Pi"), ("ctest (host)", "named (disabled)")]:
        words = [str(w) for w in steps[name]]
        if "--test-dir" in words:
            words[words.index("--test-dir") + 1] = str(tmp_path)
            words = words[: words.index("-LE")]
        else:  # there are no tests of ours, whose plugin knows the option
            words = words[: words.index("--share")]
        ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert told in skips(ran.stdout), ran.stdout


def test_the_library_of_all_variants_is_built_for_its_test() -> None:
    builds = [s for s in verb.LAYERS["c"][1]() if s.name.startswith("build C tests")]
    assert builds and all("daedalus_variants" in str(s.argv[-1]) for s in builds)
