# SPDX-License-Identifier: BSD-2-Clause
"""The matrix product in assembly: at full size, on the device, and that it can be wrong."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.generator.host import native
from daedalus.v3d import tools

SOURCE = repo_root() / "examples" / "v3d"


def example() -> Path:
    folder = native.build_library(
        "host", targets=("sgemm",), options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON",)
    )
    return folder / "tests/c/v3d/sgemm/sgemm"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    words = [str(a) for a in (example(), *arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


@pytest.mark.campaign
def test_the_full_size_is_right_and_as_fast_as_the_page_says() -> None:
    ran = run("1024", "1024", "1024")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "right: 1048576 elements, bit by bit" in ran.stdout
    (rate,) = re.findall(r"([0-9.]+) GFLOP/s  \(([0-9.]+) to ([0-9.]+)\)", ran.stdout)
    mid, low, high = map(float, rate)
    assert low <= mid <= high
    page = (repo_root() / "docs" / "v3d-sgemm.md").read_text()
    assert (
        f"| both dispatches, with the kernel's part | {mid:.1f} | {low:.1f} to {high:.1f} |" in page
    )


def test_a_node_gives_the_same() -> None:
    words, environment = tools.on_device(
        [str(example()), "--drm", "100", "96", "48"], strict=True, check_jobs=True
    )
    ran = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "on a DRM node\nright: 9600 elements, bit by bit" in ran.stdout


def changed(folder: Path, old: str, new: str) -> Path:
    """A copy of the programs in which the product has `new` in the place of the one `old`."""
    for name in ("pack.qpu", "product.qpu"):
        shutil.copy(SOURCE / name, folder)
    product = folder / "product.qpu"
    text = product.read_text()
    assert text.count(old) == 1
    product.write_text(text.replace(old, new))
    return folder


@pytest.mark.parametrize(
    ("old", "new", "status", "says"),
    [
        # The last row of the first k is added to another's sum.
        ("fadd c23h, c23h, p ; sub tmua", "fadd c23h, c22h, p ; sub tmua", 1, "WRONG: "),
        # A row of B too early: what has no K - 1 th row is found by its bits alone.
        ("add b_end, b_last, b_rows", "add b_end, b_last, b_row", 1, "WRONG: "),
        ("    mov left, 8\n", "    mov left, 88\n", 2, "product.qpu:"),
        ("tmuwt - ; mov tmuc, left", "nop ; mov tmuc, left", 2, "more than 8 lookups on their way"),
    ],
)
def test_mistakes_are_told(old: str, new: str, status: int, says: str, tmp_path: Path) -> None:
    ran = run("--no-times", "--programs", changed(tmp_path, old, new), "48", "64", "32")
    assert ran.returncode == status and says in ran.stdout + ran.stderr, ran


@pytest.mark.parametrize(
    "sizes", [("23", "32", "16"), ("24", "33", "16"), ("24", "32", "8"), ("24",)]
)
def test_sizes_that_it_does_not_take_are_refused(sizes: tuple[str, ...]) -> None:
    ran = run(*sizes)
    assert (ran.returncode, ran.stdout) == (2, "") and "usage: sgemm" in ran.stderr


def test_without_a_node_it_says_so() -> None:
    if any(Path("/dev/dri").glob("renderD*")):
        pytest.skip("this machine has render nodes")
    ran = run("--drm")
    assert ran.returncode == 3 and "no V3D 7.1.6 or later among /dev/dri/renderD*" in ran.stderr
