# SPDX-License-Identifier: BSD-2-Clause
"""A copy of this checkout in which there are more kernels."""

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.verify.fuzz import as_spec
from daedalus.generator.verify.fuzz.programs import operations

MAIN = "daedalus.generator.cli.main"
SPECS = Path("tools/scale")  # of the kernels that are added; they go to dsl/kernels/scale
_DRAWN = "drawn.py"
OF = "scale_"  # what their ids begin with
# Of every kernel: its family, operations, and the elements of buffers that an item stores.
_FACTS = """
import json
from math import prod
from daedalus.generator.compile.registry import load
from daedalus.generator.verify.fuzz.programs import operations
def stored(kernel):
    own = {b.name for b in kernel.buffers}
    return sum(prod(s.extents.values()) * sum(t.buffer in own for t in s.stores)
               for s in kernel.stages)
print(json.dumps({e.kernel.id: (e.kernel.family, operations(e.kernel), stored(e.kernel))
                  for e in load()}))
"""


@dataclass(frozen=True)
class Facts:
    """Of a kernel: the family that it is a member of, if any; operations; elements stored."""

    family: str
    operations: int
    stored: int


class Place:
    """The copy, in build/scale; programs run in it with this one's Python packages."""

    def __init__(self, seed: int) -> None:
        self.root = build_dir() / "scale"
        self._seed = seed
        self._specs = self.root / "dsl/kernels/scale"
        self._drawn: dict[int, tuple[int, int]] = {}
        self._spare: list[tuple[int, int]] = []

    def make(self, kernels: int, median: int) -> None:
        """Copies what git knows or would list, and adds kernels until there are so many.

        Programs are drawn that have at least `median` operations.
        """
        shutil.rmtree(self.root, ignore_errors=True)
        listed = run(["git", "-C", repo_root(), "ls-files", "-z", "-co", "--exclude-standard"])
        for name in filter(None, listed.split("\0")):
            source, to = repo_root() / name, self.root / name
            if source.is_symlink() or source.is_file():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, to, follow_symlinks=False)
        shutil.copytree(self.root / SPECS, self._specs, ignore=shutil.ignore_patterns(_DRAWN))
        self._write("changed.json", [])
        there = len(self.facts())
        missing = kernels - there
        if missing < 1:
            raise UserError(
                f"there are {there} kernels, those of {SPECS} among them",
                "give --kernels more than that",
            )
        found = (
            (number, attempt)
            for number, attempt, made in as_spec.drawn(self._seed)
            if operations(made) >= median
        )
        places = list(islice(found, missing + missing // 3 + 2))
        self._drawn = dict(enumerate(places[:missing]))
        self._spare = places[missing:]
        self._write("drawn.json", [self._seed, self._drawn])
        shutil.copy2(self.root / SPECS / _DRAWN, self._specs)

    def facts(self) -> dict[str, Facts]:
        """Of every kernel, by id."""
        return {k: Facts(*v) for k, v in json.loads(self._python("-c", _FACTS)).items()}

    def change(self, ids: Sequence[str]) -> None:
        """Gives these of the added kernels another constant, or another random program."""
        self._write("changed.json", sorted(ids))
        for name in ids:
            number = name.removeprefix(f"{OF}drawn")
            if number.isdigit():
                self._drawn[int(number)] = self._spare.pop()
        self._write("drawn.json", [self._seed, self._drawn])

    def timed(self, *words: str) -> float:
        """The seconds that a verb takes."""
        return self._timed("-m", MAIN, *words)

    def library(self) -> float:
        """The seconds that libdaedalus.a takes, with the runtime, for this machine."""
        code = (
            "from daedalus.generator.host import native;"
            "native.build_library('host', False, options=['-DDAEDALUS_ALLOW_UNVERIFIED=ON'],"
            "targets=('daedalus',))"
        )
        return self._timed("-c", code)

    def sizes(self) -> tuple[int, int]:
        """Bytes and number of the files in generated/."""
        files = [p.stat().st_size for p in (self.root / "generated").rglob("*") if p.is_file()]
        return sum(files), len(files)

    def manifest(self) -> dict[str, Any]:
        """What generated/ says that it has."""
        found: dict[str, Any] = json.loads((self.root / "generated/manifest.json").read_text())
        return found

    def _write(self, name: str, what: object) -> None:
        (self._specs / name).write_text(json.dumps(what, indent=1) + "\n")

    def _timed(self, *words: str) -> float:
        began = time.monotonic()
        self._python(*words)
        return time.monotonic() - began

    def _python(self, *words: str) -> str:
        env = os.environ | {"PYTHONPATH": str(self.root / "python")}
        log = self.root / "build" / "scale.log"
        return run([sys.executable, *words], cwd=self.root, env=env, log=log)
