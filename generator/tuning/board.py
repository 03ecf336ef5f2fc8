# SPDX-License-Identifier: BSD-2-Clause
"""The fingerprint of the machine this runs on, as the measuring engine tells it.

The engine (runtime/tune/fingerprint.c) is the one that looks at a machine: whatever is recorded of
it, by the engine or by Python, is recorded under what the engine says. Only modelled results have
a fingerprint that is made in Python (`fingerprint.of_model`), of no machine.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.compile.registry import load
from daedalus.generator.devices import drm
from daedalus.generator.devices import vulkan as devices
from daedalus.generator.devices.vulkan import GpuDevice
from daedalus.generator.measure.gpu import bench_data
from daedalus.generator.tuning import kit
from daedalus.generator.tuning.engine_device import told
from daedalus.generator.tuning.fingerprint import NONE, Fingerprint

_HERE = GpuDevice("here", "host")


def of_board(device: str = "", build: Callable[[str], Path] | None = None) -> Fingerprint:
    """That of this machine; its driver is the one of a GPU's device, by `check`'s name.

    "": what the runtime takes by itself. `build` gives the engine for an architecture, None:
    builds it where it is not built. Raises UserError for a device that is not here.
    """
    build = build or kit.build_program
    place = _place(device, build)
    program = build(place.arch)
    with tempfile.TemporaryDirectory(prefix="daedalus-board-") as folder:
        items = Path(folder, "items")  # the engine wants some, of any kernel
        bench_data.write(items, [(load()[0].kernel, frozenset())], 1, 1)
        words = [*place.prefix, str(program), "--points", "-", "--data", str(items), "--journal"]
        found = told(lambda path: [*words, str(path)], {**os.environ, **place.environment})
    if device and found.driver == NONE:
        raise UserError(
            f"{device}: no driver of such a device was found on this machine",
            "docs/vulkan-checking.md names devices", EXIT_MISSING,
        )  # fmt: skip
    return found


def _place(device: str, build: Callable[[str], Path]) -> GpuDevice:
    if not device:
        return _HERE
    if device in drm.DEVICES:
        found = drm.device(device, build)
    else:
        here, skips = devices.find([device], build)
        found = here[0] if here else skips[0]
    if not isinstance(found, GpuDevice):
        raise UserError(f"{device}: {found.reason}", exit_code=EXIT_MISSING)
    return found
