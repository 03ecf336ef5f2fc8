# SPDX-License-Identifier: BSD-2-Clause
"""Faults of the simulated device as a Vulkan program meets them: docs/v3d-faults.md.

The ioctls themselves are tested by tests/c/v3d/device/test_faults.c, at every job.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from daedalus.v3d import driver, vkrun

SHADER = """#version 450
layout(local_size_x = 16) in;
layout(binding = 0, std430) buffer R { uint r[]; };
void main() { r[gl_GlobalInvocationID.x] = 0x11223344u + gl_GlobalInvocationID.x; }
"""
# Waits for what nobody will ever write.
ENDLESS = """#version 450
layout(local_size_x = 16) in;
layout(binding = 0, std430) volatile buffer R { uint r[]; };
void main() {
  r[gl_GlobalInvocationID.x] = 7u;
  while (r[16] == 0u) {}
  r[gl_GlobalInvocationID.x] = 9u;
}
"""
RIGHT = 0x11223344 + np.arange(16, dtype="<u4")
CASES = [f"case{i}" for i in range(5)]
# Each case is two submissions, a compute job and a command list for the fence.
THIRD_CASE = 5
# The buffers that v3dv 25.0.7 makes for itself come before that of the first case.
FIRST_BUFFER = 6


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five cases, which do the same."""
    if driver.built() is None:
        warnings.warn("v3dv is not built for this machine: setup --native", stacklevel=2)
        pytest.skip("v3dv is not built for this machine: ./daedalus setup --native")
    folder = tmp_path_factory.mktemp("plan")
    for name, text in (("s", SHADER), ("endless", ENDLESS)):
        (folder / f"{name}.comp").write_text(text)
        subprocess.run(
            ["glslangValidator", "-V", "--target-env", "vulkan1.1", "-o", f"{name}.spv",
             f"{name}.comp"],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
    lines = "buffer r 64 zero\npipeline p s.spv\nbind p 0 r\ndispatch p 1 1 1\nend\n"
    (folder / "all.plan").write_text("".join(f"case {name}\n{lines}" for name in CASES))
    return folder / "all.plan"


class Ran:
    """What a run of the plan left."""

    def __init__(
        self,
        plan: Path,
        out: Path,
        *faults: str,
        again: bool = False,
        options: Sequence[str] = (),
    ) -> None:
        device = vkrun.v3dv("host", jobs=out / "jobs", faults=faults)
        prefix = list(device.prefix)
        prefix[1:1] = options
        words = [str(vkrun.program("host")), "--device", "v3dv", "--out", str(out)]
        words += ["--timeout", "1", str(plan)]
        if again:
            words = ["sh", "-c", '"$@"; echo first $?; "$@"', "sh", *words]
        done = subprocess.run(
            [*prefix, *words], env={**os.environ, **device.environment},
            cwd=plan.parent, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        self.status, self.said = done.returncode, done.stderr
        self.lines = done.stdout.splitlines()
        self.jobs = [json.loads(line) for line in (out / "jobs").read_text().splitlines()]
        self.out = out

    def result(self, name: str) -> npt.NDArray[np.uint32]:
        return np.fromfile(self.out / f"{name}.bin", dtype="<u4")

    def right(self) -> list[str]:
        """The cases whose results are as they are to be."""
        files = [name for name in CASES if (self.out / f"{name}.bin").exists()]
        return [name for name in files if (self.result(name) == RIGHT).all()]

    def failed(self, name: str) -> str:
        lines = [line for line in self.lines if line.startswith(f"failed {name} ")]
        assert len(lines) == 1, self.lines
        return lines[0].split(": ", 1)[1]


def test_a_reset_is_seen_in_the_results_alone(plan: Path, tmp_path: Path) -> None:
    ran = Ran(plan, tmp_path, f"hang@{THIRD_CASE}:ms=50")
    assert ran.status == 0 and ran.right() == [c for c in CASES if c != "case2"]
    assert not ran.result("case2").any()
    took = [int(line.split()[2]) for line in ran.lines if line.startswith("ok case2 ")]
    assert took[0] >= 50_000
    assert "the GPU was reset after 50 ms" in ran.said
    struck = [job for job in ran.jobs if "faults" in job]
    assert [(job["submission"], job["result"]) for job in struck] == [(THIRD_CASE, -110)]
    assert struck[0]["faults"] == [f"hang@{THIRD_CASE}:ms=50"]


def test_a_job_may_hang_halfway(plan: Path, tmp_path: Path) -> None:
    """Eight batches, five of which are done."""
    halfway = plan.with_name("halfway.plan")
    halfway.write_text(
        "case half\nbuffer r 512 zero\npipeline p s.spv\nbind p 0 r\ndispatch p 8 1 1\nend\n"
    )
    ran = Ran(halfway, tmp_path, "hang@1:ms=1,batches=5")
    result = ran.result("half")
    assert ran.status == 0
    assert (result[:80] == 0x11223344 + np.arange(80)).all() and not result[80:].any()
    assert [job["batches"] for job in ran.jobs if "faults" in job] == [5]


def test_a_shader_without_end_is_reset(plan: Path, tmp_path: Path) -> None:
    """Without a fault: by the modelled time in which nothing was done."""
    endless = plan.with_name("endless.plan")
    lines = "buffer r 128 zero\npipeline p endless.spv\nbind p 0 r\ndispatch p 1 1 1\nend\n"
    endless.write_text(f"case endless\n{lines}" + plan.read_text())
    profile = tmp_path / "profile"
    profile.write_text("reset_ms = 5\n")
    ran = Ran(endless, tmp_path, options=["--profile", str(profile)])
    assert ran.status == 0 and ran.right() == CASES
    assert (ran.result("endless")[:16] == 7).all()
    assert "executed what takes them at least 5 ms (reset_ms of the profile)" in ran.said


def test_modelled_time_is_slow_too(plan: Path, tmp_path: Path) -> None:
    ran = Ran(plan, tmp_path, "slow@3:factor=4", "slow@5:ms=2", "hang@7:ms=3", options=["--timed"])
    first, slower, later, _, last = (job for job in ran.jobs if job["queue"] == "compute")
    took = [j["modelled"]["end_ns"] - j["modelled"]["begin_ns"] for j in (first, slower, later)]
    assert took[1] == 4 * took[0] and took[2] == took[0] + 2_000_000
    # The one that hung was not run, and has no times of its own.
    assert last["modelled"]["begin_ns"] == later["modelled"]["end_ns"] + 3_000_000


@pytest.mark.parametrize("fault", ["hang@5:ms=1500", "slow@5:ms=1500"])
def test_a_fence_times_out(plan: Path, tmp_path: Path, fault: str) -> None:
    ran = Ran(plan, tmp_path, fault)
    assert ran.status == 1 and ran.right() == CASES[:2]
    assert ran.failed("case2") == "vkWaitForFences: VK_TIMEOUT"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("lost@5", "No such device"),
        ("lost@5:of=client", "No such device"),
        ("no-memory@5:of=submit", "Cannot allocate memory"),
    ],
)
def test_a_refused_submission_loses_the_device(
    plan: Path, tmp_path: Path, fault: str, error: str
) -> None:
    ran = Ran(plan, tmp_path, fault)
    assert ran.status == 1 and ran.right() == CASES[:2]
    assert ran.failed("case2").endswith(": VK_ERROR_DEVICE_LOST")
    assert f"Compute dispatch returned {error}" in ran.said


