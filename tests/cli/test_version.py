# SPDX-License-Identifier: BSD-2-Clause
"""One version: what the public header says is what everything else tells."""

import re
from importlib.metadata import version
from pathlib import Path

from click.testing import CliRunner

import daedalus
from daedalus.generator.cli.main import cli

ROOT = Path(__file__).parents[2]


def test_all_tell_the_headers() -> None:
    header = (ROOT / "runtime" / "include" / "daedalus" / "core.h").read_text()
    major, minor = (
        re.search(rf"^#define DAEDALUS_VERSION_{part} (\d+)$", header, re.M) for part in
        ("MAJOR", "MINOR")
    )  # fmt: skip
    assert major is not None and minor is not None
    own = f"{major[1]}.{minor[1]}"
    assert daedalus.__version__ == own
    assert version("daedalus-kernels") == own
    told = CliRunner().invoke(cli, ["--version"], prog_name="daedalus").output
    assert told == f"daedalus, version {own}\n"
    assert f"find_package(daedalus {own} CONFIG" in (ROOT / "docs" / "linking.md").read_text()
