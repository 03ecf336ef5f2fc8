# SPDX-License-Identifier: BSD-2-Clause
"""Counts the instructions that a call of a function executes, under qemu's arm64 emulation.

They are those of the calls alone, told by their addresses (trace.py).  The pixels that the
functions leave are compared, too.
"""

import hashlib
import json
import os
import re
import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from daedalus.codecs import oracles
from daedalus.codecs.data import data
from daedalus.codecs.decoders.reading import described
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.outputs import refresh
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.compile.kernels import chosen as entries_of
from daedalus.generator.host import native
from daedalus.generator.measure import count_cases, count_shapes, trace
from daedalus.generator.measure.count_cases import Work
from daedalus.generator.measure.trace import Call
from daedalus.generator.verify import part

_ARCH = "aarch64"
_TIMES = 4  # that a piece of work is done; the first may prepare something
_PART = "count-part"  # below build/: the code of the kernels that were asked for
_STRIDE, _ROWS, _ORIGIN = 256, 96, 16  # of the picture in tools/count/count.h
PICTURE = _STRIDE * _ROWS  # bytes


@dataclass(frozen=True)
class Traced:
    """What a piece of work executes, and what it leaves."""

    work: Work
    calls: tuple[Call, ...]
    pixels: bytes

    @property
    def executed(self) -> int:
        """Instructions, returns included."""
        return sum(len(call.words) for call in self.calls)


@dataclass(frozen=True)
class Count:
    """What a function executes for a piece of work, returns included, and what theirs does."""

    traced: Traced
    by_hand: Traced

    @property
    def work(self) -> Work:
        """What was counted."""
        return self.traced.work

    @property
    def executed(self) -> int:
        """Instructions."""
        return self.traced.executed

    @property
    def theirs(self) -> int:
        """What the hand-written function executes."""
        return self.by_hand.executed

    @property
    def difference(self) -> str:
        """The first pixel that is not as theirs leaves it; empty when all are."""
        return difference(self.traced.pixels, self.by_hand.pixels)

    @property
    def ratio(self) -> float:
        """Of what theirs executes."""
        return self.executed / self.theirs

    @property
    def above(self) -> bool:
        """Whether it executes more than its bar allows."""
        bar = self.work.case.bar if self.work.barred else None
        return bar is not None and self.executed > bar * self.theirs

    @property
    def changed(self) -> bool:
        """Whether it is theirs, and executes another number than before."""
        anchor = self.work.case.anchor
        return self.work.whose == "theirs" and anchor is not None and self.executed != anchor

    @property
    def wrong(self) -> list[str]:
        """Why the comparison is none of the same work, in words."""
        case, where, found = self.work.case, f"{self.work.function}, {self.work.case.name}: ", []
        if self.difference:
            found.append(f"{where}other pixels than {case.theirs}: {self.difference}")
        if self.changed:
            found.append(f"{where}{self.executed} executed, {case.anchor} recorded in {case.file}")
        return found


@dataclass(frozen=True)
class Compiler:
    """What our functions were compiled with: part of what a figure means."""

    version: str
    flags: str


class Counter:
    """Traces what one program calls."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def trace(self, work: Work) -> Traced:
        """What a piece of work executes when it is not the first; it is to be always the same."""
        found = trace.work(self.program, arguments(work, _TIMES))
        _, *later = found.pieces
        if any(piece != later[0] for piece in later):
            raise UserError(
                f"{work.function}: a call does not always execute the same instructions",
                "count a function whose path does not depend on what it did before",
                EXIT_FAILED,
            )
        return Traced(work, later[0], found.pixels)


def arguments(work: Work, times: int) -> list[str]:
    """What the program is told, to trace a piece of work."""
    words = ["trace", str(times), work.case.picture, work.shape, work.function]
    return words + _parameters(work)


def measuring_arguments(ours: Work, theirs: Work, rounds: int) -> list[str]:
    """What the program is told, to measure two pieces of the same work in turn."""
    words = ["measure", str(rounds), ours.case.picture]
    return [*words, ours.shape, ours.function, theirs.shape, theirs.function, *_parameters(ours)]


def _parameters(work: Work) -> list[str]:
    return [str(p) for p in work.case.params.values()]


def difference(ours: bytes, theirs: bytes) -> str:
    """The first pixel that differs, in words; its place is relative to the item's."""
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a != b:
            return f"row {i // _STRIDE - _ORIGIN}, column {i % _STRIDE - _ORIGIN}: {a} and {b}"
    return ""


# ------------------------------------------------------------------------------- all cases


@dataclass(frozen=True)
class Programs:
    """What calls the functions that do some cases' work, compiled by one compiler."""

    compiler: Compiler
    work: list[Work]
    _by_oracle: dict[str, Counter]

    def of(self, work: Work) -> Counter:
        """The one that calls a function."""
        return self._by_oracle[work.case.oracle]


