# SPDX-License-Identifier: BSD-2-Clause
"""Builds FFmpeg's own test program, from the source package of tools/oracles.toml.

Of the library only what the decoders that we compare with need is built. Tests only; nothing of it
is part of daedalus.
"""

import hashlib
import shutil
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.host import fetch, native

_SOURCE = "ffmpeg-source"
_OPTIONS = (
    "--disable-everything", "--disable-autodetect", "--disable-programs", "--disable-doc",
    "--disable-network", "--disable-avformat", "--disable-avdevice", "--disable-swscale",
    "--disable-swresample", "--disable-avfilter", "--disable-debug", "--enable-static",
    "--disable-shared", "--enable-decoder=vp9,h264",
)  # fmt: skip
_LIBRARIES = ("libavcodec.a", "libavutil.a")  # in linking order


def tests(arch: str) -> tuple[list[Path], list[Path]]:
    """Its objects, and the libraries to link them with, for a Debian architecture."""
    if arch not in ("arm64", native.debian_arch("host")):
        raise UserError(f"FFmpeg's tests are not built for {arch} on this machine", "arm64 is")
    build = "aarch64" if arch == "arm64" else "host"
    source = fetch.ensure(_SOURCE, fetch.SOURCE) / "ffmpeg"
    options = list(_OPTIONS)
    if native.is_cross(build):
        options += ["--enable-cross-compile", "--arch=aarch64", "--target-os=linux",
                    "--cross-prefix=aarch64-linux-gnu-"]  # fmt: skip
    elif arch == "amd64":
        native.tool("nasm")
    compiler = native.compiler(build)
    origin = [d.sha256 for d in fetch.fetched(_SOURCE, fetch.SOURCE) or []]
    made_of = repr((origin, str(source), options, native.version_of(compiler)))
    key = hashlib.sha256(made_of.encode()).hexdigest()
    folder = build_dir() / "checkasm" / "ffmpeg" / arch
    stamp, kept = folder / "made-of", folder / "kept"
    with native.alone(folder):
        if not (stamp.is_file() and stamp.read_text() == key):
            say(f"building FFmpeg's tests for {arch}")
            stamp.unlink(missing_ok=True)
            work = folder / "work"
            for old in (work, kept):
                shutil.rmtree(old, ignore_errors=True)
                old.mkdir(parents=True)
            run([source / "configure", *options], cwd=work, what="configuring FFmpeg",
                log=folder / "configure.log")  # fmt: skip
            run(["make", f"-j{native.JOBS}", "tests/checkasm/checkasm"], cwd=work,
                what="building FFmpeg's tests", log=folder / "build.log")  # fmt: skip
            objects = sorted((work / "tests" / "checkasm").rglob("*.o"))
            for number, path in enumerate(objects):
                shutil.copy(path, kept / f"{number:03}_{path.name}")
            for name in _LIBRARIES:
                (found,) = work.glob(f"*/{name}")
                shutil.copy(found, kept / name)
            shutil.rmtree(work)
            stamp.write_text(key)
    return sorted(kept.glob("*.o")), [kept / name for name in _LIBRARIES]
