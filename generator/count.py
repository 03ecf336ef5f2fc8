# SPDX-License-Identifier: BSD-2-Clause
"""Counts the instructions that a call of a function executes, under qemu's arm64 emulation.

The count is of the whole program, by a plugin of qemu where it takes plugins and by its log where
not; both give the same number.  A program is run with N and with 2N calls, and once more with a
function that does nothing, so that only the call itself remains.  The pixels that the functions
leave are compared, too.
"""

import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator import count_cases, dav1d, fetch, native
from daedalus.generator.cli.common import EXIT_FAILED, UserError, build_dir, repo_root, run
from daedalus.generator.count_cases import Work

_ARCH = "aarch64"
_CALLS = 16
_STRIDE, _ORIGIN = 64, 16  # of the picture in tools/count/count.h


@dataclass(frozen=True)
class Count:
    """What one call of a function executes, its return included."""

    work: Work
    executed: int
    theirs: int  # what the hand-written function executes
    difference: str  # the first pixel that is not as theirs leaves it; empty when all are

    @property
    def ratio(self) -> float:
        """Of what theirs executes."""
        return self.executed / self.theirs

    @property
    def above(self) -> bool:
        """Whether it executes more than its bar allows."""
        return self.work.barred and self.executed > self.work.case.bar * self.theirs

    @property
    def changed(self) -> bool:
        """Whether it is theirs, and executes another number than before."""
        anchor = self.work.case.anchor
        return self.work.whose == "theirs" and anchor is not None and self.executed != anchor


@dataclass(frozen=True)
class Compiler:
    """What our functions were compiled with: part of what a figure means."""

    version: str
    flags: str


@dataclass(frozen=True)
class _Run:
    """A run of the program: what it executes from start to end, and the pixels it leaves."""

    executed: int
    pixels: bytes


@functools.cache
def _qemu() -> str:
    return native.tool("qemu-aarch64")


@functools.cache
def _plugin() -> Path | None:
    """The counting plugin, or None where qemu was built without plugins."""
    if "-plugin" not in run([_qemu(), "--help"]):
        return None
    return native.compile_program(
        "host",
        build_dir() / "count" / "plugin.so",
        [repo_root() / "tools" / "count" / "plugin.c"],
        flags=["-shared", "-fPIC"],
        static=False,
    )


def counted(argv: list[str]) -> _Run:
    """Runs an arm64 program and counts."""
    plugin = _plugin()
    if plugin is None:
        return _counted_by_log(argv)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "count")
        words = [_qemu(), "-cpu", native.CPU, "-plugin", f"{plugin},out={result}", *argv]
        done = subprocess.run(words, capture_output=True)
        if done.returncode != 0:
            raise _failed(argv, done.stderr.decode(errors="replace"))
        text = result.read_text().strip() if result.is_file() else ""
    if not text.isdecimal():
        raise UserError(
            f"{' '.join(argv)}: the counting plugin wrote no number",
            f"{plugin} does not suit this qemu, or the disk is full",
            EXIT_FAILED,
        )
    return _Run(int(text), done.stdout)


def _counted_by_log(argv: list[str]) -> _Run:
    """The same by qemu's log of executed blocks, one instruction each."""
    single = "-one-insn-per-tb" if "-one-insn-per-tb" in run([_qemu(), "--help"]) else "-singlestep"
    words = [_qemu(), "-cpu", native.CPU, single, "-d", "exec,nochain", *argv]
    with tempfile.TemporaryFile() as pixels:
        process = subprocess.Popen(
            words, stdout=pixels, stderr=subprocess.PIPE, errors="replace", text=True
        )
        assert process.stderr is not None
        count, last = 0, ""
        with process:
            for line in process.stderr:
                traced = line.startswith("Trace ")
                count += traced
                last = last if traced else line
        if process.returncode != 0 or count == 0:
            raise _failed(argv, last)
        pixels.seek(0)
        return _Run(count, pixels.read())


def _failed(argv: list[str], said: str) -> UserError:
    return UserError(f"{' '.join(argv)}: {said.strip() or 'it failed'}", "", EXIT_FAILED)