def programs(wanted: tuple[str, ...] = (), *, clang: bool = False) -> Programs:
    """Builds them for the wanted kernels (none named: all), of whose code alone they are."""
    chosen = count_cases.chosen(wanted)
    kernels = tuple(dict.fromkeys(case.kernel for case in chosen)) if wanted else ()
    with native.alone(part.lock(_PART)) if kernels else nullcontext():
        built = build(clang=clang, kernels=kernels)
        symbols = _symbols(built[0]) | _symbols(built[1])
        work = [w for case in chosen for w in count_cases.work(case, symbols)]
        by_oracle = {
            oracle: counter(oracle, built, [w for w in work if w.case.oracle == oracle])
            for oracle in dict.fromkeys(case.oracle for case in chosen)
        }
        return Programs(_compiler(built[0].parent), work, by_oracle)


def build(*, clang: bool = False, kernels: tuple[str, ...] = ()) -> list[Path]:
    """The libraries of all variants and of the prod ones; the commands that made them lie there.

    With kernels, of their code alone.
    """
    own = part.options(part.generate(entries_of(kernels), _PART)) if kernels else ()
    folder = native.build_library(
        _ARCH,
        clang=clang,
        targets=("daedalus", "daedalus_variants"),
        # Counting is for code that is still being worked on; results are compared here as well.
        options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *own),
        folder=f"{_PART}/{'clang' if clang else 'gcc'}" if kernels else "",
    )
    return [folder / "libdaedalus_variants.a", folder / "libdaedalus.a"]


def items_program(*, clang: bool = False) -> tuple[Compiler, Counter]:
    """Builds what calls the functions that do many items."""
    built = build(clang=clang)
    return _compiler(built[0].parent), counter("items", built, [])


def count_all(wanted: tuple[str, ...] = (), *, clang: bool = False) -> tuple[Compiler, list[Count]]:
    """Counts every case of the wanted kernels (none named: all)."""
    found = programs(wanted, clang=clang)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        traced = list(pool.map(lambda w: found.of(w).trace(w), found.work))
    theirs = {t.work.case.key: t for t in traced if t.work.whose == "theirs"}
    return found.compiler, [Count(t, theirs[t.work.case.key]) for t in traced]


def _symbols(library: Path) -> set[str]:
    """The functions that a static library defines."""
    nm = native.tool("nm" if native.is_arm() else "aarch64-linux-gnu-nm")
    lines = run([nm, "--defined-only", "-g", library], what=f"reading {library.name}").splitlines()
    return {line.split()[-1] for line in lines if " T " in line}


def _compiler(folder: Path) -> Compiler:
    """The compiler of a build of the library, and the flags that decide what code it makes."""
    commands = json.loads((folder / "compile_commands.json").read_text())
    command = next(c["command"] for c in commands if c["file"].endswith(".neon.c"))
    program, *words = shlex.split(command)
    flags = [w for w in words if re.match(r"(-O|-m|-f|-std=|--target=)", w)]
    optimise = [f for f in flags if f.startswith("-O")]
    kept = [f for f in flags if f not in optimise[:-1]]  # of several -O the last one holds
    return Compiler(run([program, "--version"]).splitlines()[0], " ".join(kept))


def _shapes(oracle: str, work: Sequence[Work]) -> str:
    """The file of what calls these functions."""
    names = list(dict.fromkeys(w.case.kernel for w in work if not w.case.shape))
    places = list(dict.fromkeys(w.function for w in work if not w.function.isidentifier()))
    return count_shapes.source(oracle, names, count_cases.other_shapes(oracle), places)


def counter(
    oracle: str,
    libraries: list[Path],
    work: Sequence[Work],
    place: Path | None = None,
) -> Counter:
    """Builds the program that calls functions; functions.h names them, and each list has a folder.

    What theirs is may also be a place in a table of the decoder, which no symbol names. The folder
    is one of build/ unless a `place` is given.
    """
    names = dict.fromkeys(w.function for w in work if w.function.isidentifier())
    text = "".join(f"FUNCTION({name})\n" for name in names)
    # The libraries are another compiler's where they lie elsewhere.
    key = hashlib.sha256(f"{oracle} {libraries} {text}".encode()).hexdigest()[:16]
    place = place or build_dir() / "count" / key
    refresh(place / "functions.h", text)
    tools = repo_root() / "tools" / "count"
    shapes = tools / f"{oracle}.c"
    if described(oracle) is not None:
        shapes = place / "shapes.c"
        refresh(shapes, _shapes(oracle, work))
    sources = [tools / "main.c", tools / "measure.c", shapes]
    headers: list[Path] = []
    theirs: list[Path] = []
    if oracle == "items":  # ours alone
        pass
    elif oracle == "copy":  # is none: what it leaves is compared with a plain conversion
        sources.append(repo_root() / data("timed.toml")["layout"]["plain"])
    else:
        headers, theirs = oracles.linked(oracle, "arm64")
    program = native.compile_program(
        _ARCH,
        place / "count",
        sources,
        includes=[place, tools, *native.library_includes(), *headers],
        flags=trace.FLAGS,
        libraries=[*libraries, *theirs],
    )
    return Counter(program)
