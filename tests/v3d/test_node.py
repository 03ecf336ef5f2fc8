# SPDX-License-Identifier: BSD-2-Clause
"""The example that drives the node from Python, on the simulated device."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.v3d import tools

EXAMPLE = repo_root() / "examples" / "v3d" / "node.py"
# Waits for a job of many workgroups, so many seconds and then for as long as it takes.
IMPATIENT = f"""
import sys
sys.path.insert(0, {str(EXAMPLE.parent)!r})
from node import PROGRAM, Buffer, Node, words_of
node, groups = Node(), int(sys.argv[1])
code, data = Buffer(node, 4096), Buffer(node, 64 * groups)
code.put(f"<{{len(PROGRAM)}}Q", *PROGRAM)
code.put("<I", data.address, at=2048)
node.dispatch(words_of(groups, code.address, code.address + 2048), [code, data])
try:
    data.wait(float(sys.argv[2]))
    print("done")
except TimeoutError:
    print("too early")
data.wait(60)
print(data.data[:4] == data.data[-4:] == bytes([1, 0, 0, 0]))
"""


def run(*argv: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    words, environment = tools.on_device([sys.executable, *argv], **settings)
    return subprocess.run(
        words, capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )


@pytest.mark.parametrize("settings", [{}, {"timed": True}, {"timed": True, "no_stretch": True}])
def test_the_example_is_right_and_breaks_no_rule(settings: dict[str, bool]) -> None:
    ran = run(str(EXAMPLE), strict=True, check_jobs=True, **settings)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "12 QPUs: 1024 of 1024 numbers are right\n"


def test_it_takes_numbers() -> None:
    assert run(str(EXAMPLE), "0", "4294967295", "7").stdout.endswith("3 of 3 numbers are right\n")


@pytest.mark.parametrize("word", ["-1", "4294967296", "x", "1.5", "9" * 5000])
def test_a_wrong_number_is_told(word: str) -> None:
    ran = subprocess.run(
        [sys.executable, str(EXAMPLE), "7", word], capture_output=True, text=True, timeout=60
    )
    said = f"node.py: {word!r} is not a number from 0 to 4294967295\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", said)


def test_its_words_are_those_of_its_text(tmp_path: Path) -> None:
    rows = re.findall(r"^    0x(\w{16}),  # (.*?)(?:   .*)?$", EXAMPLE.read_text(), re.MULTILINE)
    assert len(rows) == 21
    source = tmp_path / "text.qpu"
    source.write_text("".join(f"{text}\n" for _, text in rows))
    made = subprocess.run(
        [tools.program(), "asm", source], check=True, capture_output=True, text=True
    )
    assert made.stdout.split() == [f"0x{word.lower()}" for word, _ in rows]


def waited(groups: int, seconds: float, **settings: Any) -> str:
    """What came of waiting so long."""
    ran = run("-c", IMPATIENT, str(groups), str(seconds), **settings)
    said, right = ran.stdout.splitlines()
    assert (ran.returncode, ran.stderr, right) == (0, "", "True")
    return said


def test_a_wait_that_is_over_too_early_is_told() -> None:
    assert waited(20000, 0) == "too early"


def test_a_timeout_is_of_the_time_of_a_timed_device(tmp_path: Path) -> None:
    jobs, groups = tmp_path / "jobs", 60000
    assert waited(groups, 60, timed=True, jobs=jobs) == "done"
    job = json.loads(jobs.read_text())
    modelled = (job["modelled"]["end_ns"] - job["modelled"]["begin_ns"]) / 1e9
    assert job["wall_us"] / 1e6 > 1.5 * modelled  # the simulator is the slower one
    assert waited(groups, 1.3 * modelled, timed=True) == "done"
    assert waited(groups, 0.6 * modelled, timed=True) == "too early"
    assert waited(groups, 1.3 * modelled, timed=True, no_stretch=True) == "too early"


def test_traces_are_written_beside_and_put_in_place(tmp_path: Path) -> None:
    """What was there is whole until it is replaced; a symlink stays; a FIFO is not waited for."""
    kept, out, target = tmp_path / "kept", tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    for file in (kept, target):
        file.write_text("old")
    text, data = (out / f"job-000001.{suffix}" for suffix in ("txt", "json"))
    text.hardlink_to(kept)
    data.symlink_to(target)
    ran = run(str(EXAMPLE), "7", trace=out)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "ldtmu" in text.read_text() and kept.read_text() == "old"
    assert data.is_symlink() and json.loads(target.read_text())["program"]
    assert set(out.iterdir()) == {text, data}
    data.unlink()
    os.mkfifo(data)
    ran = run(str(EXAMPLE), "7", trace=out)
    assert ran.returncode == 0
    assert ran.stderr == f"daedalus-v3d-device: {data}: no regular file\n"


def test_it_needs_the_standard_library_alone() -> None:
    imported = re.findall(r"^(?:import|from) (\w+)", EXAMPLE.read_text(), re.MULTILINE)
    assert imported and set(imported) <= sys.stdlib_module_names
