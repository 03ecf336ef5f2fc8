# SPDX-License-Identifier: BSD-2-Clause
"""The commands of the pages that build a program of one's own and run it."""

import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from pages import DOCS, blocks

from daedalus.generator.base.paths import repo_root
from daedalus.generator.host import native
from daedalus.v3d import driver, shaders, tools

RIGHT = "V3D 7.1.10.2\n256 of 256 words are right\n"


def block(page: str, mark: str) -> str:
    """The one block of commands of a page that has `mark`."""
    (found,) = [b.text for b in blocks(DOCS / page) if b.language == "sh" and mark in b.text]
    return found


def commands() -> str:
    """The block that compiles the example, as a script."""
    return block("testing-without-a-pi.md", "examples/vulkan/compute.c").replace(
        "./daedalus", f"{shlex.quote(sys.executable)} -m daedalus.generator.cli.main"
    )


@pytest.mark.skipif(native.is_arm(), reason="the commands cross-compile")
def test_the_commands_of_the_page_do_what_it_says() -> None:
    driver.arm64()
    ran = subprocess.run(
        ["sh", "-e", "-c", commands()], cwd=repo_root(), capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.endswith(RIGHT)


@pytest.mark.skipif(native.is_arm(), reason="the native driver is what is copied")
def test_four_files_run_a_program_in_another_place(tmp_path: Path) -> None:
    """As the page for CI says: without the command line, from another folder."""
    if driver.built() is None:
        warnings.warn("v3dv is not built for this machine: setup --native", stacklevel=2)
        pytest.skip("v3dv is not built for this machine: ./daedalus setup --native")
    tools.device(), tools.preload("host")
    place = tmp_path / "elsewhere"
    page = "pi5-vulkan-in-ci.md"
    copy = block(page, "cp build/toolkit").replace("/opt/v3d", str(place))
    subprocess.run(["sh", "-e", "-c", copy], cwd=repo_root(), check=True)
    assert sum(f.is_file() for f in place.rglob("*")) == 4
    source = repo_root() / "examples" / "vulkan"
    headers = driver.vulkan_headers()
    compiler = ["gcc", source / "compute.c", "-isystem", headers, "-l:libvulkan.so.1"]
    subprocess.run([*compiler, "-o", tmp_path / "my-program"], check=True)
    code = shaders.compile_glsl((source / "square.comp").read_text(), tmp_path / "square")
    run = block(page, "/opt/v3d/daedalus-v3d-device --run").replace("/opt/v3d", str(place))
    ran = subprocess.run(
        ["sh", "-e", "-c", f"{run.strip()} {code}"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == (0, RIGHT), ran.stderr
