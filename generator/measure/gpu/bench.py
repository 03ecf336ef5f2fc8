# SPDX-License-Identifier: BSD-2-Clause
"""Builds tools/bench, runs it on Vulkan devices, and reads what it says."""

import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile.registry import Entry
from daedalus.generator.devices.vulkan import GpuDevice
from daedalus.generator.host import native
from daedalus.generator.measure.gpu import bench_data
from daedalus.v3d import driver
from daedalus.v3d.comparison import failed_jobs

DISTINCT = 256  # items of a class; each stands in a batch many times
_SHARED = (
    "base",
    "execute",
    "items",
    "point",
    "samples",
    "spills_absent",
    "work",
)  # of runtime/tune, with the tuner
_PATIENCE = 3600  # seconds for one device


@dataclass(frozen=True)
class Wish:
    """What is to be measured; see tools/bench/main.c."""

    kernels: str = ""
    rounds: int = 7
    items: int = 32640
    bytes: int = 0
    workgroups: bool = True
    skip: str = ""

    @property
    def words(self) -> list[str]:
        """The program's options."""
        out = ["--rounds", str(self.rounds), "--items", str(self.items)]
        out += ["--kernels", self.kernels] if self.kernels else []
        out += ["--bytes", str(self.bytes)] if self.bytes else []
        out += ["--workgroups"] if self.workgroups else []
        return out + (["--skip", self.skip] if self.skip else [])


@dataclass
class Report:
    """What the program says of a device."""

    device: str  # as devices.py calls it
    data: dict[str, Any]
    faults: list[str] = field(default_factory=list)


def program(arch: str) -> Path:
    """The bench program for a build of native.py, linked with all variants."""
    folder = native.build_library(
        arch,
        targets=("daedalus_variants",),
        options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON",),
    )
    return native.compile_program(
        arch,
        build_dir() / "bench" / folder.name / "bench",
        [
            *sorted((repo_root() / "tools" / "bench").glob("*.c")),
            *(repo_root() / "runtime" / "tune" / f"{name}.c" for name in _SHARED),
        ],
        includes=[repo_root() / "runtime", *native.library_includes()],
        system_includes=[driver.vulkan_headers()],
        libraries=[folder / "libdaedalus_variants.a"],
        flags=("-ldl",),
        static=False,
    )


def write_data(
    path: Path, entries: Sequence[Entry], distinct: int = DISTINCT, seed: int = 1
) -> None:
    """The items of all kernels that have GPU variants, so many a class."""
    kernels: list[tuple[Kernel, frozenset[str]]] = []
    for e in entries:
        listed = [s for s, _ in e.listed if s.target == "glsl"]
        if listed:
            kernels.append((e.kernel, frozenset(a for s in listed for a in s.assume)))
    bench_data.write(path, kernels, distinct, seed)


def measure(device: GpuDevice, data: Path, wish: Wish) -> Report:
    """Runs the program on a device. Refused runs and failed jobs are the report's faults."""
    words: list[str | Path] = [program(device.arch), "--data", data, *wish.words]
    try:
        done = device.run(words, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise UserError(
            f"bench on {device.name}: not done after {_PATIENCE} s",
            "fewer --items or --rounds, or a single KERNEL",
            EXIT_FAILED,
        ) from None
    try:
        report = Report(device.name, json.loads(done.stdout))
    except ValueError:
        raise UserError(
            f"bench on {device.name}: exit status {done.returncode}\n{done.stderr.strip()[-2000:]}",
            f"to repeat it: DAEDALUS_VULKAN_DEVICE=... {' '.join(map(str, words))}",
            EXIT_FAILED,
        ) from None
    if device.simulated:
        report.faults += failed_jobs(done.stderr)
    if report.data["refused"] or report.data["errors"]:
        said = [line for line in done.stderr.splitlines() if line.startswith("bench: ")]
        report.faults.append(
            f"{report.data['refused']} runs were refused, {report.data['errors']} errors logged;"
            f" the first: {said[:1]}"
        )
    return report


def fingerprint() -> dict[str, str]:
    """What the processor's part of the times depends on."""
    return {
        "cpu": native.processor(),
        "machine": platform.machine(),
        "kernel": platform.release(),
        "compiler": native.version_of("gcc"),
    }
