# SPDX-License-Identifier: BSD-2-Clause
"""Where the checkout is, and that --no-setup fetches nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from daedalus.generator import fetch
from daedalus.generator.cli.common import EXIT_MISSING, UserError, repo_root


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


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_launcher_takes_no_setup_anywhere(place: int, tmp_path: Path) -> None:
    """Run in a copy of the launcher whose .venv holds an interpreter that only reports."""
    root = repo_root()
    (tmp_path / "tools").mkdir()
    for name in ("daedalus", "pyproject.toml", "tools/packages.toml"):
        (tmp_path / name).write_bytes((root / name).read_bytes())
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$DAEDALUS_NO_SETUP $@"\n')
    python.chmod(0o755)
    stamp = (
        "import importlib.machinery, importlib.util\n"
        "loader = importlib.machinery.SourceFileLoader('launcher', 'daedalus')\n"
        "spec = importlib.util.spec_from_loader('launcher', loader)\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "loader.exec_module(module)\n"
        "module.write_stamp(['check'])\n"
    )
    subprocess.run([sys.executable, "-c", stamp], cwd=tmp_path, check=True)
    words = ["check", "--seed=2"]
    words.insert(place, "--no-setup")
    environment = {k: v for k, v in os.environ.items() if k != "DAEDALUS_NO_SETUP"}
    done = subprocess.run(
        [sys.executable, "daedalus", *words],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.strip() == "1 -P -m daedalus.generator.cli.main check --seed=2", done.stderr
