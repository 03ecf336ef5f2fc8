# SPDX-License-Identifier: BSD-2-Clause
"""glslang in processes that stay: many shaders in the time that glslangValidator needs to start.

`tools/spirv` is built where Debian's package glslang-dev is installed. It makes what
glslangValidator makes, and nothing where that refuses: then that is asked, which says why.
"""

import atexit
import os
import struct
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir, can_keep, repo_root
from daedalus.generator.base.progress import say
from daedalus.generator.host import native

_HEADER = Path("/usr/include/glslang/Include/glslang_c_interface.h")
_NAME, _SOURCE, _FOLDER = "daedalus-spirv", "tools/spirv", "toolkit/spirv"


class _Process:
    """One that compiles a shader after another."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=-1
        )
        self.version = (self._read() or b"").decode()

    def compiled(self, glsl: bytes) -> bytes | None:
        """The module; b"" where glslang refuses the shader, None where the process has ended."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(struct.pack("=I", len(glsl)) + glsl)
            self._process.stdin.flush()
            return self._read()
        return None

    def end(self) -> None:
        """It ends where there is no more to read."""
        with suppress(BrokenPipeError):
            self._process.communicate()

    def _read(self) -> bytes | None:
        assert self._process.stdout is not None
        header = self._process.stdout.read(4)
        if len(header) < 4:
            return None
        (size,) = struct.unpack("=I", header)
        found = self._process.stdout.read(size)
        return found if len(found) == size else None


_building = Lock()
_idle: list[_Process] = []
# A process that was forked shares the pipes, so that answers could come to the wrong one.
os.register_at_fork(after_in_child=_idle.clear)


@cache
def _program() -> Path | None:
    """Builds it unless it is there; None where it cannot be built."""
    if not can_keep() or not _HEADER.is_file():
        return None
    program = build_dir() / _FOLDER / _NAME
    try:
        # Of a package, when it was installed.
        changed = [_HEADER.stat().st_ctime]
        changed += [p.stat().st_mtime for p in (repo_root() / _SOURCE).iterdir()]
        if program.is_file() and program.stat().st_mtime > max(changed):
            return program  # CMake would take longer to say so than a shader takes
        native.build_library("host", targets=(_NAME,), source=_SOURCE, folder=_FOLDER)
        os.utime(program)
    except (UserError, OSError) as e:
        say(f"{_NAME} cannot be built, so that shaders take longer to compile: {e}")
        return None
    return program


def _taken(program: Path) -> _Process:
    try:
        return _idle.pop()
    except IndexError:
        return _Process(program)


def compiled(glsl: str, version: str) -> bytes:
    """What glslang of this version makes of a compute shader; b"" where it is asked otherwise.

    May be called by several threads.
    """
    with _building:
        program = _program()
    if program is None:
        return b""
    try:
        process = _taken(program)
    except OSError:  # another process is linking it just now
        return b""
    module = process.compiled(glsl.encode()) if process.version == version else b""
    if module is None:
        process.end()
        return b""
    _idle.append(process)
    return module


@atexit.register
def _end() -> None:
    while _idle:
        _idle.pop().end()
