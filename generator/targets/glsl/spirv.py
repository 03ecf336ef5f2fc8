# SPDX-License-Identifier: BSD-2-Clause
"""GLSL to SPIR-V.

The bytes depend on the versions of the tools. Those in generated/ are of the pinned ones; where
others are installed, or none, a module is taken from there as long as it was made of the same GLSL,
and is not compared.
"""

import hashlib
import os
import re
import shutil
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir, can_keep
from daedalus.generator.targets.glsl import compiler
from daedalus.generator.targets.glsl.views import ALIASED
from daedalus.generator.targets.gpu import packed

TOOLS = ("glslangValidator", "spirv-opt", "spirv-val")
PINNED = "glslang 11:12.0.0, SPIRV-Tools v2023.1"
_TARGET = ("--target-env", "vulkan1.1")
_OPTIMISE = ("-O", "--strip-debug", "--preserve-bindings", "--preserve-spec-constants")
# Of the SPIR-V specification: words before the first instruction, OpDecorate, decorations.
_HEADER, _DECORATE, _ALIASED, _BINDING = 5, 71, 20, 33


@cache
def toolchain() -> str:
    """The versions of the tools here; "" where one is not installed."""
    if any(shutil.which(t) is None for t in TOOLS):
        return ""

    def version(tool: str, pattern: str) -> str:
        done = subprocess.run([tool, "--version"], capture_output=True, text=True)
        found = re.search(pattern, done.stdout + done.stderr)
        return found[1] if found else "?"

    glslang = version("glslangValidator", r"Glslang Version: (\S+)")
    return f"glslang {glslang}, SPIRV-Tools {version('spirv-opt', r'SPIRV-Tools (v[0-9.]+)')}"


@dataclass(frozen=True)
class Module:
    """A shader's SPIR-V, and the versions of the tools that made it."""

    words: tuple[int, ...]
    made_by: str


@dataclass
class Modules:
    """Where modules come from: made here, or taken from what is checked in.

    folder  the generated/ that they may be taken from
    taken   variants whose module was taken without being made anew
    """

    folder: Path | None = None
    taken: list[str] = field(default_factory=list)

    def of(self, path: str, name: str, glsl: str) -> "Module":
        """The module of a variant's shader, which is kept in the file `path` below generated/."""
        if toolchain() != PINNED:
            known = self._checked_in(path, name, glsl)
            if known is not None:
                self.taken.append(name)
                return known
        if not toolchain():
            raise UserError(
                f"{', '.join(t for t in TOOLS if shutil.which(t) is None)}: not installed, and"
                f" needed to make {name}",
                "apt-get install glslang-tools spirv-tools, or ./daedalus setup",
                EXIT_MISSING,
            )
        module = compile_shader(glsl, name)
        return Module(struct.unpack(f"<{len(module) // 4}I", module), toolchain())

    def prepare(self, shaders: Iterable[tuple[str, str]]) -> None:
        """Makes the modules of many shaders, (variant, GLSL), by all processors; they are then
        kept."""
        if toolchain() != PINNED or not can_keep():
            return
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(lambda s: compile_shader(s[1], s[0]), shaders))

    def _checked_in(self, path: str, name: str, glsl: str) -> "Module | None":
        file = None if self.folder is None else self.folder / path
        if file is None or not file.is_file():
            return None
        found = re.search(
            rf"; of GLSL (\w+) by (.+) \*/\nconst daedalus_gpu_code {name} = {{"
            r"\n *\.packed = \(const char \*const\[\]\){([^}]*)},\n *\.n_words = (\d+),",
            file.read_text(),
        )
        if not found or found[1] != digest(glsl):
            return None
        try:
            words = packed.module_of(found[3])
        except ValueError:
            return None
        return Module(words, found[2]) if len(words) == int(found[4]) else None


def digest(glsl: str) -> str:
    """What a module says of the text that it was made of."""
    return hashlib.sha256(glsl.encode()).hexdigest()[:16]


def compile_shader(glsl: str, what: str) -> bytes:
    """The module of a shader, validated. In a checkout kept in the build folder, by content."""
    key = hashlib.sha256("\n".join((toolchain(), *_TARGET, *_OPTIMISE, glsl)).encode()).hexdigest()
    if not can_keep():
        return _compiled(glsl, what)
    kept = build_dir() / "spirv" / f"{key}.spv"
    if kept.is_file():
        return kept.read_bytes()
    module = _compiled(glsl, what)
    kept.parent.mkdir(parents=True, exist_ok=True)
    fresh = kept.with_name(f"{key}.{os.getpid()}.{threading.get_ident()}.new")
    fresh.write_bytes(module)
    fresh.replace(kept)
    return module


def _compiled(glsl: str, what: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="daedalus-spirv-") as folder:
        source, raw, made = (Path(folder, name) for name in ("in.comp", "raw.spv", "made.spv"))

        def do(*words: str | Path) -> None:
            done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
            if done.returncode:
                said = (done.stdout + done.stderr).strip().replace(str(source), what)
                raise UserError(f"{words[0]} refuses {what}:\n{said}", exit_code=EXIT_FAILED)

        version = toolchain().partition(",")[0].rpartition(":")[2]
        module = compiler.compiled(glsl, version)
        if not module:
            source.write_text(glsl)
            do("glslangValidator", "-V", *_TARGET, "-S", "comp", "-o", raw, source)
            module = raw.read_bytes()
        raw.write_bytes(decorated(module, aliased_bindings(glsl)))
        do("spirv-opt", "--target-env=vulkan1.1", *_OPTIMISE, raw, "-o", made)
        do("spirv-val", *_TARGET, made)
        return made.read_bytes()


def aliased_bindings(glsl: str) -> set[int]:
    """The bindings that a shader says are seen through views that depend on each other."""
    pattern = f"^ *{re.escape(ALIASED)}\n.*?binding = (\\d+)\\)"
    return {int(n) for n in re.findall(pattern, glsl, re.MULTILINE)}


def decorated(module: bytes, bindings: set[int]) -> bytes:
    """A module whose variables at these bindings are Aliased.

    GLSL lets blocks overlap that are not `restrict`; SPIR-V lets variables only if they are
    decorated so, which glslangValidator does not do.
    """
    words = struct.unpack(f"<{len(module) // 4}I", module)
    made, at = list(words[:_HEADER]), _HEADER
    while at < len(words):
        length, opcode = words[at] >> 16, words[at] & 0xFFFF
        made += words[at : at + length]
        if opcode == _DECORATE and words[at + 2] == _BINDING and words[at + 3] in bindings:
            made += [3 << 16 | _DECORATE, words[at + 1], _ALIASED]
        at += length
    return struct.pack(f"<{len(made)}I", *made)
