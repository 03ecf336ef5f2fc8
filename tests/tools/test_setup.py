# SPDX-License-Identifier: BSD-2-Clause
"""Where the checkout is, and that --no-setup fetches nothing."""

import fcntl
import os
import subprocess
import sys
import threading
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.host import fetch


def test_the_packages_own_checkout_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = repo_root()
    (tmp_path / "dsl").mkdir()
    (tmp_path / "dsl" / "ir.py").touch()
    (tmp_path / "CMakeLists.txt").touch()
    monkeypatch.chdir(tmp_path)
    assert repo_root() == own


def test_nothing_is_fetched_without_setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "build_dir", lambda: tmp_path)
    monkeypatch.setenv("DAEDALUS_NO_SETUP", "1")
    with pytest.raises(UserError, match="simde for all is not fetched") as caught:
        fetch.ensure("simde", "all")
    assert caught.value.exit_code == EXIT_MISSING
    assert "./daedalus setup --simde" in caught.value.hint
    assert not list(tmp_path.iterdir())


def set_up_copy(tmp_path: Path, verbs: set[str]) -> None:
    """A copy of the launcher that has served the verbs; its interpreter only reports."""
    root = repo_root()
    (tmp_path / "tools").mkdir(exist_ok=True)
    for name in ("daedalus", "pyproject.toml", "tools/packages.toml"):
        (tmp_path / name).write_bytes((root / name).read_bytes())
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text('#!/bin/sh\necho "$DAEDALUS_NO_SETUP $@"\n')
    python.chmod(0o755)
    stamp = (
        "import importlib.machinery, importlib.util\n"
        "loader = importlib.machinery.SourceFileLoader('launcher', 'daedalus')\n"
        "spec = importlib.util.spec_from_loader('launcher', loader)\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "loader.exec_module(module)\n"
        f"module.write_stamp({verbs!r})\n"
    )
    subprocess.run([sys.executable, "-c", stamp], cwd=tmp_path, check=True)


