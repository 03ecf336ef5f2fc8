# SPDX-License-Identifier: BSD-2-Clause
"""The C programs of v3d: building them, and running others on the simulated device."""

import os
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.progress import say
from daedalus.generator.host import native
from daedalus.v3d import driver

_ELF_MACHINES = {62: "x86-64", 183: "aarch64"}


def _toolkit(target: str, arch: str = "host", *, sanitize: bool = False) -> Path:
    """Builds a target of v3d by itself: `gen` needs it, and what lies in generated/ may be
    anything then."""
    kind = "-sanitize" if sanitize else ""
    return native.build_library(
        arch, sanitize, targets=(target,), source="v3d", folder=f"toolkit/{arch}{kind}"
    )


def program() -> Path:
    """Builds daedalus-v3d (assembler, disassembler, validator) unless it is there."""
    return _toolkit("daedalus-v3d") / "command/daedalus-v3d"


def simulator(*, sanitize: bool = False) -> Path:
    """Builds the library, simulator included, unless it is there."""
    return _toolkit("daedalus_v3d", sanitize=sanitize) / "libdaedalus_v3d.a"


def timing_programs() -> Path:
    """The programs that stand for published measurements."""
    return repo_root() / "v3d" / "tools" / "timing" / "programs"


def device() -> Path:
    """Builds daedalus-v3d-device, which simulates the device, unless it is there."""
    folder = _toolkit("daedalus-v3d-device")
    return folder / "device/daedalus-v3d-device"


def preload(arch: str) -> Path:
    """Builds the library that gives programs the device; `arch` as in native.py."""
    folder = _toolkit("daedalus-v3d-preload", arch)
    return folder / "device/libdaedalus-v3d-preload.so"


def machine_of(path: Path) -> str:
    """The processor that a program is for: "x86-64", "aarch64", or "" where it is no ELF file.

    A script is what its interpreter is, which is a program of this machine.
    """
    with path.open("rb") as f:
        header = f.read(20)
    if len(header) < 20 or header[:4] != b"\x7fELF" or header[5] != 1:
        return ""
    return _ELF_MACHINES.get(struct.unpack_from("<H", header, 18)[0], "another processor")


def on_device(
    argv: Sequence[str],
    *,
    profile: Path | None = None,
    strict: bool = False,
    trace: Path | None = None,
    jobs: Path | None = None,
    memory: int | None = None,
    page_kib: int | None = None,
    faults: Sequence[str] = (),
    check_jobs: bool = False,
    timed: bool = False,
    intervals: bool = False,
    no_stretch: bool = False,
) -> tuple[list[str], dict[str, str]]:
    """What to run, and with which additions to the environment, for argv to have the device.

    jobs        a file to which it appends a line of JSON for each job
    memory      what the device has, in MiB
    page_kib    size of its pages, which the program is told, too
    faults      that the device has, as docs/v3d-faults.md describes them
    check_jobs  exit status 1 when a job failed, or a fault never struck, and the program says 0
    timed       jobs are timed by the timing model, and timestamps show modelled time
    intervals   the same, by the alternatives to its settings as well
    no_stretch  waits of a timed device give up by the host's clock, not by modelled time
    """
    found = shutil.which(argv[0])
    if found is None:
        if Path(argv[0]).exists():
            raise UserError(f"{argv[0]} is not executable", "name a program, or make it one")
        raise UserError(f"there is no program {argv[0]}", "name a file, or a program of the PATH")
    machine = machine_of(Path(found))
    foreign = machine == "aarch64" and not native.is_arm()
    if machine == "another processor" or (machine == "x86-64" and native.is_arm()):
        raise UserError(f"{found} is for {machine}", "it cannot run here")
    words = [str(device())]
    values = {"profile": profile, "trace": trace, "jobs": jobs, "memory": memory,
              "page-size": page_kib}  # fmt: skip
    flags = {"strict": strict, "timed": timed, "intervals": intervals,
             "no-stretch": no_stretch, "check-jobs": check_jobs}  # fmt: skip
    given = [(n, v) for n, v in values.items() if v is not None] + [("fault", f) for f in faults]
    words += [word for name, value in given for word in (f"--{name}", str(value))]
    words += [f"--{name}" for name, on in flags.items() if on]
    words += ["--preload", str(preload("aarch64" if foreign else "host"))]
    environment = {}
    if foreign:
        stock = driver.arm64()
        environment["VK_ICD_FILENAMES"] = str(stock.icd)
        words += ["--qemu", native.tool("qemu-aarch64"), "--sysroot", str(stock.folder)]
    elif (own := driver.built()) is not None:
        environment["VK_ICD_FILENAMES"] = str(own.icd)
    elif native.is_arm():
        # Debian's binary is for this processor; its libraries must be of this machine's suite.
        environment["VK_ICD_FILENAMES"] = str(driver.arm64().icd)
    elif not {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"} & os.environ.keys():
        say("no Vulkan driver is built for this machine's programs: setup --native")
        environment["VK_ICD_FILENAMES"] = str(driver.no_driver())
    return [*words, "--run", "--", found, *argv[1:]], environment
