# SPDX-License-Identifier: BSD-2-Clause
"""`help` says what --help says, of everything and of each verb."""

import pytest
from click.testing import CliRunner

from daedalus.generator.cli.main import VERBS, cli


def shown(*words: str) -> str:
    result = CliRunner().invoke(cli, list(words), prog_name="daedalus")
    assert result.exit_code == 0, result.output
    return result.output


def test_help_alone() -> None:
    assert shown("help") == shown("--help")
    assert all(f"\n  {verb} " in shown("help") for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(verb: str) -> None:
    assert shown("help", verb) == shown(verb, "--help")


def test_an_unknown_verb() -> None:
    result = CliRunner().invoke(cli, ["help", "nonsense"], prog_name="daedalus")
    assert result.exit_code == 2
    assert "No such verb 'nonsense'; verbs are bench, build, " in result.output
