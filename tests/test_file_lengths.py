# SPDX-License-Identifier: BSD-2-Clause
"""No file that people write is longer than they read at once.

generated/ is written by `gen`, tests/costs.json by pytest --note-costs.
"""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 600  # lines


def test_files_outside_generated_are_short() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", ".", ":!generated", ":!tests/costs.json"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    long = {}
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        data = path.read_bytes() if path.is_file() else b""
        if b"\0" not in data and (lines := data.count(b"\n")) > MOST:
            long[name] = lines
    assert not long, f"more than {MOST} lines: split these by subject"
