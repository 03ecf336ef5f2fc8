# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus setup`: fetches what the packages of Debian's suite of this machine do not give."""

import click

from daedalus.generator import fetch
from daedalus.generator.cli.common import console
from daedalus.generator.packages import debian_architecture


@click.command(name="setup")
@click.option("--oracles", is_flag=True, help="Only FFmpeg's static archives and dav1d.")
@click.option("--simde", is_flag=True, help="Only the SIMDe headers.")
@click.option("--force", is_flag=True, help="Make .venv anew and fetch everything again.")
def command(oracles: bool, simde: bool, force: bool) -> None:
    """Sets this checkout up: Debian packages, .venv, FFmpeg's archives, dav1d, SIMDe.

    The ./daedalus launcher has installed the packages and made .venv by the time this runs; every
    other verb does the same for what it needs itself, so setup is for doing it all beforehand.
    FFmpeg's archives and dav1d are used by tests only, and nothing that is fetched is installed.
    """
    everything = not oracles and not simde
    wanted: list[tuple[str, str]] = []
    if oracles or everything:
        # On arm64 the archives of the machine itself are all there is to run.
        own = debian_architecture()
        wanted += [("ffmpeg", "arm64"), ("ffmpeg", own), ("dav1d", fetch.SOURCE)]
    if simde or everything:
        wanted.append(("simde", "all"))
    for name, arch in dict.fromkeys(wanted):
        place = fetch.ensure(name, arch, force=force)
        versions = sorted({d.version for d in fetch.fetched(name, arch) or []})
        console.print(f"{name} {arch}: {', '.join(versions)} in {place}", soft_wrap=True)
