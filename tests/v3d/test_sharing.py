# SPDX-License-Identifier: BSD-2-Clause
"""Two processes that share memory and synchronisation through Mesa's driver."""

import os
import subprocess
import warnings
from pathlib import Path

import pytest

from daedalus.generator import native
from daedalus.generator.cli.common import build_dir, repo_root
from daedalus.generator.v3d import driver, tools

FOLDER = repo_root() / "tests" / "v3d" / "sharing"


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["aarch64", "host"])
def test_two_processes_share_what_vulkan_lets_them(arch: str, tmp_path: Path) -> None:
    if arch == "host" and driver.built() is None:
        warnings.warn("v3dv is not built for this machine: setup --native", stacklevel=2)
        pytest.skip("v3dv is not built for this machine: ./daedalus setup --native")
    shader = tmp_path / "step.spv"
    subprocess.run(
        ["glslangValidator", "-V", "--target-env", "vulkan1.1", "-o", shader, FOLDER / "step.comp"],
        check=True, capture_output=True,
    )  # fmt: skip
    program = native.compile_program(
        arch,
        build_dir() / "v3dv" / f"sharing-{arch}" / "sharing",
        sorted(FOLDER.glob("*.c")),
        system_includes=[driver.vulkan_headers()],
        flags=["-ldl"],
        static=False,
    )
    words, environment = tools.on_device([str(program), str(shader)])
    ran = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    # Memory: both processes, in two ways; a frame; semaphores: one; fences: both; a timeline.
    assert sum(line.endswith("256 of 256 words are right") for line in lines) == 4 + 1 + 2 + 4 + 1
    assert "daedalus-v3d-device" not in ran.stderr, ran.stderr
