# SPDX-License-Identifier: BSD-2-Clause
"""What a result holds for: the machine, its drivers and clocks, the compiler and the generator.

Results under two fingerprints are never taken for one another's. Of a machine the engine that
measures there tells it (docs/tuning-engine.md), and nobody else: Python asks it (board.py). Of
modelled results it is made here. This is the one statement of what the parts are and how the id
follows from them.
"""

import json
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