@pytest.mark.parametrize(
    ("fault", "works"), [("lost@5:of=client", True), ("lost@5:reopen=yes", True), ("lost@5", False)]
)
def test_what_the_next_program_finds(plan: Path, tmp_path: Path, fault: str, works: bool) -> None:
    ran = Ran(plan, tmp_path, fault, again=True)
    assert "first 1" in ran.lines
    if works:
        assert ran.status == 0 and ran.right() == CASES
    else:
        assert ran.status == 3 and ran.right() == CASES[:2]


def test_memory_that_is_not_there_is_told(plan: Path, tmp_path: Path) -> None:
    ran = Ran(plan, tmp_path, f"no-memory@{FIRST_BUFFER}")
    assert ran.failed("case0") == "vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY"
    assert ran.right() == CASES[1:]


def test_bits_of_a_result_are_wrong(plan: Path, tmp_path: Path) -> None:
    ran = Ran(plan, tmp_path, f"flip@{THIRD_CASE}:bits=3,seed=1")
    assert ran.status == 0 and ran.right() == [c for c in CASES if c != "case2"]
    assert sum(int(x).bit_count() for x in ran.result("case2") ^ RIGHT) == 3


OPEN = "import os; os.close(os.open('/dev/dri/renderD128', os.O_RDWR))"


def command(*options: str, faults: str = "", text: str = OPEN) -> subprocess.CompletedProcess[str]:
    """`v3d run` of a program in Python; `faults` come by the environment."""
    main = [sys.executable, "-m", "daedalus.generator.cli.main"]
    return subprocess.run(
        [*main, "v3d", "run", *options, "--", sys.executable, "-c", text],
        env={**os.environ, "DAEDALUS_V3D_FAULTS": faults}, capture_output=True, text=True,
    )  # fmt: skip


def test_the_exit_status_tells_of_faults_that_never_struck() -> None:
    """Such a one is a test that was none."""
    assert command("--check-jobs").returncode == 0
    assert command("--fault", "hang@7").returncode == 0
    idle = command("--check-jobs", "--fault", "hang@7")
    assert idle.returncode == 1 and "fault hang@7 struck 0 times" in idle.stderr
    assert command("--check-jobs", faults="hang@7").returncode == 1
    assert command("--check-jobs", "--fault", "hang@7", text="raise SystemExit(9)").returncode == 9


def test_memory_has_a_limit() -> None:
    create = (
        "import fcntl, os, struct\n"
        "fd = os.open('/dev/dri/renderD128', os.O_RDWR)\n"
        "fcntl.ioctl(fd, 0xC0106442, bytearray(struct.pack('IIII', 2 << 20, 0, 0, 0)))\n"
    )
    assert command("--memory", "2", text=create).returncode == 0
    little = command("--memory", "1", text=create)
    assert little.returncode == 1 and "[Errno 12]" in little.stderr


def test_what_is_no_fault_is_refused() -> None:
    for done in (command("--fault", "hang@0"), command(faults="hang@1;hang@0")):
        assert done.returncode == 2
        assert "at '0': expected a number from 1, a range N-M, * or 1/P" in done.stderr
