# SPDX-License-Identifier: BSD-2-Clause
"""Jobs of a farm on workers of this machine: shared out, exclusive, and counted once whatever
happens to workers."""

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import psutil
import pytest
from click.testing import CliRunner
from farm_jobs import StepJob
from tuning_lines import BOARD, WHEN, result

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli.main import cli
from daedalus.generator.farm import boards, cluster, tunes
from daedalus.generator.farm.about import about
from daedalus.generator.farm.boards import Board, board_of, boards_aside
from daedalus.generator.farm.checks import check_jobs
from daedalus.generator.farm.jobs import Job, key_of, known_results
from daedalus.generator.farm.run import Report, Terms, run_jobs
from daedalus.generator.farm.tunes import tune_jobs
from daedalus.generator.tuning import board as board_module
from daedalus.generator.tuning import kit
from daedalus.generator.tuning.entries import CHECK_KEY, Check, Result, Run, check_key, described
from daedalus.generator.tuning.fingerprint import generator_hash
from daedalus.generator.tuning.journal import Found, Place, append, line_of, parse_line, read
from daedalus.generator.verify.crosscheck import Outcome

BOARDS = {"": Board(BOARD, "c0de", "gcc 14.2")}
TERMS = Terms("V3D", patience=20.0)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with cluster.local(3, "V3D") as client:
        cluster.workers(client, "V3D", 30)
        warm = tmp_path_factory.mktemp("warm") / "journal"
        run_jobs(client, [StepJob(n, latency=0.3) for n in range(9)], warm, TERMS)
        yield client


def judged(path: Path) -> list[tuple[str, str]]:
    """(key, verdict) of all checks that a journal holds; its lines are all whole."""
    found = read(path)
    assert not found.problems
    return sorted((e.key, e.verdict) for e in found.entries if isinstance(e, Check))


def expected(jobs: list[StepJob]) -> list[tuple[str, str]]:
    return sorted((j.key, j.verdict) for j in jobs)


@pytest.mark.campaign
def test_three_workers_share_jobs_and_judge_as_one(three: Any, tmp_path: Path) -> None:
    """Each does at least half of a third: how much faster that is, a busy machine cannot tell."""
    log = tmp_path / "log"
    jobs = [StepJob(n, latency=0.4, log=str(log)) for n in range(100, 118)]
    threefold = run_jobs(three, jobs, tmp_path / "three", TERMS)
    done_by = Counter(line.split()[2] for line in log.read_text().splitlines() if "end" in line)
    with cluster.local(1, "V3D") as client:
        alone = run_jobs(client, jobs, tmp_path / "one", TERMS)
    assert threefold.done == alone.done == len(jobs)
    assert judged(tmp_path / "three") == judged(tmp_path / "one") == expected(jobs)
    assert len(done_by) == 3
    assert min(done_by.values()) >= len(jobs) // 6, done_by


@pytest.mark.parametrize("after", [1, 4, 9])
def test_a_worker_killed_in_the_middle_changes_nothing(
    three: Any, tmp_path: Path, after: int
) -> None:
    """SIGKILL while it has a job: the same keys and verdicts as undisturbed, each once."""
    log = tmp_path / "log"
    jobs = [StepJob(n, latency=0.3, log=str(log)) for n in range(200, 215)]
    killed: list[int] = []

    def kill(_: str) -> None:
        kill.told += 1  # type: ignore[attr-defined]
        if kill.told == after:  # type: ignore[attr-defined]
            busy = [a for a, keys in three.processing().items() if keys]
            killed.append(three.run(os.getpid, workers=busy[:1])[busy[0]])
            os.kill(killed[0], signal.SIGKILL)

    kill.told = 0  # type: ignore[attr-defined]
    report = run_jobs(three, jobs, tmp_path / "journal", replace(TERMS, tell=kill))
    assert killed and report.done == len(jobs) and not report.errors
    assert judged(tmp_path / "journal") == expected(jobs)
    assert report.verdicts == Counter(j.verdict for j in jobs)


@pytest.mark.campaign
def test_a_board_has_one_job_at_a_time(tmp_path: Path) -> None:
    """Even where a worker would run several."""
    log = tmp_path / "log"
    jobs = [StepJob(n, log=str(log)) for n in range(12)]
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=4, processes=True, resources={"V3D": 1},
            dashboard_address="127.0.0.1:0", local_directory=str(tmp_path),
        ) as one,
        distributed.Client(one, set_as_default=False) as client,
    ):  # fmt: skip
        run_jobs(client, jobs, tmp_path / "journal", TERMS)
    words = [line.split()[0] for line in log.read_text().splitlines()]
    assert words == ["start", "end"] * len(jobs)


