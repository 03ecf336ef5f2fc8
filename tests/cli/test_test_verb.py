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
