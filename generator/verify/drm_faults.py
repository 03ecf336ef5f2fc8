# SPDX-License-Identifier: BSD-2-Clause
"""Frames on the simulated device, which fails while it computes them: what the CPU saves.

Each variant is run twice in a program of its own: as it is, which tells the number of its last
submission, and with a fault at that one. What lies in memory has to be right both times, and the
second time the runtime has to have reported a failure.
"""

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.variants import Variant
from daedalus.generator.devices import drm
from daedalus.generator.devices.vulkan import GpuDevice
from daedalus.generator.options import QPU
from daedalus.generator.verify import gpu_check as check
from daedalus.generator.verify.crosscheck import Batch, Device, Outcome
from daedalus.v3d import tools

# Those that are noticed, by a call or by the time that goes by.
FAULTS = {
    "lost": "lost@{number}",
    "no-memory": "no-memory@{number}:of=submit",
    "hang": "hang@{number}:ms={hang_ms}",
}
_LEAST_MS = 2000  # that a job may take before it is taken for one that was reset
_LONGER = 4  # times what it takes without a fault


def check_frames(
    kernel: Kernel,
    variants: Sequence[Variant],
    program: Path,
    batches_of: Callable[[check.Align, str], Sequence[Batch]],
    seed: int,
    fault: str,
) -> list[Outcome]:
    """Runs each variant on the frame of its alignment and class, and fails its last submission."""
    outcomes: list[Outcome] = []
    for v in variants:
        with tempfile.TemporaryDirectory(prefix="daedalus-check-") as folder:
            jobs = Path(folder, "jobs")
            plain = _device(program, jobs, ())
            (outcome,) = check.check_kernel(kernel, [v], plain, program, batches_of, seed)
            if outcome.good:
                lines = [json.loads(line) for line in jobs.read_text().splitlines()]
                (outcome,) = check.check_kernel(
                    kernel, [v], _faulty(program, jobs, lines, fault), program, batches_of, seed
                )
        outcomes.append(outcome)
    return outcomes


def _faulty(program: Path, jobs: Path, lines: list[dict[str, Any]], fault: str) -> Device:
    reset_ms = _LEAST_MS + int(_LONGER * max(line["wall_us"] for line in lines) / 1000)
    number = max(line["submission"] for line in lines)
    text = FAULTS[fault].format(number=number, hang_ms=reset_ms + 500)
    return _device(program, jobs, (text,), reset_ms)


def _device(program: Path, jobs: Path, faults: tuple[str, ...], reset_ms: int = 0) -> Device:
    words, more = tools.on_device([str(program)], strict=True, jobs=jobs, faults=faults)
    environment = {**more, **drm.environment(True), "DAEDALUS_DRM_RESET_MS": str(reset_ms)}
    if faults:
        environment["DAEDALUS_CHECK_FAULTS"] = "1"
    # What the device says of jobs that fail is no complaint where they are to fail.
    gpu = GpuDevice(drm.SIMULATED, "host", tuple(words[:-1]), environment, simulated=not faults)
    return Device(drm.SIMULATED, QPU, "host", gpu)
