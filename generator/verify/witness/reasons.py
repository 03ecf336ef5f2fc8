# SPDX-License-Identifier: BSD-2-Clause
"""Reads `tools/mutants.toml`: what no conformant item can tell from the original, and why."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root

NAME = "tools/mutants.toml"


@dataclass(frozen=True)
class Reason:
    """Of a kernel, something that cannot be told: (goal,) or (before, after); and why.

    variant  the only one that it is said of; "" where proofs say of which it is true
    proof    whether the solver proves it; `./daedalus witness --prove` lets it do so again
    """

    kernel: str
    what: tuple[str, ...]
    why: str
    variant: str = ""
    proof: bool = False

    def __str__(self) -> str:
        return f"{self.kernel}: {' -> '.join(self.what)}"


_FIELDS = {"unwitnessed": ("goal",), "equivalent": ("before", "after")}


@cache
def read(section: str, file: Path | None = None) -> tuple[Reason, ...]:
    """The entries of a section, "unwitnessed" or "equivalent"."""
    file = file or repo_root() / NAME
    fields = _FIELDS[section]
    found = []
    for n, entry in enumerate(tomllib.loads(file.read_text()).get(section, []), 1):
        proof = entry.pop("proof", False) is True and section == "unwitnessed"
        needed = {"kernel", *fields, "why", *([] if proof else ["variant"])}
        if set(entry) != needed or not entry["why"].strip():
            either = ", and variant or proof = true" if section == "unwitnessed" else ", variant"
            raise UserError(
                f"{file.name}: entry {n} of {section} needs kernel, {', '.join(fields)}, why"
                + either
            )
        what = tuple(entry[f] for f in fields)
        variant = entry.get("variant", "")
        found.append(Reason(entry["kernel"], what, entry["why"], variant, proof))
    return tuple(found)


def of(section: str, kernel: str, variant: str, *what: str) -> Reason | None:
    """The entry for something of a kernel's variant."""
    for r in read(section):
        if (r.kernel, r.what) == (kernel, what) and r.variant in ("", variant):
            return r
    return None
