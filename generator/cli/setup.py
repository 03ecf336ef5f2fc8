# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus setup`: fetches what the packages of Debian's suite of this machine do not give."""

from pathlib import Path

import click

from daedalus.codecs.oracles import sources
from daedalus.generator.base.console import tell
from daedalus.generator.base.progress import progress
from daedalus.generator.host import fetch
from daedalus.generator.host.packages import debian_architecture
from daedalus.v3d import driver, tools


@click.command(name="setup")
@click.option("--oracles", is_flag=True, help="Only the decoders to compare with, and the ssh "
              "server of tests.")  # fmt: skip
@click.option("--simde", is_flag=True, help="Only the SIMDe headers.")
@click.option("--v3dv", is_flag=True, help="Only what runs arm64 Vulkan programs on the simulated "
              "device of a Pi 5: Debian's driver; and lavapipe to compare with.")  # fmt: skip
@click.option("--native", is_flag=True, help="Only what runs Vulkan programs for this machine on "
              "it: the same driver, built from Debian's source.")  # fmt: skip
@click.option("--force", is_flag=True, help="Make .venv anew and fetch everything again.")
def command(oracles: bool, simde: bool, v3dv: bool, native: bool, force: bool) -> None:
    """Sets this checkout up: Debian packages, .venv, decoders to compare with, SIMDe, v3dv.

    The ./daedalus launcher has installed the packages and made .venv by the time this runs; every
    other verb does the same for what it needs itself, so setup is for doing it all beforehand.
    Those decoders and Mesa's Vulkan driver v3dv are used by tests only, and nothing that is
    fetched is installed.  The simulated device is built along with a driver.  --native takes
    minutes, and is done when asked for only; with --v3dv or --native alone, the Debian packages are
    those that running programs on the simulated device needs.
    """
    everything = not (oracles or simde or v3dv or native)
    wanted: list[tuple[str, str]] = []
    if oracles or everything:
        # On arm64 the archives of the machine itself are all there is to run.
        own = debian_architecture()
        wanted += sources(own)
        wanted.append(("sshd", own))
    if simde or everything:
        wanted.append(("simde", "all"))
    if v3dv or everything:
        own = debian_architecture()
        wanted += [("lavapipe", own), ("vulkan-tools", "arm64"), ("vulkan-tools", own)]
        wanted.append(("python", own))
    for name, arch in dict.fromkeys(wanted):
        place = fetch.ensure(name, arch, force=force)
        _tell(f"{name} {arch}", fetch.versions(name, arch), place)
    if v3dv or everything:
        stock = driver.arm64(force=force)
        _tell("v3dv arm64", fetch.versions("v3dv", "arm64"), stock.folder)
        _device("aarch64")
    if native:
        built = driver.build_native(force=force)
        version = fetch.versions("mesa", fetch.SOURCE)
        _tell(f"v3dv {debian_architecture()}", f"{version}, built here", built.folder)
        _device("host")


def _device(arch: str) -> None:
    """Builds the simulated device and the library that programs of `arch` preload."""
    with progress():
        tools.device()
        tools.preload(arch)


def _tell(what: str, version: str, place: Path) -> None:
    tell(f"{what}: {version} in {place}")
