# SPDX-License-Identifier: BSD-2-Clause
"""The library as callers use it, where an item alone does not show it.

Decoder entries: what they read and write, and blocks higher than an item. Column-tiled frames:
whole ones. What an item is computed to is compared by `oracle`.
"""

from pathlib import Path

import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.process import run
from daedalus.generator.host import fetch, native

TOOLS = ("oracle", "stream")
# Name -> architecture and options of the library's build. "scalar": a processor that is big-endian,
# or a compiler without vectors, has portable C alone.
BUILDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "host": ("host", ()),
    "aarch64": ("aarch64", ()),
    "scalar": ("host", ("-DDAEDALUS_COMPILES_VECTORS=OFF", "-DDAEDALUS_HAVE_NATIVE_NEON=OFF")),
}
_HERE = ("host",) if native.is_arm() else ("host", "aarch64")


def _builds(*in_ci: str) -> pytest.MarkDecorator:
    """A test for each build; in the campaign, but for these."""
    return pytest.mark.parametrize(
        "build",
        [pytest.param(b, marks=[] if b in in_ci else pytest.mark.campaign)
         for b in (*_HERE, "scalar")],
    )  # fmt: skip


EACH = _builds(*_HERE)
EACH_HEIGHT = 4 * 2 * 15 * 2  # calls of motion compensation


def _library(build: str) -> Path:
    arch, options = BUILDS[build]
    return native.build_library(
        arch, options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON", *options), folder=build if options else ""
    )


@pytest.mark.campaign
def test_the_scalar_library_is_scalar() -> None:
    """What runs as that below takes the branch of the public functions that nothing else does."""
    symbols = run(["nm", _library("scalar") / "libdaedalus.a"])
    assert "__c_full" in symbols and "__neon_" not in symbols and "__vector_" not in symbols


def _run(
    build: str,
    folder: Path,
    name: str,
    *words: str,
    ffmpeg: bool = False,
    sources: tuple[str, ...] = (),
) -> int:
    """Builds a program with the library as `gen` left it; returns the calls that it made."""
    arch, _ = BUILDS[build]
    library = _library(build)
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
    said = run([*native.runner(arch), program, *words], what=f"{name} ({build})")
    calls, word = said.split()
    assert word == "calls"
    return int(calls)


@_builds("host")
def test_cdef_touches_only_what_edges_allow(build: str, tmp_path: Path) -> None:
    """Every combination of edges, direction and kind of filter, at both ends of a page."""
    assert _run(build, tmp_path, "cdef_pages") == 16 * 8 * 3 * 2


@_builds("host")
def test_motion_compensation_of_any_height(build: str, tmp_path: Path) -> None:
    """All banks, put and avg, all positions between samples, both signs of the stride."""
    assert _run(build, tmp_path, "mc_heights", "c", ffmpeg=True) == EACH_HEIGHT * 64


@EACH
def test_motion_compensation_of_heights_that_assembly_takes(build: str, tmp_path: Path) -> None:
    assert _run(build, tmp_path, "mc_heights", "asm", ffmpeg=True) == EACH_HEIGHT * 5


@EACH
def test_tables_filled_for_sets_of_features(build: str, tmp_path: Path) -> None:
    """None, NEON, and dot products: all leave what the entries do that choose by themselves."""
    assert _run(build, tmp_path, "fill_tables") == 3 * (2 + 20)


@EACH
def test_whole_column_tiled_frames(build: str, tmp_path: Path) -> None:
    """8 and 10 bits, every even width up to 300 and 1280 x 720, against one plain loop."""
    assert _run(build, tmp_path, "sand_frames", sources=("tools/oracle/sand.c",)) == 2 * 151
