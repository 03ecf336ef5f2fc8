# SPDX-License-Identifier: BSD-2-Clause
"""build/check/compared.json: what was compared last, so that `build` need not do it again.

The key is everything that a comparison is made of: the programs, byte for byte; what draws items,
evaluates and judges them (all Python of the project, its interpreter, numpy); the records that
items come from; the wish. Comparisons on a Vulkan device are kept where all of its driver comes
from packages that this checkout fetched: others are not ours to hash.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.host import native
from daedalus.generator.verify.crosscheck import Device, Outcome

_CODE = ("codecs", "dsl", "generator", "v3d")  # folders of Python
_MOST = 4  # comparisons that are kept


def key(programs: Iterable[Path], devices: Iterable[Device], *words: object) -> str:
    """Of one comparison."""
    root = repo_root()
    files = [*programs, *sorted(p for f in _CODE for p in (root / f).rglob("*.py"))]
    files += sorted((root / "generated").glob("records/*.json"))
    digest = hashlib.sha256(repr((sys.version, np.__version__, words)).encode())
    for d in devices:
        emulator = [native.version_of(name) for name in native.runner(d.arch)[:1]]
        driver = () if d.gpu is None else d.gpu.made_of
        digest.update(repr((d.name, d.target, d.arch, emulator, driver)).encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def recall(wanted: str) -> list[Outcome] | None:
    """What came out when the very same was compared and found good."""
    try:
        data = json.loads(_file().read_text())[wanted]
        return [Outcome(**o) for o in data]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(wanted: str, outcomes: list[Outcome]) -> None:
    """Keeps it if all is good, beside the latest of what was kept before."""
    if not all(o.good for o in outcomes):
        return
    path = _file()
    try:
        kept = dict(json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        kept = {}
    kept.pop(wanted, None)
    kept = dict([*kept.items(), (wanted, [asdict(o) for o in outcomes])][-_MOST:])
    write_output(path, json.dumps(kept))


def _file() -> Path:
    return build_dir() / "check" / "compared.json"
