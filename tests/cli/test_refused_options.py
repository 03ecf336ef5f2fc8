# SPDX-License-Identifier: BSD-2-Clause
"""Options that have no meaning together, and names of nothing, are refused before any work."""

import click
import pytest
from click.testing import CliRunner

from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import bench, bench_options, count, fuzz, stream


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--substrate qpu --target c", "--target: not with --substrate qpu", "leave it out"),
        ("--substrate qpu --faults c", "--faults: not with --substrate qpu", "leave it out"),
        ("--substrate qpu --sample", "--sample: not with --substrate qpu", "leave it out"),
        ("--substrate qpu --threads 2", "--threads: not with --substrate qpu", "leave it out"),
        ("--device lavapipe-8", "--device: not without --substrate qpu", "add --substrate qpu"),
        ("--target neon --device v3dv", "--device: not without --substrate", "--substrate qpu"),
        ("--target neon --faults c", "--faults c: with --target neon", "write --faults neon"),
        ("--target c --faults neon", "--faults neon: with --target c", "leave --faults out"),
        ("--damaged 1 --timed 1", "--damaged and --timed: each is a run", "all but one"),
        ("--damaged 1 --substrate qpu", "--damaged and --substrate qpu: each", "all but one"),
        ("--damaged 1 --threads 4", "--threads: not with --damaged", "leave it out"),
        ("--timed 1 --seed 2", "--seed: not with --timed", "leave it out"),
        ("--timed 1 --target c", "--target: not with --timed", "leave it out"),
        ("--seed 2", "--seed: not without --damaged", "add --damaged"),
    ],
)
def test_stream(words: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_run", None)
    monkeypatch.setattr(stream, "_on_qpu", None)
    monkeypatch.setattr(stream, "_damaged", None)
    monkeypatch.setattr(stream, "_timed", None)
    refused(stream.command, words, message, hint)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--items --clips", "--items and --clips: each is a run of its own", "all but one"),
        ("--cycles", "--cycles: not without --clips", "add --clips"),
        ("--items --cycles", "--cycles: not with --items", "leave it out"),
    ],
)
def test_count(words: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count, "count_clips", None)
    refused(count.command, words, message, hint)


@pytest.mark.parametrize(
    ("command", "table"), [(stream.command, stream.MODES), (count.command, count.MODES)]
)
def test_every_option_belongs_to_a_mode(command: click.Command, table: dict[str, set[str]]) -> None:
    names = {m.split(" ")[0] for m in table if m} | set().union(*table.values())
    assert names == {p.name for p in command.params}


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("nosuch", "no kernel with GPU variants has nosuch in its id", "vp9_idct8"),
        ("h264_idct4 --device nosuch", "no device nosuch", "lavapipe-8"),
        ("--model --qpu", "--model and --qpu: each is a run of its own", "all but one"),
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
