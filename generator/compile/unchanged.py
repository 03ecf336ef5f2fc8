# SPDX-License-Identifier: BSD-2-Clause
"""Whether `gen` has anything to do: `build/gen.json` tells how things were when it was done last.

That is, the contents of all files that it can read and of the folder that it writes, and the
versions of what it works with. Where they are the same, what `gen` said is said again. Nothing is
kept of a run during which something else changed one of these.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.targets.glsl.spirv import toolchain

_FILE = "gen.json"


@dataclass(frozen=True)
class Inputs:
    """What `gen` reads: the hash of specs and programs, its own among them; what is on record, by
    part and kernel."""

    sources: str
    recorded: dict[str, dict[str, Any]]


def inputs(target: Path) -> Inputs:
    """As they are now, with the records of the folder that `gen` writes."""
    package = Path(str(files("daedalus")))
    roots = {p.name: p.resolve() for p in sorted(package.iterdir()) if p.name != "__pycache__"}
    with suppress(UserError):  # of the toolkit, where it can be built
        roots["toolkit"] = repo_root() / "v3d"
    found = hashlib.sha256(
        repr((sys.version, version("jinja2"), version("numpy"), toolchain())).encode()
    )
    for name, root in roots.items():
        for file in [root] if root.is_file() else _files(root):
            if file.suffix != ".pyc":
                _add(found, f"{name}/{file.relative_to(root)}", file.read_bytes())
    return Inputs(found.hexdigest(), {part: records.each(part, target) for part in records.PARTS})


def _files(root: Path) -> Iterator[Path]:
    return (file for file in sorted(root.rglob("*")) if file.is_file())


def _add(found: "hashlib._Hash", name: str, text: bytes) -> None:
    found.update(f"{name}\0{len(text)}\0".encode() + text)


def _made(target: Path, texts: Mapping[str, str] | None = None) -> str:
    """The hash of what lies in the folder; of `texts` what they say lies there."""
    found = hashlib.sha256()
    there = {p.relative_to(target).as_posix(): p for p in _files(target)}
    for name in sorted({*there, *(texts or ())}):
        text = (texts or {}).get(name)
        _add(found, name, there[name].read_bytes() if text is None else text.encode())
    return found.hexdigest()


def remember(
    before: Inputs, target: Path, texts: Mapping[str, str],
    chosen: Mapping[str, Mapping[str, Any]], said: list[str],
) -> None:  # fmt: skip
    """That these texts and choices of variants, which now lie in the folder, are made of what was
    there before, and what `gen` said."""
    options = before.recorded[records.OPTIONS] | json.loads(json.dumps(chosen))
    options = {kernel: data for kernel, data in options.items() if data}
    after = Inputs(before.sources, {**before.recorded, records.OPTIONS: options})
    with suppress(OSError, UserError):  # where nothing can be kept, `gen` works each time
        file = build_dir() / _FILE
        if inputs(target) == after:
            found = {"sources": after.sources, "made": _made(target, texts), "said": said}
            write_output(file, json.dumps(found) + "\n")


def said(now: Inputs, target: Path) -> list[str] | None:
    """What `gen` said, if what is there now makes what is in the folder; else None."""
    try:
        found = json.loads((build_dir() / _FILE).read_text())
        if (found["sources"], found["made"]) == (now.sources, _made(target)):
            return [str(line) for line in found["said"]] or None
    except (OSError, UserError, ValueError, KeyError, TypeError):
        pass
    return None
