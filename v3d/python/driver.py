# SPDX-License-Identifier: BSD-2-Clause
"""Mesa's Vulkan driver for the GPU of a Raspberry Pi 5: as Debian ships it, and built for here.

The arm64 driver of Debian lies, with all it needs to run, in build/v3dv/arm64: the very binary that
a Pi runs.  The native one is built from Debian's source package of the same version and compiles
shaders many times faster; built with clang, its code for the GPU is the same (gcc evaluates
arguments in another order, and then some instructions come in another order).
"""

import hashlib
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.host import fetch, native

_LIBRARY = "libvulkan_broadcom.so"
_PYTHON_PACKAGES = ("meson==1.7.2", "mako==1.3.10", "packaging==24.2", "pyyaml==6.0.2")
_OPTIONS = (
    "--buildtype=release",
    "--prefix=/",
    "--libdir=lib",
    "--wrap-mode=nodownload",
    "-Db_ndebug=true",
    "-Dvulkan-drivers=broadcom",
    "-Dgallium-drivers=",
    "-Dplatforms=",
    "-Dvideo-codecs=",
    "-Dvulkan-layers=",
    "-Dopengl=false",
    *(f"-D{name}=disabled" for name in ("egl", "gbm", "gles1", "gles2", "glx", "llvm", "zstd")),
)


@dataclass(frozen=True)
class Driver:
    """A v3dv that is there."""

    name: str  # "arm64" or "native"
    folder: Path  # of the arm64 one, what qemu-aarch64 takes for the root of the file system
    icd: Path  # for VK_ICD_FILENAMES


def arm64(*, force: bool = False) -> Driver:
    """Fetches Debian's arm64 driver, its libraries and the Vulkan headers unless that is done."""
    folder = fetch.ensure("v3dv", "arm64", force=force)
    library = folder / "usr" / "lib" / "aarch64-linux-gnu" / _LIBRARY
    return Driver("arm64", folder, _icd(folder, library))


def vulkan_headers() -> Path:
    """The folder that holds vulkan/vulkan.h; they are the same for every processor."""
    return arm64().folder / "usr" / "include"


def no_driver() -> Path:
    """For VK_ICD_FILENAMES where no v3dv is built for this machine: a file that is not there.

    Without it the loader would take the machine's own driver, and a program run on that unnoticed.
    """
    return build_dir() / "v3dv" / "native" / "not-built.json"


def built() -> Driver | None:
    """The native driver, when it was built from what is there; looks only."""
    folder = build_dir() / "v3dv" / "native"
    library = folder / "lib" / _LIBRARY
    stamp = folder / "made-of"
    if not (stamp.is_file() and library.is_file() and fetch.fetched("mesa", fetch.SOURCE)):
        return None
    return Driver("native", folder, _icd(folder, library))


def build_native(*, force: bool = False) -> Driver:
    """Builds the driver for this machine unless that is done.

    It is built again when the source, an option or a tool is another one.  Takes minutes.
    """
    compilers = {"c": native.CLANG, "cpp": native.CLANG.replace("clang", "clang++")}
    _need(*compilers.values(), "ninja", "pkg-config", "flex", "bison", "glslangValidator")
    source = fetch.ensure("mesa", fetch.SOURCE, force=force) / "mesa"
    versions = [run([t, "--version"]).splitlines()[0] for t in (*compilers.values(), "ninja")]
    origin = [d.sha256 for d in fetch.fetched("mesa", fetch.SOURCE) or []]
    made_of = repr((origin, str(source), _OPTIONS, _PYTHON_PACKAGES, versions))
    key = hashlib.sha256(made_of.encode()).hexdigest()
    folder = build_dir() / "v3dv" / "native"
    stamp = folder / "made-of"
    with native.alone(folder):
        if force or not (stamp.is_file() and stamp.read_text() == key):
            stamp.unlink(missing_ok=True)
            _build(source, folder, compilers)
            stamp.write_text(key)
    return Driver("native", folder, _icd(folder, folder / "lib" / _LIBRARY))


def _need(*tools: str) -> None:
    absent = [t for t in tools if shutil.which(t) is None]
    if absent:
        raise UserError(
            f"not installed, and needed to build Mesa's driver: {', '.join(absent)}",
            "run ./daedalus setup --native without --no-setup; it installs them",
            EXIT_MISSING,
        )


def _build(source: Path, folder: Path, compilers: dict[str, str]) -> None:
    """Configures, builds and collects the driver into folder/lib."""
    work = folder / "work"
    for old in (work, folder / "lib"):
        shutil.rmtree(old, ignore_errors=True)
    python = _python(folder)
    machine = folder / "machine.ini"
    lines = [f"{language} = '{program}'" for language, program in compilers.items()]
    machine.write_text("\n".join(["[binaries]", *lines, ""]))
    files: list[str | Path] = ["--native-file", machine]
    # Mesa runs the Python that runs meson, and finds what is installed beside it.
    path = f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {k: v for k, v in os.environ.items() if k not in ("CFLAGS", "CXXFLAGS")}
    environment["PATH"] = path
    say("configuring Mesa's driver for this machine")
    run(
        [python, "-m", "mesonbuild.mesonmain", "setup", work, source, *_OPTIONS, *files],
        what="configuring Mesa",
        env=environment,
        log=folder / "configure.log",
    )
    say("building Mesa's driver for this machine; this takes minutes")
    target = f"src/broadcom/vulkan/{_LIBRARY}"
    run(
        ["ninja", "-C", work, "-j", native.JOBS, target],
        what="building Mesa's driver",
        env=environment,
        log=folder / "build.log",
    )
    (folder / "lib").mkdir()
    shutil.copy(work / target, folder / "lib" / _LIBRARY)
    shutil.rmtree(work)


def _python(folder: Path) -> Path:
    """An environment with what Mesa's build is made of, apart from this project's own."""
    place = folder / "python"
    stamp = place / "packages"
    wanted = "\n".join((sys.version, *_PYTHON_PACKAGES))
    python = place / "bin" / "python"
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    say("installing meson for Mesa's build")
    shutil.rmtree(place, ignore_errors=True)
    run([sys.executable, "-m", "venv", place], what="making a Python environment for Mesa's build")
    run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *_PYTHON_PACKAGES],
        what="installing meson for Mesa's build (pip needs the network)",
        log=folder / "pip.log",
    )
    stamp.write_text(wanted)
    return python


def _icd(folder: Path, library: Path) -> Path:
    """Writes the file that tells the Vulkan loader where the driver is; returns its path.

    It says where from its own folder, so that both can be copied to another place.
    """
    path = folder / "icd.json"
    icd = {"library_path": f"./{library.relative_to(folder)}", "api_version": "1.3.305"}
    text = json.dumps({"file_format_version": "1.0.0", "ICD": icd}, indent=1) + "\n"
    if not path.is_file() or path.read_text() != text:
        fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
        fresh.write_text(text)
        fresh.replace(path)
    return path
