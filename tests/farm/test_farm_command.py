# SPDX-License-Identifier: BSD-2-Clause
"""`farm` as a command: a scheduler and workers that were started by hand, and what is said where
something is not as it must be."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli.main import cli
from daedalus.generator.farm import cluster
from daedalus.generator.farm.about import code_digest
from daedalus.generator.tuning.entries import Check, Run
from daedalus.generator.tuning.journal import read

KERNELS = ("vp9_lpf4_h", "h264_idct4")
CHECK = ("check", "--target", "c", "--items", "16", *KERNELS)


def farm(*words: str | Path, background: bool = False) -> Any:
    """Runs the command in a process of its own."""
    argv = [sys.executable, "-m", "daedalus.generator.cli.main", "farm", *map(str, words)]
    begun = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return begun if background else finished(begun)


def finished(begun: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    out, err = begun.communicate(timeout=300)
    return subprocess.CompletedProcess(begun.args, begun.returncode, out, err)


@contextmanager
def dask(*words: str | Path, root: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler or worker, with the daedalus of a folder; this checkout's by default."""
    kind, *others = words
    argv = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, others)]
    python_path = str((root or repo_root()) / "python")
    begun = subprocess.Popen(
        argv, env={**os.environ, "PYTHONPATH": python_path}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield begun
    finally:
        begun.kill()
        begun.wait()


def worker(address: str, place: Path, *words: str, root: Path | None = None) -> Any:
    return dask("worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host",
                "127.0.0.1", "--local-directory", place, *words, root=root)  # fmt: skip


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 180
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = tmp_path_factory.mktemp("scheduler") / "file"
    with dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
              "--scheduler-file", file):  # fmt: skip
        until(lambda: file.is_file() and file.stat().st_size > 0)
        yield str(json.loads(file.read_text())["address"])


def workers_of(scheduler: str) -> int:
    with cluster.connected(scheduler) as client:
        return len(client.scheduler_info(n_workers=-1)["workers"])


def refused(scheduler: str) -> UserError:
    """Why its workers will not do."""
    with cluster.connected(scheduler) as client, pytest.raises(UserError) as caught:
        cluster.workers(client, "V3D", 0)
    return caught.value


@pytest.mark.campaign
def test_a_cluster_started_by_hand(scheduler: str, tmp_path: Path) -> None:
    """Nobody there; a worker without the resource; one with it, which is killed while it works;
    another one, with which the same command goes on."""
    journal = tmp_path / "journal"
    common = ("--scheduler", scheduler, "--journal", journal, "--latency", "1.5")
    error = refused(scheduler)
    assert error.exit_code == EXIT_MISSING and error.message == "no worker announces V3D=1"
    assert '--resources "V3D=1"' in error.hint
    with worker(scheduler, tmp_path):
        until(lambda: workers_of(scheduler) == 1)
        assert refused(scheduler).message == "no worker announces V3D=1; 1 do not"
    until(lambda: workers_of(scheduler) == 0)

    with worker(scheduler, tmp_path, "--resources", "V3D=1") as first:
        begun = farm(*common, "--patience", "3", *CHECK, background=True)
        until(lambda: any(isinstance(e, Check) for e in read(journal).entries))
        os.kill(first.pid, signal.SIGKILL)
        ran = finished(begun)
    assert ran.returncode == EXIT_FAILED
    assert "no worker with V3D has been there for 3 s; 1 jobs are left" in ran.stderr
    with worker(scheduler, tmp_path, "--resources", "V3D=1"):
        ran = farm(*common, *CHECK)
    assert ran.returncode == 0, ran.stderr
    assert "2 jobs: 1 known" in ran.stdout and "1 done in" in ran.stdout
    entries = read(journal).entries
    checks = [e for e in entries if isinstance(e, Check)]
    assert len({e.key for e in checks}) == len(checks)
    # Of each kernel its variant, and what `check` compares besides, as the dispatch.
    each = [{e.variant.partition("__")[2] for e in checks if e.kernel == k} for k in KERNELS]
    assert each[0] == each[1] and "c_full" in each[0] and len(each[0]) > 1
    assert [e.ended for e in entries if isinstance(e, Run)] == ["failed", "done"]


def other_checkout(place: Path) -> Path:
    """What a worker needs of this checkout, with one more line in a file of the generator."""
    root = repo_root()
    for name in ("codecs", "dsl", "generator", "templates", "v3d", "runtime", "cmake", "tools"):
        shutil.copytree(root / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(root / "python", place / "python", symlinks=True,
                    ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))  # fmt: skip
    (place / "generated").mkdir()
    shutil.copy(root / "generated" / "manifest.json", place / "generated")
    shutil.copy(root / "CMakeLists.txt", place)
    with (place / "generator" / "verify" / "crosscheck.py").open("a") as f:
        f.write("# another state\n")
    return place


@pytest.mark.campaign
def test_a_worker_of_another_version_is_refused(scheduler: str, tmp_path: Path) -> None:
    root = other_checkout(tmp_path / "other")
    with worker(scheduler, tmp_path, "--resources", "V3D=1", root=root):
        until(lambda: workers_of(scheduler) == 1)
        error = refused(scheduler)
    assert error.exit_code == 2
    said = error.message.splitlines()
    assert said[0] == "not of the same version as this client:" and len(said) == 2
    assert said[1].endswith(f"(here {code_digest()})") and "generator" not in said[1]


@pytest.mark.campaign
def test_a_worker_without_daedalus_is_refused(scheduler: str, tmp_path: Path) -> None:
    """Or with one that knows no farm: what it lacks is named."""
    (tmp_path / "python" / "daedalus").mkdir(parents=True)
    (tmp_path / "python" / "daedalus" / "__init__.py").touch()
    with worker(scheduler, tmp_path, "--resources", "V3D=1", root=tmp_path):
        until(lambda: workers_of(scheduler) == 1)
        error = refused(scheduler)
    assert "workers that cannot do this version's jobs" in error.message
    assert "No module named 'daedalus.generator'" in error.message


@pytest.mark.campaign
def test_an_interrupt_keeps_what_was_done(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    begun = farm("--local", "1", "--journal", journal, "--latency", "2", *CHECK, background=True)
    until(lambda: any(isinstance(e, Check) for e in read(journal).entries))
    begun.send_signal(signal.SIGINT)
    ran = finished(begun)
    assert ran.returncode == 130 and "Traceback" not in ran.stderr, ran.stderr
    entries = read(journal).entries
    assert [e.ended for e in entries if isinstance(e, Run)] == ["interrupted"]
    assert len({e.kernel for e in entries if isinstance(e, Check)}) == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 2, "a farm needs a cluster, and only one"),
        (("--local", "1", "--scheduler", "tcp://127.0.0.1:1"), 2, "and only one"),
        (("--scheduler", "here"), 2, "'here' is no scheduler's address"),
        (("--scheduler", "tcp://127.0.0.1:1"), EXIT_MISSING, "no scheduler answers at tcp://127"),
    ],
)
def test_clusters_that_are_none(words: tuple[str, ...], code: int, message: str) -> None:
    error = CliRunner().invoke(cli, ["farm", *words, *CHECK]).exception
    assert isinstance(error, UserError) and error.exit_code == code and message in error.message


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match="distributed is not installed") as caught:
        cluster.distributed()
    assert caught.value.exit_code == EXIT_MISSING and "daedalus-kernels[farm]" in caught.value.hint
