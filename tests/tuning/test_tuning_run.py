# SPDX-License-Identifier: BSD-2-Clause
"""Runs of the tuner on a stand-in: budgets, what is kept, what is done again."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from tuning_stand_ins import StandIn, cost_of, fine, group, space_of

from daedalus.generator.cli import tune_run
from daedalus.generator.cli.tune import command
from daedalus.generator.host import native
from daedalus.generator.tuning import hashes as hashes_module
from daedalus.generator.tuning import journal
from daedalus.generator.tuning.entries import Described, Result, Run
from daedalus.generator.tuning.hashes import Hashes
from daedalus.generator.tuning.journal import Terms
from daedalus.generator.tuning.run import Budget, Outcome, Tuner
from daedalus.generator.tuning.search import Search
from daedalus.generator.tuning.space import Candidate
from daedalus.generator.tuning.task import Known, Task

POINTS = space_of("vp9_lpf4_v", "glsl").candidates[:20]
WHOLE = Budget()


def run(
    folder: Path, device: StandIn, budget: Budget = WHOLE, points: list[Candidate] = POINTS
) -> Outcome:
    """A run whose journal and cache lie in a folder."""
    groups = [group(Search("x", [], points))]
    tuner = Tuner(device, groups, folder / "journal", Hashes(folder / "hashes"))
    return tuner.run(budget, "tune")


def entries(folder: Path, kind: type) -> list[object]:
    found = journal.read(folder / "journal")
    assert not found.problems
    return [e for e in found.entries if isinstance(e, kind)]


def test_all_points_are_kept_and_the_best_is_the_best(tmp_path: Path) -> None:
    out = run(tmp_path, StandIn())
    assert (out.done, out.known, out.ended) == (20, 0, "done")
    assert len(entries(tmp_path, Result)) == 20
    assert len(entries(tmp_path, Described)) == 1
    costs = {c: r.median for c, r in out.results[0].items()}
    assert costs == {c: cost_of(c) for c in POINTS}
    (told,) = entries(tmp_path, Run)
    assert isinstance(told, Run)
    assert (told.points, told.done, told.ended) == (20, 20, "done")


@pytest.mark.parametrize("there", ["gcc", "clang"])
def test_without_clang_its_points_are_left_out(
    there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """None is asked for or kept, at whatever run, and one line says so."""
    (tmp_path / native.CLANG).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) if there == "clang" else "")
    monkeypatch.setattr(tune_run, "build_dir", lambda: tmp_path)
    device = StandIn()
    monkeypatch.setattr(tune_run, "_engine", lambda *given: device)
    words = ["run", "h264_idct4", "--device", "cpu", "--target", "c"]
    done = CliRunner().invoke(command, [*words, "--journal", str(tmp_path / "journal"), "--json"])
    said = done.output + capfd.readouterr().err
    assert done.exit_code == 0, said
    asked = {t.candidate.compiler for t in device.asked}
    assert asked == ({"gcc"} if there == "gcc" else {"gcc", "clang"})
    assert said.count("warning: clang is not here: its points are left out") == (there == "gcc")
    assert len(entries(tmp_path, Result)) == len(device.asked) == len(asked)


def test_a_second_run_does_nothing_again(tmp_path: Path) -> None:
    first = run(tmp_path, StandIn())
    again = StandIn()
    out = run(tmp_path, again)
    assert (out.done, out.known, again.asked) == (0, 20, [])
    assert out.results == first.results
    assert len(entries(tmp_path, Result)) == 20


def test_without_the_cache_of_hashes_a_device_tells_what_is_known(tmp_path: Path) -> None:
    run(tmp_path, StandIn())
    (tmp_path / "hashes").unlink()
    again = StandIn()
    out = run(tmp_path, again)
    assert (out.done, out.known) == (0, 20)
    # One point of a variant tells the hash of all of them.
    variants = {t.point.variant for t in again.asked}
    assert len(variants) == len({c.options for c in POINTS}) <= len(again.asked) < 20


def test_another_generator_makes_points_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, StandIn())
    monkeypatch.setattr(hashes_module, "sources", lambda: "f" * 16)
    monkeypatch.setattr("tuning_stand_ins.HASH", "f" * 16)  # of the code as it is now
    assert run(tmp_path, StandIn()).done == 20


def test_results_of_another_fingerprint_do_not_count(tmp_path: Path) -> None:
    run(tmp_path, StandIn())
    assert run(tmp_path, StandIn(name="another")).done == 20
    assert len(entries(tmp_path, Described)) == 2


@pytest.mark.parametrize("verdict", ["wrong", "failed", "spills", "refused"])
def test_a_point_without_a_time_is_a_result(tmp_path: Path, verdict: str) -> None:
    def bad(c: Candidate) -> tuple[str, float]:
        return (verdict, 0.0) if c == POINTS[3] else fine(c)

    out = run(tmp_path, StandIn(bad))
    assert out.verdicts == {"ok": 19, verdict: 1}
    assert run(tmp_path, StandIn()).done == 0


@pytest.mark.parametrize("verdict", ["lost", "timeout", "throttled", "unavailable"])
def test_what_says_nothing_of_a_point_is_done_again(tmp_path: Path, verdict: str) -> None:
    def bad(c: Candidate) -> tuple[str, float]:
        return (verdict, 0.0) if c == POINTS[3] else fine(c)

    run(tmp_path, StandIn(bad))
    again = StandIn()
    assert run(tmp_path, again).done == 1
    assert [t.candidate for t in again.asked] == [POINTS[3]]


def test_a_budget_of_points_ends_a_run_and_the_next_goes_on(tmp_path: Path) -> None:
    done = []
    for _ in range(4):
        out = run(tmp_path, StandIn(), Budget(points=6))
        done.append((out.done, out.ended))
    assert done == [(6, "budget"), (6, "budget"), (6, "budget"), (2, "done")]
    assert len({r.key for r in entries(tmp_path, Result)}) == 20  # type: ignore[attr-defined]


def test_a_budget_of_time_begins_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    out = run(tmp_path, StandIn(), Budget(seconds=5))
    assert out.ended == "budget"
    assert 0 < out.done < 20


def test_an_interrupt_keeps_what_was_done_and_says_so(tmp_path: Path) -> None:
    count = 0

    def interrupting(c: Candidate) -> tuple[str, float]:
        nonlocal count
        count += 1
        if count == 7:
            raise KeyboardInterrupt
        return fine(c)

    device = StandIn(interrupting)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, device)
    assert device.ended == 1
    (told,) = entries(tmp_path, Run)
    assert isinstance(told, Run)
    assert (told.done, told.ended) == (6, "interrupted")
    assert run(tmp_path, StandIn()).done == 14


def test_torn_and_foreign_lines_are_told_and_skipped(tmp_path: Path) -> None:
    run(tmp_path, StandIn(), Budget(points=3))
    with (tmp_path / "journal").open("ab") as f:
        f.write(b'{"v":1,"type":"result","half a li')
    (tmp_path / "hashes").write_bytes((tmp_path / "hashes").read_bytes() + b"\xff torn")
    out = run(tmp_path, StandIn())
    assert len(out.problems) == 1
    assert out.done == 17


class Watching(StandIn):
    """Looks, whenever it is asked for something, whether what it has told is in the journal."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path, self._told = path, set[str]()

    def _look(self) -> None:
        kept = {e.point for e in journal.read(self._path).entries if isinstance(e, Result)}
        assert self._told == kept

    @property
    def free(self) -> bool:
        self._look()
        return super().free

    def done(self, patience: float) -> Iterator[tuple[Task, Result | Known]]:
        for _ in range(len(self._under_way)):  # all at once: each is kept before the next is taken
            self._look()
            for task, result in super().done(patience):
                self._told.add(str(task.point))
                yield task, result

    def end(self) -> None:
        self._look()
        super().end()


def test_a_result_is_on_the_disk_before_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = 0
    real = os.fdatasync

    def sync(fd: int) -> None:
        nonlocal synced
        synced += 1
        real(fd)

    monkeypatch.setattr(os, "fdatasync", sync)
    assert run(tmp_path, Watching(tmp_path / "journal")).done == 20
    assert synced == 22  # the fingerprint, the results, the end of the run


@pytest.mark.parametrize("quick", [Terms(5, 0.01, 3), Terms(10, 0.01, 0.3)])
def test_times_of_a_quick_run_are_taken_anew_by_a_whole_one(tmp_path: Path, quick: Terms) -> None:
    """The other way round they hold."""
    whole = Terms(10, 0.01, 3)
    run(tmp_path, StandIn(terms=quick), Budget(points=4))
    assert run(tmp_path, StandIn(terms=whole)).done == 20
    for terms in (whole, quick):
        out = run(tmp_path, StandIn(terms=terms))
        assert (out.done, out.known) == (0, 20)
        assert {(r.samples, r.seconds) for r in out.results[0].values()} == {(10, 3)}


def test_groups_get_points_in_turn(tmp_path: Path) -> None:
    other = space_of("h264_idct4", "glsl").candidates[:20]
    groups = [group(Search("a", [], POINTS)), group(Search("b", [], other), "h264_idct4")]
    device = StandIn()
    tuner = Tuner(device, groups, tmp_path / "journal", Hashes(tmp_path / "hashes"))
    tuner.run(Budget(points=8), "tune")
    assert [t.kernel for t in device.asked] == ["vp9_lpf4_v"] * 2 + ["h264_idct4"] * 2 + [
        "vp9_lpf4_v"
    ] * 2 + ["h264_idct4"] * 2
