# SPDX-License-Identifier: BSD-2-Clause
"""C for this machine and for arm64: building the library, compiling the tools, running them.

Builds lie in build/<arch>, where arch is "host" (this machine), "aarch64" (the Pi's processor;
the same as "host" on an arm64 machine), "portable" (this machine, without NEON) or "simde" (this
machine, NEON variants through SIMDe).
"""

import fcntl
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.host import fetch

ARCHITECTURES = ("host", "aarch64", "portable", "simde")
CPU = "cortex-a76"
CLANG = "clang-19"  # also in cmake/toolchain-aarch64-clang.cmake
CLANG_CPU = "neoverse-n1"  # the same core; for "cortex-a76" this clang schedules as for the A57
JOBS = "2" if (os.cpu_count() or 1) < 4 else str(os.cpu_count())
_PACKAGES = Path("/var/lib/dpkg/status")  # written when Debian installs or removes one
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-g")


def is_arm() -> bool:
    """Whether this machine runs arm64 programs itself."""
    return platform.machine() in ("aarch64", "arm64")


def processor() -> str:
    """This machine's, or its architecture where the system does not tell."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    named = (line.partition(":") for line in lines)
    known = (value.strip() for name, _, value in named if name.strip() in ("model name", "Model"))
    return next(known, platform.machine())


def is_cross(arch: str) -> bool:
    """Whether programs for `arch` need the cross compiler and qemu here."""
    return arch == "aarch64" and not is_arm()


def debian_arch(arch: str) -> str:
    """Debian's name of the processor that a build is for."""
    return "arm64" if is_arm() or arch == "aarch64" else "amd64"


def tool(name: str) -> str:
    """A program that must be there."""
    if shutil.which(name) is None:
        raise UserError(f"{name} is not installed", "run ./daedalus setup", EXIT_MISSING)
    return name


def runner(arch: str) -> list[str]:
    """What to put before a program of that build to run it here."""
    return [tool("qemu-aarch64"), "-cpu", CPU] if is_cross(arch) else []


def compiler(arch: str) -> str:
    """The C compiler for a build."""
    return tool("aarch64-linux-gnu-gcc") if is_cross(arch) else tool("gcc")


def objdump(arch: str) -> str:
    """What disassembles programs of a build."""
    return tool("aarch64-linux-gnu-objdump") if is_cross(arch) else tool("objdump")


@functools.cache
def version_of(program: str) -> str:
    """The first line that a compiler says of itself."""
    return run([program, "--version"]).splitlines()[0]


@functools.cache
def clang_sanitizes() -> bool:
    """Whether there is the clang, and what its sanitizers link."""
    words = [CLANG, "-fsanitize=address,undefined", "-x", "c", "-", "-o", os.devnull]
    try:
        done = subprocess.run(words, input=b"int main(void) { return 0; }", capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keeps another process out of a build folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "build.lock").open("a") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another program that builds in {folder}")
            fcntl.flock(f, fcntl.LOCK_EX)
        yield


