# SPDX-License-Identifier: BSD-2-Clause
"""Boards by ssh that tune themselves: daedalus-tune on a real server of this machine."""

import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Ran
from fake_board import kit
from ssh_server import Server, serving
from tuning_lines import BOARD, NEON, QPU, every_type, result

from daedalus.generator.base.errors import EXIT_INTERRUPTED, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.cli import tune_remote
from daedalus.generator.cli.main import cli
from daedalus.generator.cli.recipe import generated_library
from daedalus.generator.tuning import journal
from daedalus.generator.tuning.cpu_spills import Spills
from daedalus.generator.tuning.entries import (
    MIXED_CODE,
    Described,
    Mixed,
    Result,
    Run,
    described,
    mixed_key,
)
from daedalus.generator.tuning.kit import PROGRAM, SCRIPT, Kit, build_program
from daedalus.generator.tuning.point import parse_point
from daedalus.generator.tuning.remote import CACHE, Remote


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, CACHE) as made:
        yield made


def tune(server: Server, path: Path, *words: str) -> Ran:
    every = ["tune", "run", *words, "--host", "board", "--ssh", server.config(), "--quick",
             "--items", "256", "--journal", str(path)]  # fmt: skip
    return CliRunner().invoke(cli, every, prog_name="daedalus")


@pytest.mark.parametrize(
    "how", ["interrupt", pytest.param("connection", marks=pytest.mark.campaign)]
)
def test_what_came_is_kept_however_it_ends(
    server: Server, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C, or a connection that does not come back: the lines are in the journal; the same
    command brings the others."""
    gate, file, told = server.home / "gate", tmp_path / "journal.jsonl", 0
    gate.touch()
    monkeypatch.setattr(tune_remote, "Remote", partial(Remote, patience=1))
    monkeypatch.setattr("daedalus.generator.tuning.kit.make", lambda arch, entries: kit(20))
    monkeypatch.setattr(tune_remote, "build_dir", lambda: tmp_path)

    def say(text: str) -> None:
        nonlocal told
        told += ": 93.40 ns" in text
        if told == 5 and how == "interrupt":
            raise KeyboardInterrupt
        if told == 5:
            server.proxy.cut(stay=True)

    def lines() -> int:
        found = journal.read(file)
        assert all("torn" in p.what for p in found.problems)
        return sum(isinstance(e, Result) for e in found.entries)

    with monkeypatch.context() as m:
        m.setattr(tune_remote, "say", say)
        ran = tune(server, file, "vp9_idct8")
    if how == "interrupt":
        assert ran.exit_code == EXIT_INTERRUPTED and "goes on measuring" in ran.stderr
    else:
        assert isinstance(ran.exception, UserError)
        assert "no connection for 1 s" in ran.exception.message
    assert 5 <= lines() < 19
    server.proxy.mend()
    gate.unlink()
    ran = tune(server, file, "vp9_idct8")
    assert isinstance(ran.exception, UserError) and "no recipe" in ran.exception.message
    assert lines() == 19 and len(list(server.home.glob(f"{CACHE}/*/began"))) == 1


# M2 and M3 as they stand in `alone`, and of each pair of M4 its line of `pairs`. Waits before the
# second pair as long as there is a file `gate`. Says what it measured.
FAKE_BOTH = """#!/bin/sh
[ "$1" != --list ] || { cat points; exit 0; }
trap 'exit 130' TERM
lines=alone of= last=
for word; do
  [ "$last" != --cpu-kernel ] || { lines=pairs of="\\"cpu_point\\":\\"$word\\""; }
  last=$word
done
while read -r line; do
  case $line in *"$of"*) ;; *) continue ;; esac
  grep -qxF "$line" journal.jsonl && continue
  while [ -n "$of" ] && [ -s measured-pairs ] && [ -e "$HOME/gate" ]; do sleep 0.1; done
  echo "$line" | tee -a journal.jsonl >>measured-$lines
