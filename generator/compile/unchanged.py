# SPDX-License-Identifier: BSD-2-Clause
"""Whether `gen` has anything to do: `build/gen.json` tells how things were when it was done last.

That is, the contents of all files that it can read and of the folder that it writes, and the
versions of what it works with. Where they are the same, what `gen` said is said again.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.targets.glsl.spirv import toolchain

_FILE = "gen.json"


def sources() -> str:
    """The hash of what `gen` reads, its own programs among that."""
    package = Path(str(files("daedalus")))
    folders = [folder.resolve() for folder in sorted(package.iterdir()) if folder.is_dir()]
    with suppress(UserError):  # of the toolkit, where it can be built
        folders.append(repo_root() / "v3d")
    return _hash((sys.version, version("jinja2"), version("numpy"), toolchain()), folders)


def _hash(words: Iterable[str], folders: Iterable[Path]) -> str:
    found = hashlib.sha256(repr(words).encode())
    for root in folders:
        for file in sorted(root.rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                text = file.read_bytes()
                found.update(f"{file.relative_to(root)}\0{len(text)}\0".encode() + text)
    return found.hexdigest()


def remember(made_of: str, target: Path, said: list[str]) -> None:
    """That what is in the folder was made of these sources, and what `gen` said."""
    found = {"sources": made_of, "made": _hash((), [target]), "said": said}
    with suppress(UserError):  # where nothing can be kept, `gen` works each time
        write_output(build_dir() / _FILE, json.dumps(found) + "\n")


def said(made_of: str, target: Path) -> list[str] | None:
    """What `gen` said, if these sources make what is in the folder; else None."""
    try:
        found = json.loads((build_dir() / _FILE).read_text())
        if (found["sources"], found["made"]) == (made_of, _hash((), [target])):
            return list(found["said"])
    except (OSError, UserError, ValueError, KeyError, TypeError):
        pass
    return None