class _Counter:
    """Counts by one program; what the loops around calls execute is counted once each."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self._loop = functools.cache(self._count_loop)

    def count(self, work: Work) -> tuple[int, bytes]:
        """Instructions of one call, exactly, and the pixels that it leaves."""
        where = (work.case.picture, work.shape)
        params = tuple(work.case.params.values())
        each, pixels = self._per_round(*where, work.function, params)
        return each - self._loop(*where, params), pixels

    def _count_loop(self, picture: str, shape: str, params: tuple[int, ...]) -> int:
        return self._per_round(picture, shape, "nothing", params)[0] - 1  # `nothing` is one return

    def _per_round(
        self, picture: str, shape: str, function: str, params: tuple[int, ...]
    ) -> tuple[int, bytes]:
        words = [str(p) for p in params]
        once, twice = (
            counted([str(self.program), picture, shape, function, str(n), *words])
            for n in (_CALLS, 2 * _CALLS)
        )
        if (twice.executed - once.executed) % _CALLS != 0:
            raise UserError(
                f"{function}: a call does not always execute the same instructions",
                "count a function whose path does not depend on what it did before",
                EXIT_FAILED,
            )
        return (twice.executed - once.executed) // _CALLS, twice.pixels


def _difference(ours: bytes, theirs: bytes) -> str:
    """The first pixel that differs, in words; its place is relative to the item's."""
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a != b:
            return f"row {i // _STRIDE - _ORIGIN}, column {i % _STRIDE - _ORIGIN}: {a} and {b}"
    return ""


# ------------------------------------------------------------------------------- all cases


def count_all(wanted: tuple[str, ...] = (), *, clang: bool = False) -> tuple[Compiler, list[Count]]:
    """Counts every case of the wanted kernels (none named: all)."""
    chosen = count_cases.chosen(wanted)
    folder = native.build_library(
        _ARCH,
        clang=clang,
        targets=("daedalus", "daedalus_variants"),
        # Counting is for code that is still being worked on; results are compared here as well.
        options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"),
    )
    libraries = [folder / "libdaedalus_variants.a", folder / "libdaedalus.a"]
    symbols = _symbols(libraries[0]) | _symbols(libraries[1])
    work = [w for case in chosen for w in count_cases.work(case, symbols)]
    counters = {
        oracle: _counter(oracle, libraries, [w for w in work if w.case.oracle == oracle])
        for oracle in dict.fromkeys(case.oracle for case in chosen)
    }
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda w: counters[w.case.oracle].count(w), work))
    theirs = {
        id(w.case): result for w, result in zip(work, results, strict=True) if w.whose == "theirs"
    }
    return _compiler(folder), [
        Count(w, executed, theirs[id(w.case)][0], _difference(pixels, theirs[id(w.case)][1]))
        for w, (executed, pixels) in zip(work, results, strict=True)
    ]


def _symbols(library: Path) -> set[str]:
    """The functions that a static library defines."""
    nm = native.tool("nm" if native.is_arm() else "aarch64-linux-gnu-nm")
    lines = run([nm, "--defined-only", "-g", library], what=f"reading {library.name}").splitlines()
    return {line.split()[-1] for line in lines if " T " in line}


def _compiler(folder: Path) -> Compiler:
    """The compiler of a build of the library, and the flags that decide what code it makes."""
    commands = json.loads((folder / "compile_commands.json").read_text())
    command = next(c["command"] for c in commands if "__neon_" in c["file"])
    program, *words = shlex.split(command)
    flags = [w for w in words if re.match(r"(-O|-m|-f|-std=|--target=)", w)]
    optimise = [f for f in flags if f.startswith("-O")]
    kept = [f for f in flags if f not in optimise[:-1]]  # of several -O the last one holds
    return Compiler(run([program, "--version"]).splitlines()[0], " ".join(kept))


def _counter(oracle: str, libraries: list[Path], work: Iterable[Work]) -> _Counter:
    """Builds the program that calls functions; functions.h names them, and each list has a folder.

    What theirs is may also be a place in a table of the decoder, which no symbol names.
    """
    names = dict.fromkeys(w.function for w in work if w.function.isidentifier())
    text = "".join(f"FUNCTION({name})\n" for name in names)
    # The libraries are another compiler's where they lie elsewhere.
    key = hashlib.sha256(f"{oracle} {libraries} {text}".encode()).hexdigest()[:16]
    place = build_dir() / "count" / key
    place.mkdir(parents=True, exist_ok=True)
    fresh = place / f"functions.{os.getpid()}.new"
    fresh.write_text(text)
    fresh.replace(place / "functions.h")
    if oracle == "dav1d":
        theirs = [dav1d.library("arm64") / "lib" / "libdav1d.a"]
    else:
        _, theirs = fetch.archives(oracle, "arm64")
    tools = repo_root() / "tools" / "count"
    program = native.compile_program(
        _ARCH,
        place / "count",
        [tools / "main.c", tools / f"{oracle}.c"],
        includes=[place],
        libraries=[*libraries, *theirs],
    )
    return _Counter(program)
