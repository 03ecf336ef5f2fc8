# SPDX-License-Identifier: BSD-2-Clause
"""Input hashes of variants that were made before, so that resuming need not make them again.

A cache: a line is a hash of all that variants are made of, a variant, and its input hash ("-" where
it is refused). What is not such a line is nothing.
"""

import hashlib
import json
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from daedalus.generator.base import records

_LINE = re.compile(r"([0-9a-f]{16}) (daedalus_\w+) ([0-9a-f]{16}|-)")
_KINDS = {".py", ".j2", ".toml", ".h"}


class Hashes:
    """The file, and what it says of variants as they would be made now."""

    def __init__(self, path: Path) -> None:
        self._path, self._of = path, sources()
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        found = (_LINE.fullmatch(line) for line in text.splitlines())
        self._known = {m[2]: m[3].strip("-") for m in found if m and m[1] == self._of}

    def get(self, variant: str) -> str | None:
        """Its input hash; "" where there is no such variant; None where that is not known."""
        return self._known.get(variant)

    def add(self, variant: str, input_hash: str) -> None:
        """Keeps one."""
        if self._known.get(variant) == input_hash:
            return
        self._known[variant] = input_hash
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            os.write(fd, f"\n{self._of} {variant} {input_hash or '-'}\n".encode())
        finally:
            os.close(fd)


@cache
def sources() -> str:
    """A hash of the specs, the generator and what it reads."""
    digest = hashlib.sha256()
    package = Path(str(files("daedalus")))
    for name in ("codecs", "dsl", "generator", "templates", "v3d", "include", "support"):
        for file in sorted((package / name).resolve().rglob("*")):
            if file.suffix in _KINDS and "cli" not in file.parts:
                digest.update(f"{file.name} {file.parent.name}\0".encode() + file.read_bytes())
    digest.update(json.dumps(records.each(records.SCHEDULES)).encode())
    return digest.hexdigest()[:16]
