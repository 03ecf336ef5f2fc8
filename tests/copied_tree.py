# SPDX-License-Identifier: BSD-2-Clause
"""A copy of the checkout that tests may change."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


class Tree:
    """A copy of the tree, as a git repository of one commit.

    Of the built-in kernels it has those of one codec, so that little is made that other tests make.
    """

    def __init__(self, folder: Path, kept: str) -> None:
        self.folder = folder
        ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()]
        shutil.copytree(
            ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns(".git", *ignored)
        )
        (folder / "build").mkdir()
        for fetched in ("apt", "oracles"):  # what is fetched serves every checkout
            if (ROOT / "build" / fetched).is_dir():
                (folder / "build" / fetched).symlink_to((ROOT / "build" / fetched).resolve())
        for codec in (folder / "dsl" / "kernels").iterdir():
            if codec.is_dir() and codec.name != kept:
                shutil.rmtree(codec)
        self.run("gen")
        self._git("init", "-q")
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "as it is")

    def _git(self, *words: str) -> str:
        identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        done = subprocess.run(
            ["git", *identity, "-c", "commit.gpgsign=false", *words],
            cwd=self.folder, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def changed(self) -> set[str]:
        """The files that differ from the commit, or are not in it."""
        lines = self._git("status", "--porcelain", "--untracked-files=all").splitlines()
        return {line[3:] for line in lines}

    def run(self, *words: str) -> str:
        """Stdout of a verb; it has to succeed."""
        done = subprocess.run(
            [sys.executable, "-m", "daedalus.generator.cli.main", *words], cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "python")},
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout
