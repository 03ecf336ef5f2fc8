# SPDX-License-Identifier: BSD-2-Clause
"""Programs written by hand, run through the device's node by a client without a driver."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from daedalus.generator.base.errors import UserError
from daedalus.v3d import comparison, tools

CLIENT = Path(__file__).parent / "videocore7_client.py"
END = """
nop ; nop ; thrsw
nop ; nop ; thrsw
nop ; nop
nop ; nop
nop ; nop ; thrsw
nop ; nop
nop ; nop
"""
# Each QPU writes 16 words: result[16 * QPU + element] = uniform 1 + that index.
COUNTING = f"""
tidx rf10 ; nop ; ldunifrf.rf11
shr rf10, rf10, 2 ; nop
eidx rf12 ; nop ; ldunifrf.rf15
shl rf10, rf10, 4 ; nop
add rf10, rf10, rf12 ; nop
shl rf14, rf10, 2 ; nop
add rf10, rf10, rf15 ; nop
add rf11, rf11, rf14 ; mov tmud, rf10
mov tmua, rf11 ; nop
tmuwt - ; nop
{END}"""
ENDLESS = "again:\nb again\nnop ; nop\nnop ; nop\nnop ; nop\n"
WILD = f"mov tmud, 1 ; nop\nmov tmua, 4 ; nop\n{END}"


def run(
    text: str,
    threads: int,
    n_results: int,
    *before: str,
    stderr: int = subprocess.PIPE,
    check_jobs: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Assembles text and has the client run it; `before` stands before the client's words."""
    words = subprocess.run([tools.program(), "asm"], input=text, text=True, capture_output=True)
    assert words.returncode == 0, words.stderr
    argv = [*before, sys.executable, str(CLIENT), str(threads), str(n_results)]
    device, environment = tools.on_device(argv, strict=True, check_jobs=check_jobs)
    return subprocess.run(
        device, input=words.stdout, text=True, stdout=subprocess.PIPE, stderr=stderr,
        env={**os.environ, **environment}, timeout=60,
    )  # fmt: skip


def test_a_program_of_12_qpus_writes_what_it_says() -> None:
    ran = run(COUNTING, 12, 200)
    assert ran.returncode == 0 and ran.stderr == "", ran.stderr
    assert [int(word) for word in ran.stdout.split()] == [*range(12, 12 + 192), *[0] * 8]


def test_a_job_that_fails_is_told_and_its_buffer_becomes_idle() -> None:
    ran = run(WILD, 1, 1)
    assert ran.returncode == 0 and ran.stdout == "0\n"
    assert "lane 0 writes 4 bytes at 0x00000004" in ran.stderr
    assert "1 of 1 jobs failed" in ran.stderr
    (report,) = comparison.failed_jobs(ran.stderr)
    assert report.startswith("compute job 1 failed: ")
    assert run(WILD, 1, 1, check_jobs=True).returncode == 1
    assert run(COUNTING, 1, 1, check_jobs=True).returncode == 0


def test_a_report_that_nobody_reads_does_no_harm() -> None:
    """As in `daedalus v3d run -- program 2>&1 | head`."""
    reader, writer = os.pipe()
    os.close(reader)
    ran = run(WILD, 1, 1, stderr=writer)
    os.close(writer)
    assert ran.returncode == 0 and ran.stdout == "0\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [("absent", "there is no program"), ("data", "is not executable"), (".", "is not executable")],
)
def test_what_is_no_program_is_told(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(UserError, match=message):
        tools.on_device([str(tmp_path / name)])


def test_the_device_counts_the_qpus_that_it_has(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.write_text("slices = 2\n")
    text = (
        "import fcntl, os, struct\n"
        "fd, word = os.open('/dev/dri/card0', os.O_RDWR), bytearray(struct.pack('IIQ', 5, 0, 0))\n"
        "fcntl.ioctl(fd, 0xC0106444, word)\n"
        "print(hex(struct.unpack('IIQ', word)[2]))\n"
    )
    device, environment = tools.on_device([sys.executable, "-c", text], profile=profile)
    ran = subprocess.run(
        device, capture_output=True, text=True, env={**os.environ, **environment}, timeout=60
    )
    assert ran.stdout == "0x81001421\n", ran.stderr


def test_a_program_that_gives_up_takes_its_endless_job_along() -> None:
    """The job would run until the GPU is reset; it ends with the program, and says where it was."""
    before = time.monotonic()
    ran = run(ENDLESS, 12, 1, "timeout", "2")
    assert ran.returncode == 124
    assert time.monotonic() - before < 15
    assert "`b -32`: the job was stopped from outside" in ran.stderr