def test_what_the_journal_has_is_not_done_again(three: Any, tmp_path: Path) -> None:
    log = tmp_path / "log"
    jobs = [StepJob(n, log=str(log)) for n in range(300, 306)]
    path = tmp_path / "journal"
    assert run_jobs(three, jobs[:4], path, TERMS).done == 4
    torn = path.read_bytes()[:-30]  # of the line that says how the run ended
    path.write_bytes(torn)
    report = run_jobs(three, [*jobs, jobs[0]], path, TERMS)
    assert (report.known, report.done) == (5, 2)
    found = [(e.key, e.verdict) for e in read(path).entries if isinstance(e, Check)]
    assert sorted(found) == expected(jobs)
    assert len(read(path).problems) == 1
    run_jobs(three, jobs, path, replace(TERMS, again=True))
    assert log.read_text().count("start") == 6 + 6


def test_what_was_bad_stays_bad_when_it_is_known(tmp_path: Path) -> None:
    """No worker is needed to say so."""
    nobody = SimpleNamespace(cancel=list)
    jobs = [StepJob(n) for n in range(300, 303)]
    path = tmp_path / "journal"
    for n in range(299, 303):
        append(path, *[e for e in StepJob(n).run() if isinstance(e, Check)])
    report = run_jobs(nobody, jobs, path, TERMS)
    assert (report.known, report.done) == (3, 0)
    assert report.verdicts == Counter(ok=2, wrong=1)
    assert [b.key for b in report.bad] == [jobs[0].key]
    # A later result of the same key takes its place.
    (last,) = [e for e in jobs[0].run() if isinstance(e, Check)]
    append(path, replace(last, verdict="ok", reason="", when="2100-01-01T00:00:00Z"))
    assert run_jobs(nobody, jobs, path, TERMS).verdicts == Counter(ok=3)


def test_a_check_knows_its_results() -> None:
    """Those of "dispatch", of no variant, are counted as well."""
    job = check_jobs(["vp9_idct8"], ["c"], [], [], {"c": ["native"]}, BOARDS, 16, 1)[0]
    names = dict(job.variants)
    made = {"kernel": "vp9_idct8", "target": "c", "device": "native", "asked": 16, "seed": 1,
            "generator": job.generator, "code": "c0de", "tools": "gcc 14.2"}  # fmt: skip

    def check(variant: str, digest: str, **more: Any) -> Check:
        members = {**made, "variant": variant, "input_hash": digest, **more}
        at = members.pop("fingerprint", BOARD.id)
        what = (members[n] for n in (*CHECK_KEY, "code", "tools"))
        return Check(
            fingerprint=at, key=check_key(*what),
            verdict="wrong", reason="it differs", items=1, conformant=1, mismatches=1,
            out_of_bounds=0, when="2026-11-22T12:00:00Z", **members,
        )  # fmt: skip

    name, digest = job.variants[0]
    assert job.gave(check(name, digest)) and job.gave(check("dispatch", ""))
    assert names[name] == digest and not job.gave(check(name, "0" * 16))
    others: list[dict[str, object]] = [
        {"kernel": "vp9_idct4"}, {"target": "neon"}, {"device": "qemu"}, {"asked": 17},
        {"seed": 2}, {"generator": "0" * 16}, {"fingerprint": "0" * 16}, {"code": "old"},
        {"tools": "gcc 12.2"}, {"code": None, "tools": None},
    ]  # fmt: skip
    assert not any(job.gave(check(name, digest, **other)) for other in others)


