# SPDX-License-Identifier: BSD-2-Clause
"""Options that have no meaning together, and names of nothing, are refused before any work."""

import click
import pytest
from click.testing import CliRunner

from daedalus.generator.cli import bench, stream
from daedalus.generator.cli.common import UserError


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--substrate qpu --target c", "--target c is about the CPU's functions", "--device"),
        ("--substrate qpu --target all", "--target all is about", "leave one"),
        ("--device lavapipe-8", "--device lavapipe-8 is about GPUs", "add --substrate qpu"),
        ("--target neon --device v3dv", "--device v3dv is about GPUs", "--substrate qpu"),
    ],
)
def test_stream(words: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_run", None)
    monkeypatch.setattr(stream, "_on_qpu", None)
    refused(stream.command, words, message, hint)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("nosuch", "no kernel with GPU variants has nosuch in its id", "vp9_idct8"),
        ("h264_idct4 --device nosuch", "no device nosuch", "lavapipe-8"),
    ],
)
def test_bench(words: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.bench, "write_data", None)
    refused(bench.command, words, message, hint)


def refused(command: click.Command, words: str, message: str, hint: str) -> None:
    result = CliRunner().invoke(command, words.split())
    error = result.exception
    assert isinstance(error, UserError), result.output
    assert error.exit_code == 2 and message in error.message and hint in error.hint
