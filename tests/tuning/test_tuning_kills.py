# SPDX-License-Identifier: BSD-2-Clause
"""A tuner that is killed again and again, at any moment, ends with what an undisturbed one has."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from daedalus.generator.tuning import journal
from daedalus.generator.tuning.entries import Result, Run

pytestmark = pytest.mark.campaign
WORDS = ["tune", "h264_idct4", "--device", "model", "--target", "c", "--target", "neon"]
POINTS = 10
JOBS = 2
KILLS = 40  # at most; each run gets a point done, or is the last


def start(path: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "daedalus.generator.cli.main", *WORDS, "--jobs", str(JOBS)]
    return subprocess.Popen(
        [*words, "--journal", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "DAEDALUS_NO_SETUP": "1"}, start_new_session=True,
    )  # fmt: skip


def results(path: Path) -> list[Result]:
    return [e for e in journal.read(path).entries if isinstance(e, Result)]


def told(process: subprocess.Popen[str], most: int) -> list[str]:
    """Points of which the tuner has said what they take, up to so many."""
    assert process.stderr is not None
    found: list[str] = []
    for line in process.stderr:
        point, colon, _ = line.partition(": ")
        if colon and point.count("/") == 5:
            found.append(point)
            if len(found) == most:
                break
    return found


def figures(path: Path) -> set[tuple[object, ...]]:
    return {(r.key, r.verdict, r.median, r.low, r.high, r.reason) for r in results(path)}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_kills_lose_at_most_the_points_under_way(how: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    rng = random.Random(how)
    killed = 0
    while killed < KILLS:
        before = len(results(path))
        process = start(path)
        done = told(process, rng.choice((1, 2)))
        time.sleep(rng.uniform(0, 1.5))  # anywhere in the points that follow
        if len(results(path)) == POINTS:
            process.communicate()
            break
        process.send_signal(how)
        process.communicate()
        killed += 1
        kept = {r.point for r in results(path)}
        assert set(done) <= kept
        assert len(results(path)) >= before + len(done)
        if how == signal.SIGINT:
            assert process.returncode == 130
            last = [e for e in journal.read(path).entries if isinstance(e, Run)][-1]
            assert last.ended == "interrupted"
    assert killed >= 2
    # Nothing twice, nothing missing, nothing that a kill made fail.
    assert len(results(path)) == len({r.key for r in results(path)}) == POINTS
    assert {r.verdict for r in results(path)} == {"ok", "spills"}
    whole = tmp_path / "whole"
    process = start(whole)
    process.communicate()
    assert process.returncode == 0
    assert figures(path) == figures(whole)
