# SPDX-License-Identifier: BSD-2-Clause
"""`build/*-part/generated`: the code of some kernels alone, so that nothing else is compiled.

One folder for each use, whichever kernels it has: only files that differ are written, so that the
runtime is compiled once, and of two kernels in turn each other's code alone.
"""

from collections.abc import Sequence
from pathlib import Path

from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile import emit
from daedalus.generator.compile.folder import write
from daedalus.generator.compile.registry import Entry

FOLDER = "check-part"  # below build/


def lock(use: str = FOLDER) -> Path:
    """The folder to lock for as long as the code is used."""
    return build_dir() / use / "users"


def generate(entries: Sequence[Entry], use: str = FOLDER) -> Path:
    """Writes the code of these kernels, and returns its folder."""
    variants = tuple(v for e in entries for v in emit.entry_variants(e))
    folder = build_dir() / use / "generated"
    write(emit.generate(tuple(entries), variants, repo_root() / "generated"), folder)
    return folder


def options(generated: Path) -> tuple[str, ...]:
    """What CMake is told of it."""
    return (f"-DDAEDALUS_GENERATED_DIR={generated}", "-DDAEDALUS_TESTS=OFF")
