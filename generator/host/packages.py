# SPDX-License-Identifier: BSD-2-Clause
"""Reads tools/packages.toml: the Debian packages that daedalus uses, and whether they are there."""

import subprocess
import tomllib
from dataclasses import dataclass

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root


@dataclass(frozen=True)
class Package:
    """An entry of the list, with what was found on this machine."""

    name: str
    purpose: str
    without: str
    verbs: tuple[str, ...]
    installed: str  # version of the Debian package; empty when it is not installed
    probed: str  # first line that the tool itself says; empty when it has no probe or is absent

    @property
    def found(self) -> bool:
        """Whether its purpose is served: installed, or the tool is there from elsewhere."""
        return bool(self.installed or self.probed)


def debian_architecture() -> str:
    """The machine's Debian architecture: amd64 or arm64."""
    arch = _first_line(["dpkg", "--print-architecture"])
    if arch not in ("amd64", "arm64"):
        raise UserError(
            f"this machine's Debian architecture is {arch or 'unknown'}; amd64 or arm64 is needed",
            "use a 64-bit Debian or a system derived from it",
            3,
        )
    return arch


def needed_packages() -> list[Package]:
    """The packages that this architecture needs, in the order of the list."""
    arch = debian_architecture()
    table = tomllib.loads((repo_root() / "tools" / "packages.toml").read_text())["package"]
    wanted = [p for p in table if arch in p.get("arch", [arch])]
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status} ${Version}\n"]
    listed = subprocess.run(
        [*query, *(p["name"] for p in wanted)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout
    versions = {}
    for line in listed.splitlines():
        name, status, version = [*line.split(" "), "", ""][:3]
        if status == "installed":
            versions[name] = version
    return [
        Package(
            p["name"],
            p["for"],
            p["without"],
            tuple(p["verbs"]),
            versions.get(p["name"], ""),
            _first_line(p["probe"]) if "probe" in p else "",
        )
        for p in wanted
    ]


def _first_line(argv: list[str]) -> str:
    try:
        done = subprocess.run(
            argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.splitlines()[0].strip() if done.stdout else ""
