# SPDX-License-Identifier: BSD-2-Clause
"""Builds dav1d as a static library, from the source package of tools/oracles.toml.

Debian ships dav1d as a shared library only, whose internal functions can be neither called nor
exchanged.  The build is release, 8 bits a sample, with assembly, and with the C functions that the
assembly replaces kept, as the oracle compares with both.  It is not link-time optimised: references
inside such an archive could not be wrapped.  Tests only; nothing of it is part of daedalus.
"""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.host import fetch, native

_OPTIONS = (
    "--default-library=static",
    "--buildtype=release",
    "--prefix=/",
    "--libdir=lib",
    "-Db_lto=false",
    "-Dbitdepths=8",
    "-Denable_asm=true",
    "-Denable_tests=false",
    "-Denable_tools=false",
    "-Dtrim_dsp=false",
)


def library(arch: str) -> Path:
    """Builds dav1d for a Debian architecture unless that is done; returns the folder it lies in.

    `arch` is "arm64" or, on such a machine, "amd64".  The folder holds lib/libdav1d.a and
    include/dav1d/.  It is built again when the source, an option or a tool is another one.
    """
    return _made(arch, build_dir() / "dav1d" / arch, _OPTIONS, _install)


def tests(arch: str) -> list[Path]:
    """Builds dav1d's own test program; returns its objects, without those of the library."""
    options = tuple(o.replace("enable_tests=false", "enable_tests=true") for o in _OPTIONS)
    folder = _made(arch, build_dir() / "checkasm" / "dav1d" / arch, options, _keep_tests)
    return sorted(folder.glob("*.o"))


def _install(work: Path, folder: Path) -> None:
    run(
        ["meson", "install", "-C", work, "--no-rebuild", "--destdir", folder],
        what="collecting dav1d's library and headers",
    )


def _keep_tests(work: Path, folder: Path) -> None:
    for old in folder.glob("*.o"):
        old.unlink()
    objects = sorted(p for p in (work / "tests").rglob("*") if p.suffix in (".o", ".obj"))
    own = [p for p in objects if "checkasm" in str(p.relative_to(work))]
    for number, path in enumerate(own):
        shutil.copy(path, folder / f"{number:03}_{path.stem}.o")


def _made(
    arch: str, folder: Path, options: tuple[str, ...], collect: Callable[[Path, Path], None]
) -> Path:
    """Builds it with these options unless that is done, and collects what is wanted of it."""
    if arch not in ("arm64", native.debian_arch("host")):
        raise UserError(f"dav1d is not built for {arch} on this machine", "arm64 is")
    build = "aarch64" if arch == "arm64" else "host"
    source = fetch.ensure("dav1d", fetch.SOURCE) / "dav1d"
    tools = [native.tool("meson"), native.tool("ninja"), native.compiler(build)]
    if arch == "amd64":
        tools.append(native.tool("nasm"))
    machine = _machine_file(native.compiler(build), native.is_cross(build))
    versions = [run([t, "--version"]).splitlines()[0] for t in tools]
    origin = [d.sha256 for d in fetch.fetched("dav1d", fetch.SOURCE) or []]
    made_of = repr((origin, str(source), options, machine, versions))
    key = hashlib.sha256(made_of.encode()).hexdigest()
    stamp = folder / "made-of"
    with native.alone(folder):
        if stamp.is_file() and stamp.read_text() == key:
            return folder
        say(f"building dav1d for {arch}")
        stamp.unlink(missing_ok=True)
        work = folder / "work"
        for old in (work, folder / "lib", folder / "include"):
            shutil.rmtree(old, ignore_errors=True)
        file = folder / "machine.ini"
        file.write_text(machine)
        kind = "--cross-file" if native.is_cross(build) else "--native-file"
        run(
            ["meson", "setup", work, source, kind, file, *options],
            what="configuring dav1d",
            log=folder / "configure.log",
        )
        targets = ["tests/checkasm"] if collect is _keep_tests else []
        run(
            ["ninja", "-C", work, "-j", native.JOBS, *targets],
            what="building dav1d",
            log=folder / "build.log",
        )
        collect(work, folder)
        shutil.rmtree(work)
        stamp.write_text(key)
    return folder


def _machine_file(compiler: str, cross: bool) -> str:
    """What meson has to know of the compiler, and of the processor when it is not this one's."""
    prefix = compiler.removesuffix("gcc")
    text = f"[binaries]\nc = '{compiler}'\nar = '{prefix}ar'\nstrip = '{prefix}strip'\n"
    if cross:
        text += (
            "[properties]\nneeds_exe_wrapper = true\n"
            "[host_machine]\n"
            "system = 'linux'\ncpu_family = 'aarch64'\ncpu = 'aarch64'\nendian = 'little'\n"
        )
    return text
