# SPDX-License-Identifier: BSD-2-Clause
"""What a result holds for: the machine, its drivers and clocks, the compiler and the generator.

Results under two fingerprints are never taken for one another's. The engine on a board writes its
own (docs/tuning-engine.md); this is the one statement of what the parts are and how the id follows
from them.
"""

import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

NONE = "-"  # a part that says nothing here
MODEL = "model of "  # how the soc of a modelled fingerprint begins


def fnv64(data: bytes) -> str:
    """FNV-1a of 64 bits, as 16 lower-case hex digits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


@dataclass(frozen=True)
class Fingerprint:
    """The parts, one line of text each; "-" for one that says nothing.

    soc        the chip, or "model of " and the chip that is modelled
    revision   the board's
    kernel     of the operating system, with its version
    driver     of the GPU; of a model, what its timing profiles hash to
    compiler   of the CPU code, with versions; of a model, what modelled it as well
    generator  hash of the generated code: `generator` of generated/manifest.json
    clocks     governor and frequencies
    """

    soc: str
    revision: str
    kernel: str
    driver: str
    compiler: str
    generator: str
    clocks: str

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value or not value.isprintable():
                raise ValueError(f'{name} is {value!r}: it is one line of text, "-" for none')

    @property
    def id(self) -> str:
        """16 hex digits that differ where any part does."""
        return fnv64("".join(f"{n}={v}\n" for n, v in vars(self).items()).encode())

    @property
    def modelled(self) -> bool:
        return self.soc.startswith(MODEL)

    def words(self) -> str:
        """It in a line, for people."""
        revision = f"revision {self.revision}" if self.revision != NONE else NONE
        parts = (self.soc, revision, self.kernel, self.driver, self.clocks)
        return ", ".join(p for p in parts if p != NONE)


def generator_hash(root: Path) -> str:
    """`generator` of the manifest in a checkout's generated/."""
    found = json.loads((root / "generated" / "manifest.json").read_text(encoding="utf-8"))
    return str(found["generator"])


def of_model(chip: str, driver: str, compiler: str, generator: str) -> Fingerprint:
    """That of results which are modelled: nothing of the machine that models is in it."""
    return Fingerprint(MODEL + chip, NONE, NONE, driver, compiler, generator, NONE)


def of_host(generator: str, driver: str = NONE, compiler: str = NONE) -> Fingerprint:
    """That of the machine this runs on. `compiler`: what compiles, NONE: gcc's or cc's version."""
    if compiler == NONE:
        compiler = _compiler()
    release = f"{platform.system()} {platform.release()}"
    return Fingerprint(_soc(), _revision(), release, driver, compiler, generator, _clocks())


def _line(text: str) -> str:
    """Text from outside as a part: one printable line."""
    kept = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(kept.split()) or NONE


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").rstrip("\0\n")
    except OSError:
        return ""


def _cpu_info(name: str) -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _soc() -> str:
    board = _read("/proc/device-tree/model")
    return _line(board or _cpu_info("model name") or platform.machine())


def _revision() -> str:
    return _line(_cpu_info("Revision"))


def _compiler() -> str:
    found = shutil.which("gcc") or shutil.which("cc")
    if not found:
        return NONE
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    return _line((told.stdout.splitlines() or [""])[0])


def _clocks() -> str:
    """The governor and the highest frequency of the cores, in the order of the cores, each once."""
    base = "/sys/devices/system/cpu"
    parts: list[str] = []
    for n in range(os.cpu_count() or 1):
        folder = f"{base}/cpu{n}/cpufreq"
        governor, top = _read(f"{folder}/scaling_governor"), _read(f"{folder}/cpuinfo_max_freq")
        text = f"{governor} {top} kHz" if governor and top else ""
        if text and text not in parts:
            parts.append(text)
    return _line(", ".join(parts))
