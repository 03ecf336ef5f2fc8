# SPDX-License-Identifier: BSD-2-Clause
"""The commands of docs/testing-without-a-pi.md that build a program of one's own and run it."""

import re
import shlex
import subprocess
import sys

import pytest

from daedalus.generator import native
from daedalus.generator.cli.common import repo_root
from daedalus.generator.v3d import driver

PAGE = repo_root() / "docs" / "testing-without-a-pi.md"


def commands() -> str:
    """The indented block that compiles the example, as a script."""
    blocks = re.findall(r"(?:^    .*\n)+", PAGE.read_text(), re.MULTILINE)
    (block,) = [b for b in blocks if "examples/vulkan/compute.c" in b]
    return block.replace(
        "./daedalus", f"{shlex.quote(sys.executable)} -m daedalus.generator.cli.main"
    )


@pytest.mark.slow
@pytest.mark.skipif(native.is_arm(), reason="the commands cross-compile")
def test_the_commands_of_the_page_do_what_it_says() -> None:
    driver.arm64()
    ran = subprocess.run(
        ["sh", "-e", "-c", commands()], cwd=repo_root(), capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.endswith("V3D 7.1.10.2\n256 of 256 words are right\n")
