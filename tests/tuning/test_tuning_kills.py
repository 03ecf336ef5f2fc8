# SPDX-License-Identifier: BSD-2-Clause
"""A tuner that is killed again and again, at any moment, ends with what an undisturbed one has.

It runs as a user runs it, with as many workers as there are cores: what a kill may cost is the
point under way of each. That a point was done its worker notes by itself (noting_tuner.py), so that
results which the tuner held back would be missed.
"""

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
WORKERS = os.cpu_count() or 1
KILLS = 40  # at most; each run gets a point done, or is the last
PATIENCE = 1.0  # seconds from a worker's note to the line on the disk, on a machine that is busy


def start(path: Path) -> subprocess.Popen[str]:
    words = [sys.executable, str(Path(__file__).with_name("noting_tuner.py")), str(notes(path))]
    return subprocess.Popen(
        [*words, *WORDS, "--journal", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "DAEDALUS_NO_SETUP": "1"}, start_new_session=True,
    )  # fmt: skip


def notes(path: Path) -> Path:
    return path.with_suffix(".notes")


def noted(path: Path, since: float) -> dict[str, float]:
    """Points that workers were done with since then, and when."""
    if not notes(path).exists():
        return {}
    lines = [line.split() for line in notes(path).read_text().splitlines()]
    return {point: float(seconds) for seconds, point in lines if float(seconds) >= since}


def results(path: Path) -> list[Result]:
    return [e for e in journal.read(path).entries if isinstance(e, Result)]


def wait_for(process: subprocess.Popen[str], path: Path, began: float, points: int) -> None:
    """Until so many points were noted since it began, or the tuner has ended."""
    while len(noted(path, began)) < points and process.poll() is None:
        time.sleep(0.02)


def figures(path: Path) -> set[tuple[object, ...]]:
    return {(r.key, r.verdict, r.median, r.low, r.high, r.reason) for r in results(path)}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_kills_lose_at_most_the_points_under_way(how: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    rng = random.Random(how)
    killed = 0
    while killed < KILLS:
        began = time.monotonic()
        process = start(path)
        wait_for(process, path, began, rng.choice((1, 2, 3)))
        time.sleep(rng.uniform(0, 1.5))  # anywhere in the points that follow
        if len(results(path)) == POINTS:
            process.communicate()
            break
        at = time.monotonic()
        process.send_signal(how)
        process.communicate()
        killed += 1
        kept = {r.point for r in results(path)}
        lost = {p: seconds for p, seconds in noted(path, began).items() if p not in kept}
        assert len(lost) <= WORKERS
        assert not [p for p, seconds in lost.items() if seconds < at - PATIENCE]
        if how == signal.SIGINT:
            assert process.returncode == 130
            last = [e for e in journal.read(path).entries if isinstance(e, Run)][-1]
            assert last.ended == "interrupted"
    assert killed >= 2
    # Nothing twice, nothing missing, nothing that a kill made fail.
    assert len(results(path)) == len({r.key for r in results(path)}) == POINTS
    assert {r.verdict for r in results(path)} == {"ok"}
    whole = tmp_path / "whole"
    process = start(whole)
    process.communicate()
    assert process.returncode == 0
    assert figures(path) == figures(whole)