@pytest.mark.parametrize(
    ("status", "ended", "done"),
    [(0, "done", True), (1, "done", True), (0, "budget", True), (1, "failed", False),
     (1, "interrupted", False), (2, "done", False), (0, "", False)],
)  # fmt: skip
def test_a_tuner_is_done_when_it_says_so_now(
    status: int, ended: str, done: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of an earlier run of the same job does not count; what it knew to be wrong does."""
    monkeypatch.setattr(tunes, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(tunes, "_setpriv", lambda: "setpriv")
    board = replace(BOARD, generator=generator_hash(repo_root()))
    bad = result(fingerprint=board.id, verdict="wrong", reason="item 3 differs")
    known = [line_of(e)[:-1] for e in (described(board), bad)]
    found = [Found(parse_line(line), Place("", 1), line) for line in known]
    (job,) = tune_jobs(["vp9_idct8"], ["neon"], "model", (), found)
    path = tmp_path / "farm" / f"{key_of(job)}.jsonl"
    old = Run(fingerprint=board.id, command="tune", points=1, done=1, ended="done", seconds=1.0,
              when=WHEN)  # fmt: skip
    append(path, old)

    def tuner(words: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        assert words[words.index("--journal") + 1] == str(path)
        if ended:
            append(path, replace(old, ended=ended, when="2026-11-22T13:00:00Z"))
        return subprocess.CompletedProcess(words, status, "", "it says why")

    monkeypatch.setattr(subprocess, "run", tuner)
    if not done:
        with pytest.raises(UserError, match=f"exit status is {status}: it says why"):
            job.run()
        return
    assert [e for e in job.run() if isinstance(e, Result)] == ([bad] if status else [])


@pytest.mark.campaign
def test_two_clients_want_the_same(three: Any, tmp_path: Path) -> None:
    """At once, into one journal: the same keys and verdicts, whoever did what."""
    log = tmp_path / "log"
    jobs = [StepJob(n, latency=0.2, log=str(log)) for n in range(400, 406)]
    path = tmp_path / "journal"
    inner: list[Report] = []

    def another(_: str) -> None:
        if not inner:
            inner.append(Report(0))
            with distributed.Client(three.scheduler.address, set_as_default=False) as second:
                again = replace(TERMS, again=True)
                inner[0] = run_jobs(second, jobs[3:], path, again)

    run_jobs(three, jobs, path, replace(TERMS, tell=another))
    assert inner[0].done == 3
    assert sorted(set(judged(path))) == expected(jobs)


def test_a_job_that_cannot_be_done(three: Any, tmp_path: Path) -> None:
    """Is told with its reason, leaves no result, and keeps no other from being done."""
    jobs = [StepJob(n, harm=(-1, 501)) for n in range(500, 504)]
    report = run_jobs(three, jobs, tmp_path / "journal", TERMS)
    assert report.done == 3 and list(report.errors) == ["step 501"]
    assert "this board has no such thing; plug it in" in report.errors["step 501"]
    assert judged(tmp_path / "journal") == expected([jobs[0], *jobs[2:]])
    runs = [e for e in read(tmp_path / "journal").entries if isinstance(e, Run)]
    assert [(r.points, r.done, r.ended) for r in runs] == [(4, 3, "failed")]


@pytest.mark.campaign
def test_a_job_that_kills_every_worker_is_given_up(tmp_path: Path) -> None:
    import dask

    jobs = [StepJob(n, harm=(602,)) for n in range(600, 605)]
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), cluster.local(
        2, "V3D"
    ) as client:  # fmt: skip
        report = run_jobs(client, jobs, tmp_path / "journal", TERMS)
    assert report.done == 4 and list(report.errors) == ["step 602"]
    assert report.errors["step 602"].startswith("KilledWorker")
    assert judged(tmp_path / "journal") == expected([j for j in jobs if j.number != 602])


@pytest.mark.campaign
def test_checks_by_workers_say_what_checks_here_say(three: Any, tmp_path: Path) -> None:
    """The very jobs of `farm check`, by three workers, one of which is killed, and here."""
    processors, boards = about()["devices"], {"": board_of("")}
    ids = ("vp9_lpf4_h", "h264_idct4")
    jobs: list[Job] = [*check_jobs(ids, ["c"], [], [], processors, boards, 16, 1, latency=0.3)]
    jobs += check_jobs(ids, ["c"], [], [], processors, boards, 16, 2, latency=0.3)
    here = [line_of(e) for j in jobs for e in j.run()]
    (tmp_path / "here").write_bytes(b"".join(here))

    def kill(text: str) -> None:
        busy = [a for a, keys in three.processing().items() if keys]
        if not kill.done and busy:  # type: ignore[attr-defined]
            os.kill(three.run(os.getpid, workers=busy[:1])[busy[0]], signal.SIGKILL)
            kill.done = True  # type: ignore[attr-defined]

    kill.done = False  # type: ignore[attr-defined]
    report = run_jobs(three, jobs, tmp_path / "journal", replace(TERMS, tell=kill))
    assert kill.done and report.done == 4 and not report.errors  # type: ignore[attr-defined]
    assert judged(tmp_path / "journal") == judged(tmp_path / "here")
    assert report.verdicts["ok"] == len(judged(tmp_path / "here")) > 8


@pytest.mark.campaign
def test_tuning_by_workers_says_what_tuning_here_says(three: Any, tmp_path: Path) -> None:
    """The very jobs of `farm tune`; a worker is killed while the tuner runs, which ends with it."""
    jobs = tune_jobs(("vp9_lpf4_h", "h264_idct4"), ["c"], "model", ("--quick", "--jobs", "1"), ())
    left: list[psutil.Process] = []

    def kill() -> None:
        while not left:
            time.sleep(0.2)
            for pid in three.run(os.getpid).values():
                left.extend(psutil.Process(pid).children(recursive=True))
                if left:
                    os.kill(pid, signal.SIGKILL)
                    break

    killer = threading.Thread(target=kill)
    killer.start()
    report = run_jobs(three, jobs, tmp_path / "journal", TERMS)
    killer.join()
    assert report.done == 2 and not report.errors
    assert not psutil.wait_procs(left, timeout=20)[1]
    here = [e for j in jobs for e in j.run() if isinstance(e, Result)]
    there = [e for e in read(tmp_path / "journal").entries if isinstance(e, Result)]
    assert {(e.key, e.verdict) for e in there} == {(e.key, e.verdict) for e in here}
    assert len(there) == len(here) == 2 and all(e.modelled for e in here)

    known = read(tmp_path / "journal").found
    again = tune_jobs(("vp9_lpf4_h",), ["c"], "model", ("--quick", "--jobs", "1"), known)
    assert key_of(again[0]) == key_of(jobs[0])
    assert [type(e) for e in again[0].run()] == [Run]  # nothing is done twice


@pytest.mark.campaign
def test_a_tuner_that_refuses_is_told(three: Any, tmp_path: Path) -> None:
    job = tune_jobs(["vp9_lpf4_h"], ["c"], "model", ["--nonsense"], ())
    report = run_jobs(three, job, tmp_path / "journal", TERMS)
    (why,) = report.errors.values()
    assert "the tuner's exit status is 2" in why and "No such option" in why


def test_a_jobs_key_follows_from_its_inputs() -> None:
    processors = {"c": ["native"]}
    job = check_jobs(["vp9_idct8"], ["c"], [], [], processors, BOARDS, 16, 1)[0]
    assert key_of(job).startswith("check-") and key_of(job) == key_of(replace(job, latency=1.0))
    board = job.board
    others = [
        replace(board, code="0" * 16), replace(board, tools="gcc 12.2"),
        *(replace(board, fingerprint=replace(BOARD, **{part: "another"})) for part in vars(BOARD)),
    ]  # fmt: skip
    changed = [
        replace(job, seed=2), replace(job, items=17), replace(job, generator="0" * 16),
        replace(job, devices=("elsewhere",)), replace(job, kernel="vp9_idct4"),
        replace(job, variants=(*job.variants[:-1], (job.variants[-1][0], "0" * 16))),
        *(replace(job, board=b) for b in others),
    ]  # fmt: skip
    assert len({key_of(j) for j in (job, *changed)}) == len(changed) + 1
    tuning = tune_jobs(["vp9_idct8"], ["neon"], "board", (), (), board=board)[0]
    every = (board, None, *others)
    assert len({key_of(replace(tuning, board=b)) for b in every}) == len(every)


def test_what_another_board_gave_is_no_result(tmp_path: Path) -> None:
    """Of another driver, kind of board, compiler or code: done again; where it is the same, not."""
    job = check_jobs(["vp9_idct8"], ["c"], [], [], {"c": ["native"]}, BOARDS, 16, 1)[0]
    path = tmp_path / "journal"
    outcomes = [Outcome("vp9_idct8", "c", name, "native", 17, 16) for name, _ in job.variants]
    append(path, *(job._line(o) for o in outcomes))
    known = frozenset(known_results(read(path).entries))
    assert len(known) == len(job.variants) and job.is_done(known)
    for board in (
        replace(job.board, fingerprint=replace(BOARD, driver="v3dv 26")),
        replace(job.board, fingerprint=replace(BOARD, revision="d04171")),
        replace(job.board, code="other"), replace(job.board, tools="qemu 9"),
    ):  # fmt: skip
        assert not replace(job, board=board).is_done(known)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """This machine, as its engine and its gcc tell it: `engine` and `gcc` may be changed."""
    told: dict[str, Any] = {"engine": BOARD, "gcc": tmp_path / "gcc"}
    boards._engine.cache_clear()
    monkeypatch.setattr(kit, "build_program", lambda arch: tmp_path / "engine")
    monkeypatch.setattr(board_module, "told", lambda words, environment: told["engine"])
    _tell(told["gcc"], "gcc 14.2")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return told


def _tell(program: Path, version: str) -> None:
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)


def _jobs(board: Board) -> list[Job]:
    """One of each kind, on that board."""
    check = check_jobs(["vp9_idct8"], ["c"], [], [], {"c": ["native"]}, {"": board}, 16, 1)
    return [*check, *tune_jobs(["vp9_idct8"], ["c"], "cpu", (), (), board=board)]


def test_a_board_has_the_device_that_is_asked_for() -> None:
    with pytest.raises(UserError, match="gpu-63: no driver of such a device"):
        board_of("gpu-63")


def test_a_board_that_became_another_one_is_told(machine: dict[str, Any]) -> None:
    """By each job that it gets, in a process that has looked at it before."""
    first = board_of("")
    assert first.fingerprint == BOARD and "gcc 14.2" in first.tools
    machine["engine"] = replace(BOARD, clocks="1500 MHz")
    slower = board_of("")
    assert slower == replace(first, fingerprint=machine["engine"])
    for job in _jobs(first):
        with pytest.raises(UserError, match=f"is now {slower.fingerprint.id} .* was {BOARD.id}"):
            job.run()
    _tell(machine["gcc"], "gcc 15.1")
    for job in _jobs(slower):
        with pytest.raises(UserError, match="is now .* gcc 15.1.* was .* gcc 14.2"):
            job.run()


def test_a_checkout_that_changed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """By jobs that model as well, which are of no board."""
    (job,) = tune_jobs(["vp9_idct8"], ["c"], "model", (), ())
    monkeypatch.setattr(tunes, "code_digest", lambda: "another")
    with pytest.raises(UserError, match=f"is now another, and was {job.code}"):
        job.run()


def test_looking_at_a_board_keeps_no_worker_from_answering(
    machine: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its event loop goes on while the engine is built."""
    building, go_on = threading.Event(), threading.Event()

    def build(arch: str) -> Path:
        building.set()
        assert go_on.wait(20)
        return Path("engine")

    monkeypatch.setattr(kit, "build_program", build)

    async def worker() -> dict[str, Board | str]:
        looking = asyncio.create_task(boards_aside([""]))
        while not building.is_set():
            await asyncio.sleep(0.01)
        go_on.set()
        return await looking

    (found,) = asyncio.run(worker()).values()
    assert isinstance(found, Board) and found.fingerprint == BOARD


def test_boards_of_several_kinds_are_refused() -> None:
    """And those that lack a device; a farm is of one kind."""
    one, other = BOARDS[""], replace(BOARDS[""], fingerprint=replace(BOARD, driver="v3dv 26"))
    told: dict[str, Any] = {"tcp://a": {"": one}, "tcp://b": {"": one}}
    client = SimpleNamespace(run=lambda *_, **__: told)
    assert cluster.boards(client, list(told), [""]) == {"": one}
    told["tcp://b"] = {"": other}
    with pytest.raises(UserError, match="several kinds.*(?s:.)*v3dv 26") as caught:
        cluster.boards(client, list(told), [""])
    assert "--resource" in caught.value.hint
    told["tcp://b"] = {"": "lavapipe is not fetched"}
    with pytest.raises(UserError, match="tcp://b: lavapipe is not fetched"):
        cluster.boards(client, list(told), [""])


@pytest.mark.campaign
def test_a_board_is_what_its_engine_says(tmp_path: Path) -> None:
    """What Python records of a machine has the fingerprint under which the engine measures it."""
    journal = tmp_path / "journal"
    words = ["tune", "run", "h264_idct4", "--device", "cpu", "--target", "c", "--points", "1",
             "--journal", str(journal)]  # fmt: skip
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    measured = {e.fingerprint for e in read(journal).entries if isinstance(e, Result)}
    assert board_of("").fingerprint.id in measured
