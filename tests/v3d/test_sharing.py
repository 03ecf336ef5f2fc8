# SPDX-License-Identifier: BSD-2-Clause
"""Programs of the tests' own on Mesa's driver: what processes share, performance counters, many
threads of many processes, and work that the device does not simulate."""

import os
import subprocess
import time
import warnings
from pathlib import Path

import pytest

from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.host import native
from daedalus.v3d import driver, tools

FOLDER = repo_root() / "tests" / "v3d"


QUICK = """#version 450
layout(local_size_x = 64) in;
layout(binding = 0, std430) buffer Result { uint r[]; };
void main() { r[gl_GlobalInvocationID.x] = r[gl_GlobalInvocationID.x] * 3u + 1u; }
"""


def start(
    arch: str,
    sources: list[Path],
    tmp_path: Path,
    *arguments: str,
    glsl: Path = FOLDER / "sharing" / "step.comp",
    timed: bool = False,
) -> tuple[subprocess.CompletedProcess[str], float]:
    """Runs the program of the sources on the device, and says how many seconds that took.

    It is built as the first of them is called, and gets the SPIR-V of `glsl`, and the arguments.
    """
    if arch == "host" and driver.built() is None:
        warnings.warn("v3dv is not built for this machine: setup --native", stacklevel=2)
        pytest.skip("v3dv is not built for this machine: ./daedalus setup --native")
    shader = tmp_path / "step.spv"
    subprocess.run(
        ["glslangValidator", "-V", "--target-env", "vulkan1.1", "-o", shader, glsl],
        check=True,
        capture_output=True,
    )
    program = native.compile_program(
        arch,
        build_dir() / "v3dv" / f"{sources[0].stem}-{arch}" / sources[0].stem,
        sources,
        system_includes=[driver.vulkan_headers()],
        flags=["-ldl", "-pthread"],
        static=False,
    )
    words, environment = tools.on_device([str(program), str(shader), *arguments], timed=timed)
    begun = time.monotonic()
    ran = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )
    return ran, time.monotonic() - begun


def run(
    arch: str,
    sources: list[Path],
    tmp_path: Path,
    *arguments: str,
    glsl: Path = FOLDER / "sharing" / "step.comp",
    timed: bool = False,
) -> str:
    """What the program prints, which must be right, on a device that has nothing to report."""
    ran, _ = start(arch, sources, tmp_path, *arguments, glsl=glsl, timed=timed)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "daedalus-v3d-device" not in ran.stderr, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("arch", ["aarch64", "host"])
def test_two_processes_share_what_vulkan_lets_them(arch: str, tmp_path: Path) -> None:
    sources = [FOLDER / "sharing" / name for name in ("sharing.c", "vulkan.c")]
    lines = run(arch, sources, tmp_path).splitlines()
    # Memory: both processes, in two ways; a frame; semaphores: one; fences: both; a timeline.
    assert sum(line.endswith("256 of 256 words are right") for line in lines) == 4 + 1 + 2 + 4 + 1


@pytest.mark.parametrize("arch", ["aarch64", "host"])
def test_counters_of_a_timed_device_can_be_queried(arch: str, tmp_path: Path) -> None:
    sources = [FOLDER / "counters" / "counters.c", FOLDER / "sharing" / "vulkan.c"]
    assert run(arch, sources, tmp_path, timed=True).endswith("right\n")


@pytest.mark.parametrize(("arch", "dispatches"), [("aarch64", 20), ("host", 200)])
def test_many_threads_of_many_processes(arch: str, dispatches: int, tmp_path: Path) -> None:
    glsl = tmp_path / "quick.comp"
    glsl.write_text(QUICK)
    sources = [FOLDER / "threads" / "threads.c", FOLDER / "sharing" / "vulkan.c"]
    said = run(arch, sources, tmp_path, "4", "4", str(dispatches), glsl=glsl)
    assert said == f"4 processes x 4 threads x {dispatches} dispatches: right\n"


@pytest.mark.parametrize("how", ["idle", "fence", "threaded", "semaphore"])
def test_a_program_whose_work_is_not_simulated_ends_and_is_told(how: str, tmp_path: Path) -> None:
    """v3dv submits from a thread of its own: where a submission fails, waits last for ever."""
    sources = [FOLDER / "refused" / "refused.c", FOLDER / "sharing" / "vulkan.c"]
    ran, took_s = start("host", sources, tmp_path, how)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    *before, last = ran.stdout.splitlines()
    assert before[0] == "vkQueueSubmit: 0" and int(last.partition(": ")[2]) < 0
    assert "SUBMIT_TFU: the texture formatting unit is not simulated" in ran.stderr
    assert took_s <= 1, took_s
