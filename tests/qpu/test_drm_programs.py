# SPDX-License-Identifier: BSD-2-Clause
"""Programs that stand in C as words and beside it as text: the same, and legal."""

import re
import subprocess
from pathlib import Path

import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.v3d import tools

PROGRAMS = {
    "runtime/gpu/drm/copy.s": ("runtime/gpu/drm/copy.c", 2),
    "tests/c/drm/slow.s": ("tests/c/drm/slow.c", 2),
    "tests/c/drm/sum.s": ("tests/c/drm/sum.c", 2),
    "tests/c/drm/sum_carry.s": ("tests/c/drm/sum_carry.c", 2),
    "tests/c/drm/sum_four.s": ("tests/c/drm/sum_four.c", 4),
}


def toolkit(arguments: list[str], text: str) -> str:
    done = subprocess.run(
        [tools.program(), *arguments], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_words_are_the_text(text: str) -> None:
    source = Path(repo_root(), text).read_text()
    words = [int(w, 16) for w in toolkit(["asm"], source).split()]
    path, threads = PROGRAMS[text]
    code = Path(repo_root(), path).read_text()
    assert words == [int(w, 16) for w in re.findall(r"UINT64_C\((0x[0-9a-f]{16})\)", code)]
    toolkit(["check", "--threads", str(threads)], source)
