# SPDX-License-Identifier: BSD-2-Clause
"""What the C engine writes is what the schema says, and what Python reads."""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from daedalus.generator.host import native
from daedalus.generator.tuning import entries, journal
from daedalus.generator.tuning.entries import Result


@pytest.mark.campaign  # which times threads beside one another: ctest runs the programs alone
@pytest.mark.parametrize(
    ("program", "types", "verdicts"),
    [
        ("gpu", {"fingerprint", "result", "mixed", "run"}, {"ok"}),
        ("honesty", {"fingerprint", "result", "run"}, {"ok", "wrong", "failed", "timeout"}),
    ],
)
def test_lines_of_the_engine(
    program: str, types: set[str], verdicts: set[str], tmp_path: Path
) -> None:
    """Those that its own tests have it write."""
    name = f"daedalus_test_tune_{program}"
    folder = native.build_library(
        "host", targets=(name,), options=("-DDAEDALUS_TESTS=ON",), folder="tune-tests"
    )
    (exe,) = (p for p in folder.rglob(name) if p.is_file())
    kept = tmp_path / "journal"
    ran = subprocess.run(
        [exe], env={**os.environ, "DAEDALUS_TEST_JOURNAL": str(kept)}, capture_output=True,
        text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    schema = json.loads(Path(entries.__file__).with_name("journal.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    found = journal.read(kept)
    assert not found.problems
    for f in found.found:
        validator.validate(json.loads(f.text))
    assert {e.type for e in found.entries} == types
    seen = Counter(e.verdict for e in found.entries if isinstance(e, Result))
    assert verdicts <= set(seen), seen
