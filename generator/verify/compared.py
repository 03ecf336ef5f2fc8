# SPDX-License-Identifier: BSD-2-Clause
"""build/check/compared.json: what was compared last, so that `build` need not do it again.

The key is everything that a comparison is made of: the programs, byte for byte; what draws items,
evaluates and judges them (all Python of the project, its interpreter, numpy); the records that
items come from; the wish; this processor, whose features lavapipe compiles for; and what drivers,
loaders and emulators read of the environment. Comparisons on a Vulkan device are kept where all of
its driver comes from packages that this checkout fetched: others are not ours to hash.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from daedalus.generator.base.costs import SET_UP
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.host import native
from daedalus.generator.verify.crosscheck import Device, Outcome

_CODE = ("codecs", "dsl", "generator", "v3d")  # folders of Python
_MOST = 4  # comparisons that are kept
_CPUINFO = Path("/proc/cpuinfo")
_PROCESSOR = {
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags", "CPU implementer",
    "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features",
}  # fmt: skip
# How the names of variables begin that change what a program does: Mesa's and LLVM's, the Vulkan
# loader's and its layers' with the folders where it looks for these, the dynamic loader's, qemu's,
# and ours.
_VARIABLES = (
    "DRAW_", "GALLIUM_", "GALLIVM_", "LIBGL_", "LP_", "LVP_", "MESA_", "NIR_", "ST_", "UTIL_",
    "LLVM_", "VK_", "VN_", "XDG_CONFIG_", "XDG_DATA_", "HOME", "LD_", "GLIBC_", "MALLOC_", "QEMU_",
    "DAEDALUS_",
)  # fmt: skip


def key(programs: Iterable[Path], devices: Iterable[Device], *words: object) -> str:
    """Of one comparison."""
    root = repo_root()
    files = [*programs, *sorted(p for f in _CODE for p in (root / f).rglob("*.py"))]
    files += sorted((root / "generated").glob("records/*.json"))
    made_by = (sys.version, np.__version__, _processor(), _variables(os.environ))
    digest = hashlib.sha256(repr((made_by, words)).encode())
    for d in devices:
        emulator = [native.version_of(name) for name in native.runner(d.arch)[:1]]
        driver = () if d.gpu is None else d.gpu.made_of
        digest.update(repr((d.name, d.target, d.arch, emulator, driver)).encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _processor() -> list[str]:
    """What the first processor is, and what it can do."""
    first = _CPUINFO.read_text().partition("\n\n")[0] if _CPUINFO.is_file() else ""
    return [x for x in first.splitlines() if x.partition(":")[0].strip() in _PROCESSOR]


def _variables(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Without how long this call installed packages, which the call after it does not."""
    return sorted(
        (k, v) for k, v in environment.items() if k.startswith(_VARIABLES) and k != SET_UP
    )


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
