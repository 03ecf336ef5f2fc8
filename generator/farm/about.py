# SPDX-License-Identifier: BSD-2-Clause
"""What a worker and its client must agree on before work is given away."""

import hashlib
import os
import platform
import shutil
import socket
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.process import run
from daedalus.generator.host import fetch, native
from daedalus.generator.options import PLAIN_TARGETS
from daedalus.generator.tuning.engine_device import KINDS, targets_of
from daedalus.generator.tuning.fingerprint import generator_hash
from daedalus.generator.verify.crosscheck import devices

# Name -> what it is called: these are the same on all sides, or nothing is done.
SAME = {"python": "Python", "distributed": "distributed", "code": "code", "generator": "generator"}


@cache
def _python_digest() -> bytes:
    """Hash of the Python and the templates that run here.

    Asked first before anything else is loaded on a worker, and then kept: where the checkout
    changes under a running worker, what runs there is what it was.
    """
    digest = hashlib.sha256()
    package = Path(str(files("daedalus")))
    for part in ("codecs", "dsl", "generator", "templates", "v3d"):
        _add(digest, package, package / part, (".py", ".j2", ".toml"))
    return digest.digest()


# What programs are built of besides generated/, and when they are built: at any time.
_BUILT_OF = ("runtime", "v3d", "cmake", "tools")
_KINDS = (".c", ".h", ".s", ".qpu", ".comp", ".in", ".profile", ".txt", ".toml", ".cmake", ".sh")


def code_digest() -> str:
    """Hash of all of daedalus that decides what a job gives, but for generated/."""
    digest = hashlib.sha256(_python_digest())
    root = repo_root()
    for part in _BUILT_OF:
        _add(digest, root, root / part, _KINDS)
    digest.update((root / "CMakeLists.txt").read_bytes())
    return digest.hexdigest()[:16]


def _add(digest: Any, base: Path, folder: Path, kinds: tuple[str, ...]) -> None:
    for path in sorted(folder.rglob("*")):
        if path.suffix in kinds and path.is_file():
            digest.update(f"{path.relative_to(base)}\n".encode() + path.read_bytes())


# What compiles, runs or models variants, and is not daedalus: programs, and what is fetched.
_FETCHED = ("lavapipe", "mesa", "simde", "v3dv")
_PROGRAMS = ("gcc", "aarch64-linux-gnu-gcc", native.CLANG, "llvm-mca-19", "qemu-aarch64", "cmake")


def tools() -> str:
    """Versions of what is here of these, now: they may be upgraded under a worker."""
    found = [run([p, "--version"]).splitlines()[0] for p in _PROGRAMS if shutil.which(p)]
    for name in _FETCHED:
        architectures = fetch.oracles()[name].architectures
        told = sorted({v for a in architectures if (v := fetch.versions(name, a))})
        found += [f"{name} {', '.join(told)}"] if told else []
    return "; ".join(found)


def about() -> dict[str, Any]:
    """Of the process this runs in: only plain values, which any other version can read.

    devices      plain target -> its devices here
    targets      what `tune --device` measures here -> the targets of that
    """
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "distributed": version("distributed"),
        "code": code_digest(),
        "generator": generator_hash(repo_root()),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "devices": {t: [d.name for d in devices((t,))] for t in PLAIN_TARGETS},
        "targets": {kind: list(targets_of(kind)) for kind in KINDS},
    }


def differences(mine: dict[str, Any], theirs: dict[str, Any]) -> str:
    """What a worker has otherwise than the client; empty where they agree."""
    return ", ".join(
        f"{called} {theirs[n]} (here {mine[n]})"
        for n, called in SAME.items()
        if theirs[n] != mine[n]
    )
