# SPDX-License-Identifier: BSD-2-Clause
"""What differs in this checkout from the last commit, so that a verb's traces in it are seen."""

import hashlib
import subprocess
from pathlib import Path


def changed(root: Path) -> dict[str, str] | None:
    """Files that git would list as changed or new, each with a hash of how it is; None without git.

    What git ignores (build/, .venv/) is not looked at.
    """
    argv = ["git", "-C", str(root), "status", "--porcelain", "-z", "--no-renames", "-uall"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    if done.returncode != 0:
        return None
    found = {}
    for line in filter(None, done.stdout.split("\0")):
        path = root / line[3:]
        content = path.read_bytes() if path.is_file() else b""
        found[line[3:]] = f"{line[:2]} {hashlib.sha256(content).hexdigest()}"
    return found


def traces(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The files that are not as they were."""
    return sorted(p for p in {*before, *after} if before.get(p) != after.get(p))
