# SPDX-License-Identifier: BSD-2-Clause
"""The tuner's best is the least of all points; one that stops early or ranks wrongly is told."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tuning_stand_ins import StandIn, cost_of, space_of

from daedalus.generator.cli.tune import command
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.tuning import best, compare, journal, plan, search
from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.hashes import Hashes
from daedalus.generator.tuning.optimum import Judged, judge
from daedalus.generator.tuning.run import Budget, Tuner
from daedalus.generator.tuning.space import Candidate, Space, recorded, space

KERNELS = ("h264_idct4", "vp9_lpf4_v")
TARGETS = ("c", "neon", "qpu")


def entry_of(kernel: str) -> Entry:
    entry = find(load(), kernel)
    assert entry is not None
    return entry


ENTRIES = [entry_of(k) for k in KERNELS]


def verdict(c: Candidate) -> tuple[str, float]:
    """The widest vectors spill; the others take what the landscape has."""
    return ("spills", 0.0) if c.options.choice("items") == 4 else ("ok", cost_of(c))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a whole run on the stand-in."""
    folder = tmp_path_factory.mktemp("optimum")
    groups = plan.groups_of(ENTRIES, plan.spaces_of(ENTRIES, TARGETS))
    tuner = Tuner(StandIn(verdict), groups, folder / "journal", Hashes(folder / "hashes"))
    assert tuner.run(Budget(), "tune").ended == "done"
    return folder / "journal"


def judged(path: Path) -> list[Judged]:
    sides = list(compare.sides(journal.read(path).entries).values())
    return judge(ENTRIES, TARGETS, (), sides)


def test_the_best_is_the_least_of_all_points_and_of_those_on_record(path: Path) -> None:
    found = judged(path)
    assert [(j.kernel, j.target) for j in found] == [(k, t) for k in KERNELS for t in TARGETS]
    for j in found:
        points = space_of(j.kernel, j.target).candidates
        costs = {c: ns for c in points for v, ns in [verdict(c)] if v == "ok"}
        assert (j.points, j.known, j.timed) == (len(points), len(points), len(costs))
        assert j.complete and not j.complaint
        assert j.tuned.ns == min(costs.values()) and not j.tuned.unknown
        listed = [costs[c] for c in recorded(entry_of(j.kernel), j.target) if c in costs]
        assert j.recorded is not None and j.recorded.median == min(listed)
        assert j.tuned.visited == len(points)
        assert j.quick is not None and 0 < j.quick.visited <= len(points)


def stop_early(patch: pytest.MonkeyPatch) -> None:
    real = search.Search.ask
    patch.setattr(search.Search, "ask", lambda s: real(s) if s.visited < s.total // 2 else None)


def miss_some(patch: pytest.MonkeyPatch) -> None:
    """Points that the run had are in the space no more."""
    real = space

    def fewer(*rest: Any) -> Space:
        found = real(*rest)
        found.candidates = found.candidates[:2]
        return found

    patch.setattr("daedalus.generator.tuning.plan.space", fewer)


def tie_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(best, "overlap", lambda a, b: True)


def rank_backwards(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(best, "overlap", lambda a, b: a is b or a.median > b.median)
    patch.setattr(best, "simplicity", lambda point: -len(str(point)))


MUTATIONS = (stop_early, miss_some, tie_all, rank_backwards)


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda m: m.__name__)
def test_a_tuner_that_misses_the_best_is_told(
    mutate: Callable[[pytest.MonkeyPatch], None], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert any("the tuner's best is not" in j.complaint for j in judged(path))


def test_a_better_schedule_on_record_is_told(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where not all points are known."""
    found = journal.read(path).entries
    mine = [e for e in found if not isinstance(e, Result)]
    listed = {str(c.point("h264_idct4")) for c in recorded(ENTRIES[0], "neon")}
    results = [e for e in found if isinstance(e, Result) and e.point in listed]
    some = tmp_path / "journal"
    journal.append(some, *mine, *results)
    (j,) = judged(some)
    assert (j.kernel, j.target, j.complete, j.complaint) == ("h264_idct4", "neon", False, "")
    monkeypatch.setattr(search.Search, "ask", lambda s: None)
    (j,) = judged(some)
    assert j.complaint


@pytest.fixture
def words(path: Path) -> list[str]:
    targets = [w for t in TARGETS for w in ("--target", t)]
    return ["optimum", *KERNELS, *targets, "--journal", str(path)]


def test_the_command_says_so(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    assert "6 classes, 6 of which all points are known" in done.output
    assert "6 have an optimum, the tuner finds 6" in done.output
    told = json.loads(CliRunner().invoke(command, [*words, "--json"]).output)
    assert all(row["tuned"]["best"]["ns"] == row["optimum"]["ns"] for row in told)
    tie_all(monkeypatch)
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 1
    assert "the tuner's best is not daedalus" not in done.output  # a point's text, not a variant's
    assert "the tuner's best is not h264_idct4/full/" in done.output


def test_what_is_not_complete_is_said_and_can_be_refused(
    words: list[str], path: Path, tmp_path: Path
) -> None:
    """Points that are missing, and classes without a time."""
    whole = CliRunner().invoke(command, [*words, "--complete"])
    assert whole.exit_code == 0 and "not complete" not in whole.output
    entries = list(journal.read(path).entries)
    last = next(e for e in reversed(entries) if isinstance(e, Result) and e.verdict == "spills")
    none = dict.fromkeys((*Result.figures, *Result.may_have))
    timeless = [replace(e, verdict="spills", reason="all", **none)  # type: ignore[arg-type]
                if isinstance(e, Result) else e for e in entries]  # fmt: skip
    for name, found, said in (
        ("some", [e for e in entries if e is not last], "of 1 classes points are missing"),
        ("none", timeless, "no class has a time"),
    ):
        journal.append(tmp_path / name, *found)
        asked = [*words[:-1], str(tmp_path / name)]
        done = CliRunner().invoke(command, asked)
        assert done.exit_code == 0 and said in done.output
        assert CliRunner().invoke(command, [*asked, "--complete"]).exit_code == 1


def test_without_results_it_says_what_to_do(words: list[str], tmp_path: Path) -> None:
    empty = tmp_path / "journal"
    empty.touch()
    done = CliRunner().invoke(command, [*words[:-1], str(empty)])
    assert "holds no modelled results" in str(done.exception)
