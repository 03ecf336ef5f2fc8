# SPDX-License-Identifier: BSD-2-Clause
"""Khronos' validation layers between a program and a driver, synchronization included.

That they listen is shown by the line with which they begin. What they say for information, such as
that their cache is not there yet, is no complaint; errors and warnings are.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.devices.vulkan import GpuDevice
from daedalus.generator.host import fetch, native

_ORACLE = "vulkan-tools"
_ACTIVE = "Khronos Validation Layer Active"
_INFORMATION = "Validation Information: "
_MESSAGE = re.compile(r"(?m)^(?=Validation [\w ]+: )")


def validated(device: GpuDevice, log: Path) -> GpuDevice:
    """The device with the layers before it, which write to `log`.

    Only devices whose programs run with the libraries of the layers' suite can have them: lavapipe.
    """
    words = list(device.prefix)
    if "--library-path" not in words:
        raise UserError(
            f"the validation layers do not run on {device.name}", "name lavapipe-8 or lavapipe-16"
        )
    debian = native.debian_arch(device.arch)
    folder = fetch.ensure(_ORACLE, debian)
    triplet = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[debian]
    words[words.index("--library-path") + 1] += os.pathsep + str(folder / "usr" / "lib" / triplet)
    environment = {
        **device.environment,
        "VK_LAYER_PATH": str(folder / "usr/share/vulkan/explicit_layer.d"),
        "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation",
        "VK_KHRONOS_VALIDATION_LOG_FILENAME": str(log),
        "VK_KHRONOS_VALIDATION_REPORT_FLAGS": "error,warn,info",
        "VK_KHRONOS_VALIDATION_VALIDATE_SYNC": "true",
    }
    # The layers are of another suite: not all of the device comes from what `made_of` says.
    return replace(device, prefix=tuple(words), environment=environment, log=log, made_of=())


def complaints(log: Path) -> list[str]:
    """What the layers said of the last program; UserError where they did not listen."""
    text = log.read_text() if log.is_file() else ""
    if _ACTIVE not in text:
        raise UserError(
            "the validation layers did not listen", f"see {log} and the program", EXIT_FAILED
        )
    said = (m.strip() for m in _MESSAGE.split(text))
    return [m for m in said if m and not m.startswith(_INFORMATION)]
