# SPDX-License-Identifier: BSD-2-Clause
"""What a board is sent to measure by itself: the program, items, and what drives them there.

A kit lies in a folder named by its content, so that what is there is never sent again, and two
versions never meet.
"""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.host import native
from daedalus.generator.measure.gpu import bench_data
from daedalus.generator.measure.gpu.compare import usual
from daedalus.generator.tuning.engine_device import DISTINCT, SEEDS
from daedalus.generator.tuning.fingerprint import generator_hash

PROGRAM, SCRIPT = "daedalus-tune", "remote.sh"


@dataclass(frozen=True)
class Kit:
    """Files by name; the mode of those that are run is 755.

    built  where the program lies in the folder that it was built in; None: nowhere here
    """

    files: dict[str, bytes]
    built: Path | None = None

    @property
    def id(self) -> str:
        """16 hex digits of the names and contents."""
        digest = hashlib.sha256()
        for name, data in sorted(self.files.items()):
            digest.update(f"{name}\n{len(data)}\n".encode() + data)
        return digest.hexdigest()[:16]

    def archive(self) -> bytes:
        """All of it and `SUMS`, as tar, by gzip."""
        sums = "".join(
            f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in self.files.items()
        )
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name, data in {**self.files, "SUMS": sums.encode()}.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                info.mode = 0o755 if name in (PROGRAM, SCRIPT) else 0o644
                tar.addfile(info, io.BytesIO(data))
        return gzip.compress(out.getvalue(), 6, mtime=0)

    @property
    def data(self) -> list[str]:
        """The files of items."""
        return [name for name in self.files if name.startswith("items-")]


def make(arch: str, entries: Sequence[Entry], *, program: Path | None = None) -> Kit:
    """The kit for boards of an architecture of native.py, of this checkout's generated code.

    It has items of the usual kernels, and of those asked for, so that one kit, with one journal,
    does for the usual runs.
    """
    always = (find(load(), w.kernel) for w in usual())
    entries = list({e.kernel.id: e for e in (*always, *entries) if e is not None}.values())
    program = program or build_program(arch)
    files = {PROGRAM: program.read_bytes()}
    files[SCRIPT] = (repo_root() / "tools" / "tune" / SCRIPT).read_bytes()
    for seed in SEEDS:
        files[f"items-{seed}"] = _items(entries, seed).read_bytes()
    return Kit(files, program)


def build_program(arch: str) -> Path:
    """The measuring program for that architecture.

    It takes the board's own C library, as the GPU's drivers do, which are loaded at run time.
    """
    folder = native.build_library(
        arch, targets=(PROGRAM,), options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON",)
    )
    return folder / PROGRAM


def _items(entries: Sequence[Entry], seed: int) -> Path:
    """Items of the kernels; drawn once for the generated code at hand."""
    ids = hashlib.sha256(" ".join(e.kernel.id for e in entries).encode()).hexdigest()[:8]
    folder = build_dir() / "tune" / "kit"
    path = folder / f"items-{generator_hash(repo_root())}-{ids}-{seed}"
    if not path.is_file():
        kernels = [(e.kernel, frozenset(a.name for a in e.kernel.assumptions)) for e in entries]
        fresh = path.with_name(path.name + ".new")
        bench_data.write(fresh, kernels, DISTINCT, seed)
        fresh.replace(path)
    return path
