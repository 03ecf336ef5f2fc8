# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus doctor`: what is there, in which version, and what each absence costs."""

import json
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from daedalus import __version__
from daedalus.generator.base.errors import EXIT_MISSING
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.tables import print_table
from daedalus.generator.host import fetch, native
from daedalus.generator.host.packages import debian_architecture, needed_packages
from daedalus.v3d import driver


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for."""

    name: str
    kind: str  # "package", "oracle", "driver"
    found: bool
    version: str
    purpose: str
    without: str
    mend: str  # the command that provides it


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(as_json: bool) -> None:
    """Says what is installed, fetched and built, in which versions, and what each absence costs.

    Exit code 3 when a Debian package is missing; what is fetched or built when it is wanted is not
    missing.
    """
    machine = _machine()
    findings = [*_packages(), *_oracles(), _native_driver()]
    if as_json:
        data = {"machine": machine, "found": [vars(f) for f in findings]}
        print(json.dumps(data, indent=2))
    else:
        _print(machine, findings)
    if any(f.kind == "package" and not f.found for f in findings):
        sys.exit(EXIT_MISSING)


def _machine() -> dict[str, str]:
    return {
        "daedalus": __version__,
        "checkout": str(repo_root()),
        "system": _system(),
        "architecture": debian_architecture(),
        "processors": str(os.cpu_count() or 1),
        "python": platform.python_version(),
        "neon": "native" if platform.machine() == "aarch64" else "emulated: qemu-aarch64, SIMDe",
    }


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")
    except OSError:
        return "unknown"


def _packages() -> list[Finding]:
    return [
        Finding(
            p.name,
            "package",
            p.found,
            p.installed or p.probed,
            p.purpose,
            p.without,
            f"apt-get install {p.name}, or ./daedalus setup",
        )
        for p in needed_packages()
    ]


def _oracles() -> list[Finding]:
    findings = []
    for oracle in fetch.oracles().values():
        for arch in oracle.architectures:
            foreign = () if oracle.own else ("all", fetch.SOURCE, "arm64")
            if arch not in (*foreign, debian_architecture()):
                continue
            debs = fetch.fetched(oracle.name, arch)
            remark = "" if all(fetch.known(d) for d in debs or []) else " (not tried before)"
            findings.append(
                Finding(
                    f"{oracle.name} {arch}",
                    "oracle",
                    debs is not None,
                    fetch.versions(oracle.name, arch) + remark,
                    oracle.purpose,
                    oracle.without,
                    f"./daedalus setup --{oracle.setup}"
                    + ("" if oracle.setup == "native" else ", or the first use"),
                )
            )
    return findings


def _native_driver() -> Finding:
    """The v3dv that is built from the source package; Debian's arm64 one is among the oracles."""
    name = f"v3dv {debian_architecture()}"
    without = "programs for this machine have no Vulkan on the simulated device, arm64 ones do"
    if native.is_arm():
        name += ", built here"
        without = "Debian's own binary is taken, with the libraries of this machine"
    own = driver.built()
    return Finding(
        name,
        "driver",
        own is not None,
        fetch.versions("mesa", fetch.SOURCE) if own else "",
        "the same driver, built for this machine, run on the simulated device",
        without,
        "./daedalus setup --native, which takes minutes",
    )


def _print(machine: dict[str, str], findings: list[Finding]) -> None:
    for key, value in machine.items():
        print(f"{key + ':':14}{value}")
    print()
    rows = [(f.name, f.version if f.found else _absent(f), f.purpose) for f in findings]
    print_table(("what", "version", "for"), rows)
    print()
    for f in findings:
        if not f.found:
            print(f"without {f.name}: {f.without}; mend with: {f.mend}")
    built = sorted(p.parent.name for p in Path(repo_root(), "build").glob("*/libdaedalus.a"))
    print(f"libraries built: {', '.join(built) or 'none'}")


def _absent(finding: Finding) -> str:
    return {"oracle": "not fetched yet", "driver": "not built yet"}.get(finding.kind, "MISSING")