def launch(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs the copy where dpkg-query knows of no package at all."""
    query = tmp_path / "bin" / "dpkg-query"
    query.parent.mkdir(exist_ok=True)
    query.write_text("#!/bin/sh\n")
    query.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if k != "DAEDALUS_NO_SETUP"}
    environment["PATH"] = f"{query.parent}:{environment['PATH']}"
    return subprocess.run(
        [sys.executable, "daedalus", *words],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_launcher_takes_no_setup_anywhere(place: int, tmp_path: Path) -> None:
    set_up_copy(tmp_path, {"check"})
    words = ["check", "--seed=2"]
    words.insert(place, "--no-setup")
    done = launch(tmp_path, *words)
    assert done.stdout.strip() == "1 -P -m daedalus.generator.cli.main check --seed=2", done.stderr


def test_only_who_draws_needs_graphviz(tmp_path: Path) -> None:
    set_up_copy(tmp_path, {"explain"})
    done = launch(tmp_path, "--no-setup", "explain", "h264_idct4", "--json")
    assert done.stdout.strip().endswith("main explain h264_idct4 --json"), done.stderr
    for svg in (["--svg", "x.svg"], ["--svg=x.svg"]):
        done = launch(tmp_path, "--no-setup", "explain", "h264_idct4", *svg)
        assert done.returncode == EXIT_MISSING
        assert "missing for this command: " in done.stderr and "graphviz" in done.stderr
    set_up_copy(tmp_path, {"explain", "explain --svg"})
    done = launch(tmp_path, "--no-setup", "explain", "h264_idct4", "--svg", "x.svg")
    assert done.stdout.strip().endswith("--svg x.svg"), done.stderr


def test_only_who_fuzzes_needs_its_packages(tmp_path: Path) -> None:
    set_up_copy(tmp_path, {"v3d"})
    done = launch(tmp_path, "--no-setup", "v3d", "asm", "fuzz")
    assert done.stdout.strip().endswith("main v3d asm fuzz"), done.stderr
    done = launch(tmp_path, "--no-setup", "v3d", "fuzz", "--seconds=1")
    assert done.returncode == EXIT_MISSING and "libclang-rt-19-dev" in done.stderr
    set_up_copy(tmp_path, {"v3d", "v3d fuzz"})
    done = launch(tmp_path, "--no-setup", "v3d", "fuzz", "--seconds=1")
    assert done.stdout.strip().endswith("main v3d fuzz --seconds=1"), done.stderr


def test_what_a_verb_itself_needs_is_asked_for_without_options(tmp_path: Path) -> None:
    set_up_copy(tmp_path, {"gen"})
    done = launch(tmp_path, "--no-setup", "explain", "h264_idct4")
    assert done.returncode == EXIT_MISSING
    assert "python3-venv" in done.stderr and "graphviz" not in done.stderr


def test_setup_of_one_part_asks_for_its_packages_only(tmp_path: Path) -> None:
    set_up_copy(tmp_path, set())
    done = launch(tmp_path, "--no-setup", "setup", "--native")
    assert done.returncode == EXIT_MISSING
    assert "clang-19" in done.stderr and "cmake" in done.stderr
    assert "ffmpeg" not in done.stderr and "qemu" not in done.stderr
    for everything in (["setup"], ["setup", "--oracles"]):
        done = launch(tmp_path, "--no-setup", *everything)
        assert "clang-19" in done.stderr and "ffmpeg" in done.stderr, everything


def test_apt_waits_for_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(repo_root() / "daedalus")
    launcher = SourceFileLoader("daedalus_launcher", path).load_module()
    calls: list[list[str]] = []

    def note(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(argv)
        return subprocess.CompletedProcess(argv, 0, stderr="")

    monkeypatch.setattr(launcher.subprocess, "run", note)
    launcher.install_packages(["some-package"], 0)
    assert [argv[-1] for argv in calls] == ["update", "some-package"]
    assert "DPkg::Lock::Timeout=300" in calls[1]


@pytest.mark.parametrize("patience", [60, 0])
def test_the_lock_of_the_lists_is_waited_for(
    patience: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """With apt itself, on lists of the test's own."""
    launcher = SourceFileLoader("daedalus_launcher", str(repo_root() / "daedalus")).load_module()
    monkeypatch.setattr(launcher, "LOCK_PATIENCE", patience)
    monkeypatch.setattr(launcher, "LOCK_PAUSE", 0.1)
    lists = tmp_path / "lists"
    (lists / "partial").mkdir(parents=True)
    config = tmp_path / "apt.conf"
    config.write_text(
        f'Dir::State::lists "{lists}";\nDir::Cache "{tmp_path}/cache";\n'
        'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "/dev/null";\n'
    )
    apt = ["env", f"APT_CONFIG={config}", "LC_ALL=C.UTF-8", "apt-get"]
    with open(lists / "lock", "w") as held, open(os.devnull) as lock:
        fcntl.lockf(held, fcntl.LOCK_EX)
        release = threading.Timer(1, fcntl.lockf, (held, fcntl.LOCK_UN))
        release.start()
        code = launcher.update_lists(apt, lock.fileno())
        release.join()
    assert (code == 0) == (patience > 0)
    assert "Could not get lock" in capfd.readouterr().err


@pytest.mark.parametrize("what", ["same", "moved", "half made", "forced"])
def test_an_environment_of_another_place_or_half_made_is_made_anew(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up_copy(tmp_path, {"list"})
    if what == "moved":
        tmp_path = tmp_path.rename(tmp_path.with_name(tmp_path.name + "-moved"))
    launcher = SourceFileLoader("moved_launcher", str(tmp_path / "daedalus")).load_module()
    python, mark = tmp_path / ".venv" / "bin" / "python", tmp_path / ".venv" / "of before"
    mark.touch()
    if what == "half made":
        Path(launcher.UNFINISHED).touch()
    ran: list[str] = []

    def make(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(argv[2])
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text("#!/bin/sh\n")
        python.chmod(0o755)
        return subprocess.CompletedProcess(argv, 0)

    monkeypatch.setattr(launcher, "base_python", lambda: "python3")
    monkeypatch.setattr(launcher.subprocess, "run", make)
    assert bool(launcher.usable_stamp()) == (what in ("same", "forced"))
    launcher.make_environment(what == "forced", 0)
    assert mark.exists() == (what == "same")
    assert ran == (["pip"] if what == "same" else ["venv", "pip"])
    assert launcher.usable_stamp() and not Path(launcher.UNFINISHED).exists()
