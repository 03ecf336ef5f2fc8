# SPDX-License-Identifier: BSD-2-Clause
"""The library for processors that lack what some variants need: these are compiled all the same."""

import json
from pathlib import Path

import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.process import run
from daedalus.generator.host import native


@pytest.mark.parametrize("cpu", ["", "cortex-a72", "cortex-a76"])
def test_variants_that_need_more_are_compiled_for_every_processor(cpu: str, tmp_path: Path) -> None:
    toolchain = repo_root() / "cmake" / "toolchain-aarch64.cmake"
    run(
        ["cmake", "-S", repo_root(), "-B", tmp_path, "-G", "Ninja", f"-DDAEDALUS_MCPU={cpu}",
         "-DDAEDALUS_TESTS=OFF", "-DDAEDALUS_WERROR=ON", "-DDAEDALUS_ALLOW_UNVERIFIED=ON",
         *([f"-DCMAKE_TOOLCHAIN_FILE={toolchain}"] if native.is_cross("aarch64") else [])],
    )  # fmt: skip
    manifest = json.loads((repo_root() / "generated" / "manifest.json").read_text())
    sources = manifest["sources"]["prod"]["neon_dotprod"]
    assert sources
    objects = [f"CMakeFiles/daedalus_code.dir/generated/{source}.o" for source in sources]
    run(["ninja", "-C", tmp_path, *objects])
