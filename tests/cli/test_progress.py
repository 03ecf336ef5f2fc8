# SPDX-License-Identifier: BSD-2-Clause
"""Progress: a changing line on a terminal, plain lines elsewhere, nothing with --json."""

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from daedalus.generator.base import progress as module
from daedalus.generator.base.progress import progress, say
from daedalus.generator.cli import oracle as oracle_verb
from daedalus.generator.verify import oracle


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What goes to stderr, which is no terminal."""
    text = io.StringIO()
    monkeypatch.setattr(module, "console", Console(file=text, width=300))
    return text


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    text = io.StringIO()
    monkeypatch.setattr(module, "console", Console(file=text, force_terminal=True, width=80))
    return text


def test_plain_lines_say_each_thing_once(shown: io.StringIO) -> None:
    with progress():
        say("building [x] for host")
        say("building [x] for host")
        say("checking")
    assert shown.getvalue() == "building [x] for host\nchecking\n"


def test_plain_counts_come_now_and_then(
    shown: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with progress(4) as p:
        say("programs")
        for _ in range(4):
            p.advance(1)
            now[0] += module.PACE / 2
    assert shown.getvalue() == "programs\nprograms: 3 of 4\n"


def test_plain_lines_say_how_far_it_is(shown: io.StringIO) -> None:
    with progress(20) as p:
        say("building")
        p.advance(3)
        say("checking")
        say("checking")
    assert shown.getvalue() == "building\nchecking (3 of 20 done)\n"


def test_quiet_says_nothing(shown: io.StringIO) -> None:
    with progress(3, quiet=True) as p:
        say("checking")
        p.advance(1)
        with progress():  # a verb within a verb
            say("building")
    assert shown.getvalue() == ""


def test_without_a_verb_a_line_is_plain(shown: io.StringIO) -> None:
    say("fetching")
    assert shown.getvalue() == "fetching\n"


def test_it_ends_with_its_block(shown: io.StringIO) -> None:
    with pytest.raises(ValueError, match="x"), progress(quiet=True):
        raise ValueError("x")
    say("again")
    assert shown.getvalue() == "again\n"


def test_a_terminal_gets_one_line_that_goes_again(terminal: io.StringIO) -> None:
    with progress(2) as p:
        say("checking [h264]")
        p.advance(1)
    text = terminal.getvalue()
    assert "checking [h264]" in text and "1/2" in text
    assert text.endswith("\x1b[2K")  # the line is erased


def test_json_leaves_both_streams_clean(
    shown: io.StringIO, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def compare(*_: object) -> list[object]:
        say("h264_idct4: c, amd64")
        return []

    monkeypatch.setattr(oracle, "compare", compare)
    monkeypatch.setattr(oracle, "not_compared", list)
    result = CliRunner().invoke(oracle_verb.command, ["--json"])
    assert json.loads(result.stdout)["comparisons"] == []
    assert result.stderr == "" and shown.getvalue() == ""
    CliRunner().invoke(oracle_verb.command, [])
    assert shown.getvalue() == "h264_idct4: c, amd64\n"
