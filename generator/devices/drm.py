# SPDX-License-Identifier: BSD-2-Clause
"""The devices that the runtime's route through DRM leads to.

drm-simulated   the simulated device, strict: code that breaks a rule of the hardware fails
drm             this machine's V3D 7.1
"""

import grp
import os
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.devices.vulkan import PATIENT, GpuDevice, Program, Skip
from daedalus.v3d import tools

SIMULATED, NATIVE = "drm-simulated", "drm"
DEVICES = (SIMULATED, NATIVE)

_DRIVERS = "/sys/class/drm/renderD*/device/driver"
_NODES = Path("/dev/dri")
_GROUP = 0o060  # of a mode: read and written by the group


def environment(simulated: bool) -> dict[str, str]:
    """What makes the runtime take this route.

    The simulator takes longer than the time by which the runtime tells that a job was reset.
    """
    route = {"DAEDALUS_QPU_ROUTE": "drm"}
    slow = {"DAEDALUS_DRM_RESET_MS": "0", **PATIENT}
    return {**route, **slow} if simulated else route


def device(name: str, program: Program) -> GpuDevice | Skip:
    """A device by its name; `program` builds what will run on it."""
    if name == SIMULATED:
        words, more = tools.on_device([str(program("host"))], strict=True, check_jobs=True)
        simulated = {**more, **environment(True)}
        return GpuDevice(name, "host", tuple(words[:-1]), simulated, simulated=True)
    if name != NATIVE:
        raise UserError(f"no device {name}", f"devices are {', '.join(DEVICES)}")
    drivers = sorted(Path("/").glob(_DRIVERS.removeprefix("/")))
    nodes = [_NODES / p.parents[1].name for p in drivers if p.resolve().name == "v3d"]
    if not nodes:
        return Skip(name, "no render node of this machine has the driver v3d")
    if not any(os.access(node, os.R_OK | os.W_OK) for node in nodes):
        return Skip(name, "; and ".join(map(_refusal, nodes)))
    return GpuDevice(name, "host", (), environment(False))


def _refusal(node: Path) -> str:
    """Why a node may not be opened, as runtime/gpu/drm/node.c says it."""
    try:
        status = node.stat()
    except OSError as e:
        return f"{node} cannot be opened: {e.strerror}"
    if status.st_mode & _GROUP != _GROUP:
        return (
            f"{node} may not be opened: its mode {status.st_mode & 0o777:03o} is for no group;"
            " udev makes it 660, of the group render"
        )
    try:
        group = grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        return f"{node} may not be opened: it is for the group of number {status.st_gid}"
    return (
        f"{node} may not be opened: it is for the group {group};"
        f" sudo usermod -aG {group} $USER, and log in again"
    )
