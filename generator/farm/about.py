# SPDX-License-Identifier: BSD-2-Clause
"""What a worker and its client must agree on before work is given away."""

import hashlib
import os
import platform
import socket
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from daedalus.generator.cli.common import repo_root
from daedalus.generator.crosscheck import devices
from daedalus.generator.schedule import PLAIN_TARGETS
from daedalus.generator.tuning.engine_device import KINDS, targets_of
from daedalus.generator.tuning.fingerprint import Fingerprint, generator_hash, of_host

# Name -> what it is called: these are the same on all sides, or nothing is done.
SAME = {"python": "Python", "distributed": "distributed", "code": "code", "generator": "generator"}


@cache
def code_digest() -> str:
    """Hash of the Python and the templates that run here.

    Asked first before anything else is loaded on a worker, and then kept: where the checkout
    changes under a running worker, what runs there is what it was.
    """
    digest = hashlib.sha256()
    package = Path(str(files("daedalus")))
    for part in ("dsl", "generator", "templates"):
        for path in sorted((package / part).rglob("*")):
            if path.suffix in (".py", ".j2", ".toml") and path.is_file():
                digest.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def about() -> dict[str, Any]:
    """Of the process this runs in: only plain values, which any other version can read.

    fingerprint  the parts of its machine's
    devices      plain target -> its devices here
    targets      what `tune --device` measures here -> the targets of that
    """
    generator = generator_hash(repo_root())
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "distributed": version("distributed"),
        "code": code_digest(),
        "generator": generator,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "fingerprint": dict(vars(of_host(generator))),
        "devices": {t: [d.name for d in devices((t,))] for t in PLAIN_TARGETS},
        "targets": {kind: list(targets_of(kind)) for kind in KINDS},
    }


def fingerprint_of(told: dict[str, Any]) -> Fingerprint:
    """The fingerprint of what a process told about itself."""
    return Fingerprint(**told["fingerprint"])


def differences(mine: dict[str, Any], theirs: dict[str, Any]) -> str:
    """What a worker has otherwise than the client; empty where they agree."""
    return ", ".join(
        f"{called} {theirs[n]} (here {mine[n]})"
        for n, called in SAME.items()
        if theirs[n] != mine[n]
    )
