# SPDX-License-Identifier: BSD-2-Clause
"""Which scheduler this is: the hash of what decides what a search finds for given programs."""

import hashlib
import re
from functools import cache
from pathlib import Path

from daedalus.generator.targets.qpu import machine

_FIRST = "best"
_IMPORT = re.compile(r"^from daedalus\.generator\.targets\.qpu(?:\.(\w+))? import (.*)$", re.M)


@cache
def scheduler() -> str:
    """Of the modules that schedule, and of the machine as the toolkit describes it."""
    digest = hashlib.sha256(machine.told().encode())
    for name, text in sorted(modules().items()):
        digest.update(f"{name}\0{text}".encode())
    return digest.hexdigest()[:16]


def modules() -> dict[str, str]:
    """Those of this folder that a search runs, with their text: `best`, and what it imports."""
    found: dict[str, str] = {}
    left = {_FIRST}
    while left:
        name = left.pop()
        found[name] = Path(__file__).with_name(f"{name}.py").read_text()
        for module, names in _IMPORT.findall(found[name]):
            left |= {module} if module else set(re.findall(r"\w+", names))
        left -= set(found)
    return found
