# SPDX-License-Identifier: BSD-2-Clause
"""`build/check-part/generated`: the code of some kernels alone, so that nothing else is compiled.

One folder, whichever kernels it has: only files that differ are written, so that the runtime is
compiled once, and of two kernels in turn each other's code alone.
"""

from collections.abc import Sequence
from pathlib import Path

from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile import emit
from daedalus.generator.compile.folder import write
from daedalus.generator.compile.registry import Entry

FOLDER = "check-part"  # below build/


def lock() -> Path:
    """The folder to lock for as long as the code is used."""
    return build_dir() / FOLDER / "users"


def generate(entries: Sequence[Entry]) -> Path:
    """Writes the code of these kernels, and returns its folder."""
    variants = tuple(v for e in entries for v in emit.entry_variants(e))
    folder = build_dir() / FOLDER / "generated"
    write(emit.generate(tuple(entries), variants, repo_root() / "generated"), folder)
    return folder
