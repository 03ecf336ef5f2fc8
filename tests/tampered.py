# SPDX-License-Identifier: BSD-2-Clause
"""The check program from generated code with one change; all but the change is built once."""

import shutil
from collections.abc import Callable
from pathlib import Path

from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.process import run
from daedalus.generator.compile.variants import Variant
from daedalus.generator.host import native
from daedalus.generator.verify import crosscheck


def in_variant(v: Variant, change: Callable[[str], str]) -> Callable[[str], str]:
    """The change to a file that does this one to the variant alone, of all those in the file."""

    def changed(text: str) -> str:
        before, mark, rest = text.partition(f", input hash {v.input_hash}")
        own, following, others = rest.partition(", input hash ")
        assert mark, f"{v.file} has no {v.name}"
        return before + mark + change(own) + following + others

    return changed


def in_packed(change: Callable[[str], list[str]]) -> Callable[[str], str]:
    """The change to a variant's text that does this one to the lines of its packed code."""

    def changed(text: str) -> str:
        before, mark, rest = text.partition(".packed = (const char *const[]){")
        lines, end, after = rest.partition("},")
        assert mark and end
        return before + mark + "\n".join([*change(lines), "NULL,"]) + end + after

    return changed


class Tampered:
    """A copy of generated/ and a build of it, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._generated = folder / "generated"
        self._changed: tuple[Path, str] | None = None
        shutil.copytree(repo_root() / "generated", self._generated)
        run(
            ["cmake", "-S", repo_root(), "-B", folder / "build", "-G", "Ninja",
             "-DDAEDALUS_TESTS=OFF", "-DDAEDALUS_V3D=OFF", "-DDAEDALUS_ALLOW_UNVERIFIED=ON",
             "-DDAEDALUS_WERROR=OFF", "-DCMAKE_C_FLAGS_RELEASE=-O0",
             f"-DDAEDALUS_GENERATED_DIR={self._generated}"]
        )  # fmt: skip

    def program(self, file: str, change: Callable[[str], str], *, loads: bool = False) -> Path:
        """The program with one file below generated/ changed, and all others as they were.

        It is there until the next call. One that `loads` can open a Vulkan driver.
        """
        if self._changed is not None:
            path, text = self._changed
            path.write_text(text)
        path = self._generated / file
        text = path.read_text()
        self._changed = path, text
        path.write_text(change(text))
        build = self._folder / "build"
        run(["cmake", "--build", build, "-j", native.JOBS, "--target", "daedalus_variants"])
        return native.compile_program(
            "host",
            self._folder / "check",
            crosscheck.sources(),
            includes=crosscheck.includes(self._generated / "include"),
            libraries=[build / "libdaedalus_variants.a"],
            flags=["-ldl"] if loads else [],
            static=not loads,
        )
