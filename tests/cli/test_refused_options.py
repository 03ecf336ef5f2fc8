# SPDX-License-Identifier: BSD-2-Clause
"""Options that have no meaning together, and names of nothing, are refused before any work."""

import click
import pytest
from click.testing import CliRunner

from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import bench, bench_options, fuzz, stream


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--substrate qpu --target c", "--target c is about the CPU's functions", "--device"),
        ("--substrate qpu --target all", "--target all is about", "leave one"),
        ("--device lavapipe-8", "--device lavapipe-8 is about GPUs", "add --substrate qpu"),
        ("--target neon --device v3dv", "--device v3dv is about GPUs", "--substrate qpu"),
        ("--target neon --faults c", "--faults c: with --target neon", "write --faults neon"),
        ("--target c --faults neon", "--faults neon: with --target c", "leave --faults out"),
        ("--substrate qpu --faults c", "--faults c is about the CPU's", "leave one of the two"),
        ("--substrate qpu --faults all", "--faults all is about the CPU's", "leave one"),
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
        ("--model --qpu", "--model and --qpu: each is a measurement of its own", "all but one"),
        ("--native --model --sand", "--model and --native and --sand: each", "all but one"),
        ("--model --rounds 3 --device x", "--device: not with --model", "leave it out"),
        ("--model --items 200", "--items: not with --model", "leave it out"),
        ("--native --json --write-data x", "--write-data: not with --native", "--help"),
        ("vp9_idct8 --sand", "KERNEL: not with --sand", "leave it out"),
        ("--bound", "--bound: not without --model", "add --model"),
        ("--output x", "--output: not without --qpu", "add --qpu"),
        ("--output x --bound", "--bound: not without --model", "add --model, or leave it out"),
        ("--qpu --choose --output x", "--choose and --output do not go together", "one of the two"),
    ],
)
def test_bench(words: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.bench, "write_data", None)
    refused(bench.command, words, message, hint)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--target metal", "unknown target 'metal'", "targets are c, vector, neon, glsl, qpu"),
        ("--target c,nosuch", "unknown target 'nosuch'", "c, vector, neon, glsl, qpu"),
        ("--target ,", "unknown target ','", "c, vector, neon, glsl, qpu"),
        ("--target c,qpu --sanitize", "--sanitize is for the CPU's code", "leave it out with"),
    ],
)
def test_fuzz(words: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "Campaign", None)
    refused(fuzz.command, words, message, hint)


def refused(command: click.Command, words: str, message: str, hint: str) -> None:
    result = CliRunner().invoke(command, words.split())
    error = result.exception
    assert isinstance(error, UserError), result.output
    assert error.exit_code == 2 and message in error.message and hint in error.hint


def test_every_option_of_bench_belongs_to_a_mode() -> None:
    own = {p.name for p in bench.command.params}
    assert set(bench_options.MODES) - {""} | set().union(*bench_options.MODES.values()) == own


def test_the_help_of_bench_lists_options_by_mode() -> None:
    text = CliRunner().invoke(bench.command, ["--help"]).output
    at = [
        text.index(f"\n{title}:\n")
        for title in ("Modes, one at most", "Without a mode", "Without a mode, or with --native",
                      "With --model", "With --qpu", "All modes")
    ]  # fmt: skip
    assert at == sorted(at)
    assert at[3] < text.index("\n  --bound ") < at[4] < text.index("\n  --choose ") < at[5]
