# SPDX-License-Identifier: BSD-2-Clause
"""Reads `tools/mutants.toml`: what no conformant item can tell from the original, and why."""

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root

NAME = "tools/mutants.toml"


@dataclass(frozen=True)
class Reason:
    """Of a kernel, a goal or a mutant that cannot be told, and why.

    kernel   its id, or a pattern of those of a family
    variant  the only one that it is said of, or a pattern of those of a family; "" where proofs say
             of which it is true
    proof    whether the solver proves it; `./daedalus witness --prove` lets it do so again
    """

    kernel: str
    goal: str
    why: str
    variant: str = ""
    proof: bool = False

    def about(self, kernel: str) -> bool:
        """Whether it is said of a kernel."""
        return fnmatchcase(kernel, self.kernel)

    def __str__(self) -> str:
        return f"{self.kernel}: {self.goal}"


@cache
def read(file: Path | None = None) -> tuple[Reason, ...]:
    """The entries."""
    file = file or repo_root() / NAME
    found = []
    for n, entry in enumerate(tomllib.loads(file.read_text()).get("unwitnessed", []), 1):
        proof = entry.get("proof") is True
        needed = {"kernel", "goal", "why", "proof" if proof else "variant"}
        if set(entry) != needed or not entry["why"].strip():
            raise UserError(
                f"{file.name}: entry {n} needs kernel, goal, why, and variant or proof = true"
            )
        found.append(Reason(**entry))
    return tuple(found)


def of(kernel: str, variant: str, goal: str) -> Reason | None:
    """The entry for something of a kernel's variant."""
    for r in read():
        if r.about(kernel) and r.goal == goal and fnmatchcase(variant, r.variant or "*"):
            return r
    return None
