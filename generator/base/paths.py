# SPDX-License-Identifier: BSD-2-Clause
"""Where the checkout is, and what is built in it."""

from functools import cache
from pathlib import Path

from daedalus.generator.base.errors import UserError


def repo_root() -> Path:
    """The checkout this package belongs to; for an installed package, the one around this folder.

    Verbs that need C sources (build, check, stream, test) work only inside one.
    """
    return _root_around(Path.cwd())


@cache
def _root_around(here: Path) -> Path:
    own = Path(__file__).resolve().parents[2]  # a checkout's generator/base lies two below its root
    for folder in (own, here, *here.parents):
        if (folder / "CMakeLists.txt").is_file() and (folder / "dsl" / "ir.py").is_file():
            return folder
    raise UserError(
        "this command needs a checkout of daedalus, and none contains the current folder",
        "clone the repository and run ./daedalus there",
    )


def build_dir() -> Path:
    """Everything that is built, fetched or cached lies below this folder of the checkout."""
    return repo_root() / "build"


def can_keep() -> bool:
    """Whether there is a checkout to keep things in: not where the package alone is installed."""
    try:
        build_dir()
    except UserError:
        return False
    return True
