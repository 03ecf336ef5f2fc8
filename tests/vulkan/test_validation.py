# SPDX-License-Identifier: BSD-2-Clause
"""What the runtime asks of Vulkan is allowed: the validation layers have nothing to say."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from daedalus.generator import crosscheck, fetch
from daedalus.generator.crosscheck import Device
from daedalus.generator.emit import entry_variants
from daedalus.generator.packages import debian_architecture
from daedalus.generator.registry import find, load
from daedalus.generator.v3d import vkrun
from daedalus.generator.vulkan import check, devices

_LAYER = "VK_LAYER_KHRONOS_validation"
_TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}


def _under_layers(device: devices.GpuDevice, log: Path, flags: str) -> devices.GpuDevice:
    """The device, and before it the layers, which write what they find to the file `log`.

    Both are of the same Debian suite; the layers' libraries are added to those of the device.
    """
    architecture = debian_architecture()
    folder = fetch.ensure("vulkan-tools", architecture)
    loader, option, path = device.prefix
    libraries = folder / "usr" / "lib" / _TRIPLETS[architecture]
    return replace(
        device,
        prefix=(loader, option, f"{libraries}:{path}"),
        environment={
            **device.environment,
            "VK_LAYER_PATH": str(folder / "usr/share/vulkan/explicit_layer.d"),
            "VK_INSTANCE_LAYERS": _LAYER,
            "VK_KHRONOS_VALIDATION_VALIDATE_SYNC": "true",
            "VK_KHRONOS_VALIDATION_REPORT_FLAGS": flags,
            "VK_KHRONOS_VALIDATION_LOG_FILENAME": str(log),
        },
    )


@pytest.mark.slow
def test_the_layers_are_silent(tmp_path: Path) -> None:
    """Copied memory and memory in place, several classes, several submissions in a row."""
    program = partial(crosscheck.program, loads=True)
    vkrun.lavapipe()  # fetches it
    (plain,), skips = devices.find(["lavapipe-8"], program)
    assert not skips
    entry = find(load(), "vp9_idct8")
    assert entry is not None
    variants = [v for v in entry_variants(entry) if v.is_gpu]
    aligns = [(1,) * len(entry.kernel.buffers), *map(check.alignment, variants)]
    batches = check.prepare(entry.kernel, aligns, 64, 1)
    every = [b for some in batches.values() for b in some]
    exe = program(plain.arch)

    def run(gpu: devices.GpuDevice) -> None:
        device = Device(gpu.name, "glsl", gpu.arch, gpu)
        found = check.check_kernel(
            entry.kernel, variants, device, exe, lambda align, _: batches[align], 1
        )
        for outcome in [*found, check.check_dispatch(entry.kernel, device, exe, every, 1)]:
            assert outcome.failures == []

    heard = tmp_path / "heard"
    run(_under_layers(plain, heard, "error,warn,info"))
    assert "nformation" in heard.read_text(), "the layers were not there at all"
    said = tmp_path / "said"
    run(_under_layers(plain, said, "error,warn"))
    assert not said.exists() or said.read_text() == ""
