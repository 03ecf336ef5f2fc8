# SPDX-License-Identifier: BSD-2-Clause
"""Batches on frames, by vulkan/frames/frames.c, on the simulated device: for either route."""

import functools
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from daedalus.generator.base.paths import build_dir
from daedalus.generator.host import native
from daedalus.v3d import tools

SIDE, BATCHES = 64, 3
BLOCKS = SIDE * SIDE // 64
RIGHT = [(0, 0)] * BATCHES
EIO = -5

_SOURCE = Path(__file__).parent / "vulkan" / "frames" / "frames.c"


@functools.cache
def program() -> Path:
    """frames.c with the library, built for this machine."""
    folder = native.build_library(
        "host", targets=("daedalus",), options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON",)
    )
    return native.compile_program(
        "host",
        build_dir() / "v3dv" / "frames-host" / "frames",
        [_SOURCE],
        includes=native.library_includes(),
        libraries=[folder / "libdaedalus.a"],
        flags=["-ldl"],
        static=False,
    )


class Ran:
    """What a run left: a tuple a batch (error, fence, undefined items), and what was said.

    `environment` chooses the route.
    """

    def __init__(
        self,
        program: Path,
        tmp_path: Path,
        kind: str,
        *more: str,
        faults: tuple[str, ...] = (),
        side: int = SIDE,
        batches: int = BATCHES,
        timeout_ms: int = 10_000,
        memory: int | None = None,
        page_kib: int | None = None,
        strict: bool = False,
        environment: Mapping[str, str],
    ) -> None:
        jobs = tmp_path / "jobs"
        jobs.unlink(missing_ok=True)
        # A fault that never struck is a status of 1, but a job that failed is one, too.
        words, more_environment = tools.on_device(
            [str(program), kind, str(side), str(batches), *more],
            jobs=jobs,
            faults=faults,
            memory=memory,
            page_kib=page_kib,
            strict=strict,
        )
        done = subprocess.run(
            words,
            env={
                **os.environ,
                **more_environment,
                **environment,
                "DAEDALUS_QPU_TIMEOUT_MS": str(timeout_ms),
                "XDG_CACHE_HOME": str(tmp_path / "cache"),
            },
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        self.said = done.stderr
        assert done.returncode == 0, done.stdout + done.stderr
        *lines, last = done.stdout.splitlines()
        self.batches = []
        for i, line in enumerate(sorted(lines)):
            error, fence, undefined = line.removeprefix(f"batch {i}: ").split()
            self.batches.append((int(error), fence, int(undefined)))
        assert len(self.batches) == batches
        self.right = last.startswith("frame right")
        self.lost = last.endswith("device lost")
        self.computed = [
            job["submission"]
            for job in map(json.loads, jobs.read_text().splitlines())
            if job["queue"] == "compute"
        ]
        struck = [line for line in done.stderr.splitlines() if "struck 0 times" in line]
        assert struck == []

    @property
    def errors(self) -> list[tuple[int, int]]:
        return [(error, undefined) for error, _, undefined in self.batches]
