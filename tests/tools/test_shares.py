# SPDX-License-Identifier: BSD-2-Clause
"""Shares of costly tests: each test is in one, and they cost about the same."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import shares

from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli.skips import skips
from daedalus.generator.compile.manifest import manifest


@pytest.mark.parametrize("days", [1, 3, 4])
def test_every_test_has_its_day(days: int) -> None:
    costs = {f"t{n}": 1.0 + n * n % 17 for n in range(40)}
    found = shares.shares(costs, days)
    assert len(found) == days
    assert sorted(t for share in found for t in share) == sorted(costs)
    spent = [sum(costs[t] for t in share) for share in found]
    assert max(spent) - min(spent) <= 1.0 + 16


def test_what_is_noted_exists() -> None:
    """A test that got another name runs every day, until costs are noted anew."""
    files = {name.partition("::")[0] for name in shares.read()}
    assert files and [f for f in files if not (repo_root() / f).is_file()] == []


def test_what_is_noted_is_of_kernels_that_there_are() -> None:
    """Ids of tests hold those of kernels; tests/acceptance has some of its own."""
    known = {k["id"] for k in manifest()["kernels"]}
    codecs = "|".join(sorted({k["codec"] for k in manifest()["kernels"]}))
    own = re.compile(rf"(?<![a-z0-9_])(?:daedalus_)?((?:{codecs})_[a-z0-9]+(?:_[a-z0-9]+)*)")
    gone = {
        name: sorted(set(own.findall(name.partition("[")[2])) - known)
        for name in shares.read()
        if not name.startswith("tests/acceptance/")
    }
    assert {name: ids for name, ids in gone.items() if ids} == {}


def test_a_run_takes_a_share_of_the_costly_and_all_others(tmp_path: Path) -> None:
    names = [f"test_shared.py::test_it[{n}]" for n in range(8)]
    costs = {n: 2.0 for n in names[:6]}
    (tmp_path / "test_shared.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(8))\ndef test_it(n): pass\n"
    )
    (tmp_path / "conftest.py").write_text(
        f"import shares\nshares.read = lambda: {costs!r}\npytest_plugins = ['shares']\n"
    )
    assert _ran(tmp_path) == (8, "")
    assert _ran(tmp_path, "--share", "1/3") == (2 + 2, "4 skipped: costly, of other days (4)")
    assert _ran(tmp_path, "-m", "costly") == (6, "")


def test_of_many_alike_each_has_its_day(tmp_path: Path) -> None:
    (tmp_path / "test_many.py").write_text(
        "import pytest\n@pytest.mark.of_many\n@pytest.mark.parametrize('n', range(40))\n"
        "def test_it(n): pass\ndef test_other(): pass\n"
    )
    (tmp_path / "conftest.py").write_text(
        "import shares\nshares.read = lambda: {}\npytest_plugins = ['shares']\n"
    )
    days = [_ran(tmp_path, "--share", f"{n}/4")[0] for n in range(1, 5)]
    assert sum(d - 1 for d in days) == 40 and max(days) <= 20
    assert _ran(tmp_path, "-m", "costly")[0] == 40


def _ran(folder: Path, *words: str) -> tuple[int, str]:
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    path = str(repo_root() / "tests")
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, check=True, env={"PYTHONPATH": path}
    )
    return int(done.stdout.rpartition(" passed")[0].split()[-1]), skips(done.stdout)
