# SPDX-License-Identifier: BSD-2-Clause
"""The example that drives the node from Python, on the simulated device."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.v3d import tools

EXAMPLE = repo_root() / "examples" / "v3d" / "node.py"
# Waits for a job of 20,000 workgroups, for no time at all and then for as long as it takes.
IMPATIENT = f"""
import sys
sys.path.insert(0, {str(EXAMPLE.parent)!r})
from node import PROGRAM, Buffer, Node, words_of
node, groups = Node(), 20000
code, data = Buffer(node, 4096), Buffer(node, 64 * groups)
code.put(f"<{{len(PROGRAM)}}Q", *PROGRAM)
code.put("<I", data.address, at=2048)
node.dispatch(words_of(groups, code.address, code.address + 2048), [code, data])
try:
    data.wait(0)
except TimeoutError as e:
    print(e)
data.wait(60)
print(data.data[:4], data.data[-4:])
"""


def run(*argv: str, **settings: bool) -> subprocess.CompletedProcess[str]:
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


def test_its_words_are_those_of_its_text(tmp_path: Path) -> None:
    rows = re.findall(r"^    0x(\w{16}),  # (.*?)(?:   .*)?$", EXAMPLE.read_text(), re.MULTILINE)
    assert len(rows) == 21
    source = tmp_path / "text.qpu"
    source.write_text("".join(f"{text}\n" for _, text in rows))
    made = subprocess.run(
        [tools.program(), "asm", source], check=True, capture_output=True, text=True
    )
    assert made.stdout.split() == [f"0x{word.lower()}" for word, _ in rows]


def test_a_wait_that_is_over_too_early_is_told() -> None:
    ran = run("-c", IMPATIENT)
    assert (
        ran.stdout
        == "a job is not done after 0 s\nb'\\x01\\x00\\x00\\x00' b'\\x01\\x00\\x00\\x00'\n"
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_it_needs_the_standard_library_alone() -> None:
    imported = re.findall(r"^(?:import|from) (\w+)", EXAMPLE.read_text(), re.MULTILINE)
    assert imported and set(imported) <= sys.stdlib_module_names