done <$lines
"""


def both_kit() -> Kit:
    """Of a board where R leaves two pairs to M4."""
    library = generated_library()

    def timed(point: str, ns: float) -> Result:
        code = library.variants[parse_point(point).variant].input_hash
        return result(point, median=ns, low=0.99 * ns, high=1.01 * ns, input_hash=code)

    mc = "vp9_mc_8h/full/daedalus_vp9_mc_8h__c_full/gcc/-/0"
    alone = [timed(NEON, 90), timed(QPU, 150), timed(mc, 40)]
    (line,) = (e for e in every_type() if isinstance(e, Mixed))
    pairs = [
        replace(line, cpu_point=cpu, **dict.fromkeys(MIXED_CODE),
                key=mixed_key(cpu, QPU, line.scenario)) for cpu in (mc, NEON)
    ]  # fmt: skip
    script = repo_root() / "tools" / "tune" / SCRIPT
    return Kit({
        PROGRAM: FAKE_BOTH.encode(), SCRIPT: script.read_bytes(),
        "points": "".join(f"{r.point}\n" for r in alone).encode(),
        "alone": b"".join(journal.line_of(e) for e in (described(BOARD), *alone)),
        "pairs": b"".join(map(journal.line_of, pairs)),
    })  # fmt: skip


@pytest.mark.campaign
def test_the_same_command_goes_on_while_m4_is_under_way(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left in M4, and left again while it follows that; nothing is measured twice."""
    gate, file, made = server.home / "gate", tmp_path / "journal.jsonl", both_kit()
    gate.touch()
    there = server.home / CACHE / made.id
    monkeypatch.setattr("daedalus.generator.tuning.kit.make", lambda arch, entries: made)
    monkeypatch.setattr(tune_remote, "build_dir", lambda: tmp_path)

    def until_said(words: str, what: Callable[[], object]) -> tuple[Ran, list[str]]:
        told: list[str] = []

        def say(text: str) -> None:
            told.append(text)
            if words in text:
                what()

        with monkeypatch.context() as m:
            m.setattr(tune_remote, "say", say)
            return tune(server, file, "vp9_idct8", "vp9_mc_8h"), told

    def leave() -> None:
        raise KeyboardInterrupt

    first, _ = until_said("m4 cpu=", leave)
    second, told = until_said("following it first", leave)
    for ran in (first, second):
        assert ran.exit_code == EXIT_INTERRUPTED and "goes on measuring" in ran.stderr
    written = tmp_path / "tune" / "board" / "daedalus.recipe"
    assert "M4 beside" not in written.read_text()
    (mixed,) = {p for p in there.glob("run-*") if not (p / "exit").exists()}
    assert told[-1] == f"{mixed.name} is under way on board: following it first"
    third, told = until_said("following it first", gate.unlink)
    assert third.exit_code == 0, third.output + third.stderr
    assert "M4 of 2 pairs of kernels that R does not decide about" in told
    assert len(list(there.glob("run-*"))) == 2  # the second M4 was the first
    for what in ("alone", "pairs"):
        assert (there / f"measured-{what}").read_bytes() == made.files[what]
    found = journal.read(file)
    assert found.problems == () and sum(isinstance(e, Mixed) for e in found.entries) == 2
    assert "M4 beside" in written.read_text()


def recipe_path() -> Path:
    return build_dir() / "tune" / "board" / "daedalus.recipe"


@pytest.mark.campaign
def test_a_board_tunes_itself(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    ran = tune(server, file, "vp9_idct8")
    assert ran.exit_code == 0, ran.output + ran.stderr
    found = journal.read(file)
    assert found.problems == ()
    kinds = [type(e) for e in found.entries]
    assert kinds[0] is Described and kinds.count(Run) == 1
    points = {e.point for e in found.entries if isinstance(e, Result) and e.verdict == "ok"}
    assert {p for p in points if "__c_" in p} == {
        f"vp9_idct8/{c}/daedalus_vp9_idct8__c_{c}/gcc/-/0" for c in ("dc", "eob12", "full")
    }
    text = recipe_path().read_text()
    assert text.startswith("daedalus-recipe 1\n") and text.count("\nchoose vp9_idct8 ") == 3
    assert str(recipe_path()) in ran.stdout
    again = tune(server, file, "vp9_idct8")
    assert again.exit_code == 0 and "1 lines added" in again.stderr  # that of the run
    none = tune(server, file, "vp9_idct8", "--target", "qpu")
    assert isinstance(none.exception, UserError) and "no point" in none.exception.message


@pytest.mark.campaign
def test_an_arm64_board_under_qemu(server: Server, tmp_path: Path) -> None:
    """As on a Pi, but for the processor: built by the cross compiler, NEON and all."""
    if shutil.which("qemu-aarch64") is None or shutil.which("aarch64-linux-gnu-gcc") is None:
        reason = "no qemu-aarch64 or no cross compiler: apt-get install qemu-user"
        warnings.warn(reason, stacklevel=2)
        pytest.skip(reason)
    file = tmp_path / "journal.jsonl"
    wrapper = "qemu-aarch64 -cpu cortex-a76 -L /usr/aarch64-linux-gnu"
    ran = tune(server, file, "vp9_lpf4_h", "--target", "neon", "--remote-wrapper", wrapper)
    assert ran.exit_code == 0, ran.output + ran.stderr
    entries = journal.read(file).entries
    assert isinstance(entries[0], Described)
    assert entries[0].compiler == f"gcc, run by {wrapper}"
    points = [e.point for e in entries if isinstance(e, Result) and e.verdict == "ok"]
    assert points and all("__neon_" in p for p in points)
    assert "choose vp9_lpf4_h full cpu daedalus_vp9_lpf4_h__neon_" in recipe_path().read_text()
    # Of the build that this came from: arrays of a variant's own are told apart from spills.
    looked = Spills(build_program("aarch64"))
    assert not looked.reason("daedalus_vp9_idct8__c_full")
    assert looked.reason("daedalus_av1_sgr8__neon_full")
