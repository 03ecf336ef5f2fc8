# SPDX-License-Identifier: BSD-2-Clause
"""The devices that the runtime's route through DRM leads to.

drm-simulated   the simulated device, strict: code that breaks a rule of the hardware fails
drm             this machine's V3D 7.1
"""

from pathlib import Path

from daedalus.generator.cli.common import UserError
from daedalus.generator.v3d import tools
from daedalus.generator.vulkan.devices import GpuDevice, Program, Skip

SIMULATED, NATIVE = "drm-simulated", "drm"
DEVICES = (SIMULATED, NATIVE)

_DRIVERS = "/sys/class/drm/renderD*/device/driver"


def environment(simulated: bool) -> dict[str, str]:
    """What makes the runtime take this route.

    The simulator takes longer than the time by which the runtime tells that a job was reset.
    """
    route = {"DAEDALUS_QPU_ROUTE": "drm"}
    slow = {"DAEDALUS_DRM_RESET_MS": "0", "DAEDALUS_QPU_TIMEOUT_MS": "600000"}
    return {**route, **slow} if simulated else route


def device(name: str, program: Program) -> GpuDevice | Skip:
    """A device by its name; `program` builds what will run on it."""
    if name == SIMULATED:
        words, more = tools.on_device([str(program("host"))], strict=True, check_jobs=True)
        simulated = {**more, **environment(True)}
        return GpuDevice(name, "host", tuple(words[:-1]), simulated, simulated=True)
    if name != NATIVE:
        raise UserError(f"no device {name}", f"devices are {', '.join(DEVICES)}")
    if not any(p.resolve().name == "v3d" for p in Path("/").glob(_DRIVERS.removeprefix("/"))):
        return Skip(name, "no render node of this machine has the driver v3d")
    return GpuDevice(name, "host", (), environment(False))