def forget_foreign(place: Path, source: Path) -> None:
    """Empties a build folder that CMake would refuse or could not go on with: one that was copied
    or moved here, is of another source folder, or whose first configuring was cut short."""
    cache = place / "CMakeCache.txt"
    if not cache.is_file():
        return
    found = dict(re.findall(r"^(CMAKE_\w+):INTERNAL=(.*)$", cache.read_text(), re.MULTILINE))
    here = {"CMAKE_CACHEFILE_DIR": place, "CMAKE_HOME_DIRECTORY": source}
    own = all(Path(found.get(k, "")).resolve() == p.resolve() for k, p in here.items())
    if own and (place / "build.ninja").is_file():
        return
    say(f"{place.name}: the build folder is of another place or half made; making it anew")
    for path in place.iterdir():
        if path.name == "build.lock":  # which this process holds
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def build_library(
    arch: str,
    sanitize: bool = False,
    *,
    clang: bool = False,
    targets: Sequence[str] = ("daedalus",),
    options: Sequence[str] = (),
    folder: str = "",
    source: str = ".",
) -> Path:
    """Configures and builds CMake targets; returns the build folder, which holds the libraries.

    `source` is the folder of the checkout whose CMakeLists.txt is meant.

    With `clang`, which is for "aarch64" and "simde", that compiler takes gcc's place, in a folder
    of its own.
    `options` are further arguments for cmake, such as "-DDAEDALUS_ALLOW_UNVERIFIED=ON"; those that
    another build must not find set take a `folder` of build/ of their own.
    """
    if arch not in ARCHITECTURES:
        raise UserError(f"unknown architecture {arch}", f"one of {', '.join(ARCHITECTURES)}")
    tool("cmake")
    tool("ninja")
    if is_arm() and arch == "aarch64":
        arch = "host"
    name = arch + ("-sanitize" if sanitize else "") + ("-clang" if clang else "")
    place = build_dir() / (folder or name)
    # CMake keeps what an earlier call set; of two equal settings the later one, an option's, holds.
    settings = ["-DCMAKE_BUILD_TYPE=Release", "-DDAEDALUS_ALLOW_UNVERIFIED=ON"]
    if clang and shutil.which(CLANG) is None:
        raise UserError(
            f"{CLANG} is not installed",
            f"install Debian's package {CLANG}, or do without clang",
            EXIT_MISSING,
        )
    if clang and arch != "simde":
        # Its further warnings are about how portable C is laid out, and change no code.
        settings += [f"-DDAEDALUS_MCPU={CLANG_CPU}", "-DDAEDALUS_WERROR=OFF"]
    if is_cross(arch):
        compiler(arch)
        file = "toolchain-aarch64-clang.cmake" if clang else "toolchain-aarch64.cmake"
        settings.append(f"-DCMAKE_TOOLCHAIN_FILE={repo_root() / 'cmake' / file}")
        settings += [] if clang else [f"-DDAEDALUS_MCPU={CPU}"]
    elif clang:
        settings.append(f"-DCMAKE_C_COMPILER={CLANG}")
    if arch == "host" and is_arm() and not clang:
        settings.append("-DDAEDALUS_MCPU=native")
    elif arch == "portable":
        settings.append("-DDAEDALUS_HAVE_NATIVE_NEON=OFF")
    elif arch == "simde":
        include = fetch.ensure("simde", "all") / "usr" / "include"
        settings += [f"-DDAEDALUS_SIMDE={include}", "-DDAEDALUS_HAVE_NATIVE_NEON=OFF"]
        settings.append("-DCMAKE_C_FLAGS_RELEASE=-O1")  # to be compared alone, and slow to compile
    settings.append(f"-DDAEDALUS_SANITIZE={'address,undefined' if sanitize else ''}")
    with alone(place):
        forget_foreign(place, repo_root() / source)
        say(f"building {', '.join(targets)} for {place.name}")
        configure: list[str | Path] = ["cmake", "-S", repo_root() / source, "-B", place]
        configure += ["-G", "Ninja"]
        configure += [*settings, *options]
        _configure(configure, place)
        build: list[str | Path] = ["cmake", "--build", place, "-j", JOBS, "--target", *targets]
        run(build, what="building C", log=place / "build.log")
    return place


def _configure(command: Sequence[str | Path], place: Path) -> None:
    """Configures a build folder, unless that was the last thing to be asked for, and no package was
    installed or removed since.

    What CMake has read and finds changed makes the build configure by itself.
    """
    said = place / "configured.txt"
    installed = _PACKAGES.stat().st_mtime_ns if _PACKAGES.exists() else 0
    words = "\n".join(map(str, [*command, installed]))
    if said.is_file() and (place / "build.ninja").is_file() and said.read_text() == words:
        return
    said.unlink(missing_ok=True)
    run(command, what="configuring the C build", log=place / "configure.log")
    said.write_text(words)


def library_includes(generated: Path | None = None) -> list[Path]:
    """Where headers lie: the public ones, fixed and generated, and those of generated code.

    generated  where the generated ones do, if not in this checkout's folder
    """
    root = repo_root()
    runtime = root / "runtime"
    return [
        runtime / "include", runtime / "support", generated or root / "generated" / "include"
    ]  # fmt: skip


def compile_program(
    arch: str,
    program: Path,
    sources: Iterable[Path],
    *,
    includes: Iterable[Path] = (),
    system_includes: Iterable[Path] = (),
    libraries: Iterable[Path] = (),
    flags: Iterable[str] = (),
    static: bool = True,
    clang: bool = False,
) -> Path:
    """Compiles a small C program, unless it is there and nothing it is made of changed.

    Static by default, so that qemu needs no libraries; `clang` is for programs of this machine.
    """
    sources, libraries = list(sources), list(libraries)
    cc = tool(CLANG) if clang else compiler(arch)
    words: list[str | Path] = [cc, *WARNINGS, *(f"-I{i}" for i in includes)]
    for include in system_includes:
        words += ["-isystem", include]
    words += [
        *sources,
        *(["-static"] if static else []),
        *flags,
        *libraries,
        "-lm",
        "-lpthread",
    ]
    inputs = [*sources, *libraries]
    for folder in {s.parent for s in sources}:
        inputs += folder.glob("*.h")
    for include in includes:
        inputs += include.rglob("*.h")
    stamp = program.with_name(program.name + ".hash")
    fresh = program.with_name(f"{program.name}.{os.getpid()}.new")
    with alone(program.parent):
        made_of = [version_of(str(words[0])), *(str(w) for w in words)]
        digest = hashlib.sha256(repr(made_of).encode())
        for path in sorted(inputs):
            digest.update(path.read_bytes())
        if program.is_file() and stamp.is_file() and stamp.read_text() == digest.hexdigest():
            return program
        stamp.unlink(missing_ok=True)
        try:
            run([*words, "-o", fresh], what=f"compiling {program.name}")
            fresh.replace(program)
        finally:
            fresh.unlink(missing_ok=True)
        stamp.write_text(digest.hexdigest())
    return program
