# SPDX-License-Identifier: BSD-2-Clause
"""GLSL variants through Mesa's v3dv, built for this machine, on the simulated device: modelled."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError, WrongOutput
from daedalus.generator.devices.vulkan import GpuDevice, environment_of
from daedalus.generator.measure.gpu import qpu
from daedalus.generator.measure.gpu.taken import Taken, taken
from daedalus.v3d import driver, tools

_PATIENCE_MS = "600000"  # that the runtime has with a job, which is simulated nine times


def best(kernel: str, class_name: str, data: Path, items: int, folder: Path) -> Taken:
    """The variant and size of workgroups that takes least on so many items of a class.

    All are modelled by the default settings, and the best of them by the alternatives as well.
    Raises UserError where there is none or one computes something wrong.
    """
    wish = {"--kernels": kernel, "--class": class_name, "--items": str(items)}
    rows = [
        r
        for r in _measured(data, wish, ["--workgroups"], folder / "glsl.jsonl")
        if r["kernel"] == kernel
    ]
    if not rows:
        raise UserError(f"{kernel} has no GLSL variant that does items of class {class_name}")
    first = min(rows, key=lambda r: r["gpu_p50_ns"])
    return model(
        kernel, class_name, first["variant"], first["workgroup"], data, items, folder / "best.jsonl"
    )


def model(
    kernel: str, class_name: str, variant: str, workgroup: int, data: Path, items: int, jobs: Path
) -> Taken:
    """What a variant takes on so many items of a class, with its intervals.

    `jobs` is a file for what the device says. Raises WrongOutput where what it leaves is wrong.
    """
    wish = {"--kernels": kernel, "--class": class_name, "--items": str(items)}
    chosen = {"--variant": variant, "--workgroup": str(workgroup)}
    _measured(data, wish | chosen, [], jobs, intervals=True)
    compute = [j for j in map(json.loads, jobs.read_text().splitlines()) if "modelled" in j]
    modelled = compute[-1]["modelled"]
    return taken(
        variant.removeprefix("daedalus_"), items, workgroup, modelled, modelled["interval"]
    )


def _measured(
    data: Path, wish: Mapping[str, str], flags: list[str], jobs: Path, *, intervals: bool = False
) -> list[dict[str, Any]]:
    """Runs tools/bench once; the throughput part's rows."""
    if driver.built() is None:
        raise UserError(
            "v3dv is not built for this machine", "./daedalus setup --native", EXIT_MISSING
        )
    jobs.unlink(missing_ok=True)
    words, environment = tools.on_device(
        [str(qpu.program())], jobs=jobs, timed=True, intervals=intervals
    )
    environment |= {**environment_of("v3d"), "DAEDALUS_QPU_TIMEOUT_MS": _PATIENCE_MS}
    device = GpuDevice("v3dv-native", "host", tuple(words[:-1]), environment)
    options = [w for pair in wish.items() for w in pair]
    options += ["--data", str(data), "--once", "--rounds", "1", "--skip", "latency,frame", *flags]
    done = device.run([words[-1], *options])
    if done.returncode:
        if refused := _refused(done.stdout):
            raise WrongOutput(
                f"{', '.join(refused)}: what it leaves is not what the reference does",
                "no time counts",
            )
        raise UserError(
            f"bench {' '.join(options)}: exit status {done.returncode}\n{done.stderr[-2000:]}",
            "see docs/vulkan-checking.md",
            EXIT_FAILED,
        )
    rows: list[dict[str, Any]] = json.loads(done.stdout)["throughput"]
    return rows


def _refused(printed: str) -> list[str]:
    """The variants whose runs tools/bench refused for their output alone: nothing failed besides,
    which the library would have logged."""
    try:
        told = json.loads(printed)
    except json.JSONDecodeError:
        return []  # it did not come to its end
    rows = [] if told["errors"] else told["throughput"]
    return list(dict.fromkeys(r["variant"] for r in rows if r["refused"]))
