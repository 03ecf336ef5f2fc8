# SPDX-License-Identifier: BSD-2-Clause
"""The library as callers use it, where an item alone does not show it.

Decoder entries: what they read and write, and blocks higher than an item. Column-tiled frames:
whole ones. What an item is computed to is compared by `oracle`.
"""

from pathlib import Path

import pytest

from daedalus.generator import fetch, native
from daedalus.generator.cli.common import repo_root, run

TOOLS = ("oracle", "stream")
ARCHITECTURES = ("host",) if native.is_arm() else ("host", "aarch64")


def _run(
    arch: str,
    folder: Path,
    name: str,
    *words: str,
    ffmpeg: bool = False,
    sources: tuple[str, ...] = (),
) -> int:
    """Builds a program with the library as `gen` left it; returns the calls that it made."""
    library = native.build_library(arch, options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON",))
    include, archives = [], []
    if ffmpeg:
        found, archives = fetch.archives("ffmpeg", native.debian_arch(arch))
        include = [found]
    program = native.compile_program(
        arch,
        folder / name,
        [repo_root() / s for s in (f"tests/entries/{name}.c", *sources)],
        includes=[*(repo_root() / "tools" / t for t in TOOLS), *native.library_includes()],
        system_includes=include,
        libraries=[library / "libdaedalus.a", *archives],
    )
    said = run([*native.runner(arch), program, *words], what=f"{name} ({arch})")
    calls, word = said.split()
    assert word == "calls"
    return int(calls)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_cdef_touches_only_what_edges_allow(arch: str, tmp_path: Path) -> None:
    """Every combination of edges, direction and kind of filter, at both ends of a page."""
    assert _run(arch, tmp_path, "cdef_pages") == 16 * 8 * 3 * 2


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_motion_compensation_of_any_height(arch: str, tmp_path: Path) -> None:
    """All banks, put and avg, all positions, both signs of the stride."""
    each = 4 * 2 * 16 * 2
    assert _run(arch, tmp_path, "mc_heights", "c", ffmpeg=True) == each * 64
    assert _run(arch, tmp_path, "mc_heights", "asm", ffmpeg=True) == each * 5


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_whole_column_tiled_frames(arch: str, tmp_path: Path) -> None:
    """8 and 10 bits, every even width up to 300 and 1280 x 720, against one plain loop."""
    assert _run(arch, tmp_path, "sand_frames", sources=("tools/oracle/sand.c",)) == 2 * 151
