# SPDX-License-Identifier: BSD-2-Clause
"""The Vulkan devices that programs of the runtime can be run on here.

lavapipe-8, lavapipe-16   Mesa's driver for the processor, with subgroups of that size
v3dv-native, v3dv-arm64   Mesa's driver for a Raspberry Pi 5 on the simulated device: built for this
                          machine, and as Debian ships it for arm64
gpu-N                     the machine's own devices, N as the runtime counts them; no rasterisers

What is absent is a Skip with its reason, never silently left out.
"""

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.host import fetch
from daedalus.generator.host.packages import debian_architecture
from daedalus.v3d import driver, tools, vkrun

LAVAPIPE = {"lavapipe-8": 256, "lavapipe-16": 512}  # bits of a vector
V3DV = {"v3dv-native": "host", "v3dv-arm64": "aarch64"}
GROUPS = {"lavapipe": tuple(LAVAPIPE), "v3dv": tuple(V3DV)}
FETCHED, MADE = ("lavapipe-8",), ("v3dv-native",)
DEFAULT = (*FETCHED, *MADE)  # what `check` takes where it is not told

Program = Callable[[str], Path]  # builds a program for an architecture of native.py


# Simulated jobs take longer than the time after which the runtime calls a GPU hanging.
PATIENT = {"DAEDALUS_QPU_TIMEOUT_MS": "600000"}


@dataclass(frozen=True)
class GpuDevice:
    """A way to run a program that uses the runtime.

    arch         what the program is built for, as in native.py
    prefix       what stands before it on the command line
    environment  what is added to the environment
    simulated    whether standard error ends with what the simulated device says of its jobs
    log          the file that validation layers write to; None: there are none
    made_of      the hashes of the packages that all of it comes from; empty: it comes from others
    """

    name: str
    arch: str
    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False
    log: Path | None = None
    made_of: tuple[str, ...] = ()

    def run(
        self, words: Sequence[str | Path], *, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program built for `arch` on the device."""
        return subprocess.run(
            [*self.prefix, *(str(w) for w in words)],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **self.environment},
            timeout=timeout,
        )


@dataclass(frozen=True)
class Skip:
    """A device, or what else is asked for, that is not here."""

    name: str
    reason: str


def find(names: Iterable[str], program: Program) -> tuple[list[GpuDevice], list[Skip]]:
    """The devices of these names; "all" and the names of groups stand for several.

    `program` builds what will run on them; for the machine's own devices it is asked for their
    list, with the argument --devices.
    """
    devices: list[GpuDevice] = []
    skips: list[Skip] = []
    for name in spelled_out(names):
        found = _own(program) if name == "gpu" else _one(name, program)
        for one in found:
            (devices if isinstance(one, GpuDevice) else skips).append(one)  # type: ignore[arg-type]
    return devices, skips


def spelled_out(names: Iterable[str]) -> list[str]:
    """The names without groups. Raises UserError for one that is no device's."""
    known = [*LAVAPIPE, *V3DV, "gpu"]
    out: list[str] = []
    for name in names:
        if name == "all":
            out += known
        elif name in GROUPS:
            out += GROUPS[name]
        elif name in known or (name.startswith("gpu-") and name[4:].isdigit()):
            out.append(name)
        else:
            raise UserError(
                f"no device {name}",
                f"devices are {', '.join(known)} (all of the machine's own), gpu-N,"
                f" {', '.join(GROUPS)} and all",
            )
    return list(dict.fromkeys(out))


def _one(name: str, program: Program) -> list[GpuDevice | Skip]:
    if name in LAVAPIPE:
        return [_lavapipe(name)]
    if name in V3DV:
        return [_v3dv(name, program)]
    number = name.removeprefix("gpu-")
    return [GpuDevice(name, "host", (), environment_of(f"#{number}"))]


def environment_of(choice: str) -> dict[str, str]:
    """What makes the runtime take a device, and keep its pipelines below build."""
    return {
        "DAEDALUS_VULKAN_DEVICE": choice,
        "XDG_CACHE_HOME": str(build_dir() / "vulkan" / "cache"),
        "MESA_SHADER_CACHE_DIR": str(build_dir() / "vulkan" / "cache"),
    }


def _lavapipe(name: str) -> GpuDevice | Skip:
    packages = fetch.fetched("lavapipe", debian_architecture())
    if packages is None:
        return Skip(name, "lavapipe is not fetched: ./daedalus setup --v3dv")
    device = vkrun.lavapipe(LAVAPIPE[name])
    environment = {**device.environment, **environment_of("llvmpipe")}
    made_of = tuple(d.sha256 for d in packages)
    return GpuDevice(name, "host", device.prefix, environment, made_of=made_of)


def _v3dv(name: str, program: Program) -> GpuDevice | Skip:
    arch = V3DV[name]
    if arch == "host" and driver.built() is None:
        return Skip(name, "v3dv is not built for this machine: ./daedalus setup --native")
    if arch == "aarch64" and fetch.fetched("v3dv", "arm64") is None:
        return Skip(name, "Debian's v3dv is not fetched: ./daedalus setup --v3dv")
    words, environment = tools.on_device([str(program(arch))])
    return GpuDevice(
        name,
        arch,
        tuple(words[:-1]),
        {**environment, **environment_of("v3d"), **PATIENT},
        simulated=True,
    )


def _own(program: Program) -> list[GpuDevice | Skip]:
    """The machine's own devices, but for rasterisers on the processor."""
    done = subprocess.run([program("host"), "--devices"], capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        return [Skip("gpu", f"the machine's devices could not be listed: {said}")]
    found: list[GpuDevice | Skip] = []
    for line in done.stdout.splitlines():
        number, kind, _, _, _ = line.split("\t")
        if kind != "cpu":
            found.append(GpuDevice(f"gpu-{number}", "host", (), environment_of(f"#{number}")))
    return found or [Skip("gpu", "this machine has no GPU with a Vulkan driver")]


def described(device: GpuDevice, program: Path) -> str:
    """The device's name, driver and version, as the runtime tells them."""
    done = device.run([program, "--devices"])
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    choice = device.environment["DAEDALUS_VULKAN_DEVICE"]
    for number, _, subgroup, name, drv in lines:
        if choice in (f"#{number}", "none") or choice.casefold() in f"{name} {drv}".casefold():
            return f"{name}, {drv}, subgroup {subgroup}"
    return device.name
