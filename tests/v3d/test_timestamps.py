# SPDX-License-Identifier: BSD-2-Clause
"""Vulkan's timestamps on a device that is timed: modelled time, the same in every run."""

import json
import os
import subprocess
import warnings
from pathlib import Path

import pytest

from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.host import native
from daedalus.v3d import driver, tools

SOURCE = repo_root() / "tests" / "v3d" / "timestamps" / "timestamps.c"
SHADER = "#version 450\nlayout(local_size_x = 64) in;\nvoid main() {}\n"


def stamps(program: Path, shader: Path, jobs: Path) -> tuple[list[int], list[int]]:
    """The four timestamps, and what the three dispatches took by the device's own account."""
    words, environment = tools.on_device([str(program), str(shader)], timed=True, jobs=jobs)
    ran = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = [json.loads(line) for line in jobs.read_text().splitlines()]
    modelled = [line["modelled"] for line in lines if "modelled" in line]
    took = [m["end_ns"] - m["begin_ns"] for m in modelled]
    return [int(line) for line in ran.stdout.split()], took


@pytest.mark.parametrize("arch", ["aarch64", "host"])
def test_timestamps_show_modelled_time(arch: str, tmp_path: Path) -> None:
    if arch == "host" and driver.built() is None:
        warnings.warn("v3dv is not built for this machine: setup --native", stacklevel=2)
        pytest.skip("v3dv is not built for this machine: ./daedalus setup --native")
    source, shader = tmp_path / "nothing.comp", tmp_path / "nothing.spv"
    source.write_text(SHADER)
    subprocess.run(
        ["glslangValidator", "-V", "-o", shader, source], check=True, capture_output=True
    )
    program = native.compile_program(
        arch,
        build_dir() / "v3dv" / f"timestamps-{arch}" / "timestamps",
        [SOURCE],
        system_includes=[driver.vulkan_headers()],
        flags=["-ldl"],
        static=False,
    )
    runs = [stamps(program, shader, tmp_path / f"jobs{i}") for i in range(2)]
    for at, took in runs:
        assert len(at) == 4 and len(took) == 3
        assert at[1] - at[0] == took[0] > 32900
        assert at[2] - at[1] == took[1] + took[2]
        assert took[1] > took[0]  # seven workgroups are more than one
        assert at[3] == at[2]
    assert runs[0][1] == runs[1][1]
